from xml.etree import ElementTree

import thalweg as tw
from thalweg.core.explanation import Baseline, Bin, Explanation
from thalweg.reports.drawing import Detail
from thalweg.reports.errors import FEW, errors_section
from thalweg.reports.subject import Subject

RUN = tw.minimize(tw.surfaces.Quadratic(), "gd", tol=1e-8)
BINS = (Bin(10, 0.1, 0.0, 0.2, 0.4), Bin(1500, 0.7, 0.5, 0.6, 0.9))


def page_of(known, **scores):
    section = errors_section(Subject((RUN,), explanation=known, scores=scores), Detail())
    if section:
        ElementTree.fromstring(section)
    return section


def test_runs_that_kept_nothing():
    assert page_of(None) == ""


def test_which_rows():
    assert "Judged on 1,200 held out rows, that it has not seen." in page_of(
        Explanation("held out", 1200)
    )
    assert "that it was trained on" in page_of(Explanation("training", 3))


def test_beside_models_of_other_kinds():
    others = (Baseline("constant", {"R²": 0.0, "x": 1.0}), Baseline("boosted forest", {"R²": 0.75}))
    text = page_of(Explanation("training", 3, baselines=others), training={"R²": 0.5, "x": 2.0})
    assert "Beside models of other kinds" in text
    assert text.index("this model") < text.index("constant") < text.index("boosted forest")
    assert "0.75" in text
    assert 'data-head="x"' not in text  # not of all of them
    assert "Beside" not in page_of(Explanation("training", 3, baselines=others))


def test_few_classes_are_a_table_and_more_a_drawing():
    few = Explanation("training", 4, classes=("a", "<i>"), confusion=((2, 1), (0, 1)))
    text = page_of(few)
    assert "told &lt;i&gt;" in text
    assert "<svg" not in text
    K = FEW + 1
    many = Explanation(
        "training", K, classes=tuple(map(str, range(K))),
        confusion=tuple(tuple(int(j == k) for j in range(K)) for k in range(K)),
    )  # fmt: skip
    assert "Confusions of classes" in page_of(many)


def test_calibration_with_counts_and_residuals():
    text = page_of(Explanation("training", 3, calibrated="yes", calibration=BINS))
    assert "Probability of yes, and how often it came true" in text
    assert "1,500" in text
    assert "0.50 to 0.90" in text
    assert "Residuals over predictions" in page_of(Explanation("training", 3, residuals=BINS))
    assert "<svg" not in page_of(Explanation("training", 3, residuals=BINS[:1]))


def test_what_was_left_out_is_said():
    assert "No forest beside it." in page_of(
        Explanation("training", 3, notes=("no forest beside it",))
    )
