from xml.etree import ElementTree

import pytest

import thalweg as tw
from thalweg.core.coefficient import Coefficient
from thalweg.core.explanation import Explanation, Importance, Shuffled
from thalweg.reports.drawing import Detail
from thalweg.reports.matters import MOST, matters_section
from thalweg.reports.subject import Subject

RUN = tw.minimize(tw.surfaces.Quadratic(), "gd", tol=1e-8)
AGE = Coefficient("age", "", "", -0.5, -4.5)
TOWN = Coefficient("town=<b>", "", "Zug", 2.0, 0.7)
SHUFFLED = Shuffled("R²", 0.8, 50, 5, (Importance("age", 0.25, 0.01), Importance("town", 0.1, 0.2)))


def page_of(**known):
    section = matters_section(Subject((RUN,), **known), Detail())
    if section:
        ElementTree.fromstring(section)
    return section


def test_nothing_is_known():
    assert page_of() == ""
    assert page_of(explanation=Explanation("training", 3)) == ""


def test_coefficients_with_what_they_are_measured_against():
    text = page_of(coefficients=(AGE, TOWN))
    assert "town=&lt;b&gt;" in text
    assert "<b>" not in text
    assert ">Zug<" in text
    assert "change of the prediction, per standard deviation" in text
    assert "against the most frequent one" in text
    assert "standard error" not in text
    assert "coefficients.csv" in text


def test_standard_errors_where_they_are_known():
    text = page_of(coefficients=(AGE._replace(error=0.125),))
    assert "standard error" in text
    assert "0.125" in text
    assert "how sure they are is not known" not in text


def test_classes():
    text = page_of(coefficients=(AGE._replace(output="yes"),))
    assert "log odds of yes" in text
    two = (AGE._replace(output="yes"), AGE._replace(output="no"))
    assert "age (yes)" in page_of(coefficients=two)


def test_of_runs_of_first_versions_by_unit():
    text = page_of(coefficients=(AGE._replace(per_deviation=None),))
    assert "per unit" in text
    assert "change of the prediction, per unit" in text


def test_a_table_has_the_largest():
    many = tuple(AGE._replace(feature=f"x{k}", per_deviation=100.0 - k) for k in range(50))
    text = page_of(coefficients=many)
    assert f"The largest {MOST} of 50" in text
    assert text.count('<th scope="row">') == MOST


@pytest.mark.parametrize(("measure", "word"), [("R²", "Fall of R²"), ("log loss", "Rise of log")])
def test_importance_with_its_spread_and_rows(measure, word):
    known = Explanation("held out", 50, SHUFFLED._replace(measure=measure))
    text = page_of(explanation=known)
    assert word in text
    assert "± 0.01" in text
    assert "shuffled 5 times in 50 held out rows" in text
    assert [row.split("</td>")[-2].split(">")[-1] for row in text.split("</tr>")[1:3]] == [
        "yes", "no",
    ]  # fmt: skip
