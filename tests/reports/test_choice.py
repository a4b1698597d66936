from xml.etree import ElementTree

import thalweg as tw
from thalweg.core.chosen import Chosen, Tried
from thalweg.reports.choice import MOST, choice_section
from thalweg.reports.drawing import Detail
from thalweg.reports.subject import Subject

RUN = tw.minimize(tw.surfaces.Quadratic(), "gd", tol=1e-8)


def page_of(count, index):
    points = tuple(
        Tried("0", f"{k + 1}/n", (0.0, float(k + 1)), 2.0 + k, 0.25) for k in range(count)
    )
    chosen = Chosen("log loss", 5, "one-standard-error", index, 0, points)
    section = choice_section(Subject((RUN,), chosen=chosen), Detail())
    ElementTree.fromstring(section)
    return section


def test_nothing_was_chosen():
    assert choice_section(Subject((RUN,)), Detail()) == ""


def test_the_curve_and_the_points_the_best_first():
    text = page_of(3, 1)
    assert "Loss on rows left out, over the penalty" in text
    assert "l2 = 2/n: log loss 3 ± 0.25" in text
    assert text.index(">1/n<") < text.index(">2/n<") < text.index(">3/n<")
    assert ">l1<" not in text  # there was one
    assert text.count(">chosen</td>") == 1


def test_of_a_large_grid_the_best_and_the_chosen_are_told():
    text = page_of(MOST + 20, MOST + 10)
    assert f"The best {MOST + 1} of {MOST + 20}" in text
    assert f">{MOST + 11}/n<" in text
    assert f">{MOST + 5}/n<" not in text
