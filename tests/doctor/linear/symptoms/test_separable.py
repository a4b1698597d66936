import numpy as np
import pytest

import thalweg as tw
from linear_data import features, labels, solved
from thalweg.core.finding import Severity
from thalweg.doctor.linear.facts.linear_facts import linear_facts
from thalweg.doctor.linear.symptoms.separable import runs_away, separable

X = features()
CLEAR, MIXED = labels(X, noise=0.0), labels(X)


def judged(y, loss="logistic", run=None, **options):
    return separable(linear_facts(tw.LinearProblem(X, y, loss, **options), run))


def test_the_plane_is_exhibited():
    (found,) = judged(CLEAR)
    w = np.array(found.evidence["w"])
    assert np.array_equal(X @ w[:-1] + w[-1] > 0, CLEAR)
    assert found.measured > 0.0


@pytest.mark.parametrize(
    ("loss", "options", "severity"),
    [
        ("logistic", {}, Severity.ACT),
        ("multinomial", {}, Severity.ACT),
        ("logistic", {"l2": 1e-3}, Severity.NOTE),
        ("logistic", {"l1": 1e-3}, Severity.NOTE),
        ("squared-hinge", {}, Severity.NOTE),
        ("squared-hinge", {"l2": 1e-3}, Severity.NOTE),
    ],
)
def test_severity(loss, options, severity):
    (found,) = judged(CLEAR, loss, **options)
    assert found.severity is severity
    assert judged(MIXED, loss, **options) == []


def test_coefficients_do_grow_for_ever():
    problem = tw.LinearProblem(X, CLEAR, "logistic")
    lengths = [np.linalg.norm(solved(problem, max_iter=steps)[1].w) for steps in (4, 8, 12)]
    assert lengths[0] < lengths[1] < lengths[2]
    assert runs_away(linear_facts(problem))
    held = tw.LinearProblem(X, CLEAR, "logistic", l2=1e-3)
    lengths = [np.linalg.norm(solved(held, tol=tol)[1].w) for tol in (1e-6, 1e-9)]
    np.testing.assert_allclose(*lengths, rtol=1e-3)
    assert not runs_away(linear_facts(held))


def test_one_class_of_three():
    y = np.where(X[:, 0] > 0.5, 2, MIXED.astype(int))
    (found,) = judged(y, "multinomial")
    assert "class 2 from all others" in found.claim
    assert found.severity is Severity.ACT
    words = np.array(["low", "mid", "top"])[y]
    assert "class 'top'" in judged(words, "multinomial", l2=0.1)[0].claim


def test_a_run_shows_it_on_data_too_large_to_search(monkeypatch):
    from thalweg.doctor.linear.facts import separator

    monkeypatch.setattr(separator, "MOST_ENTRIES", 1)
    problem, run = solved(tw.LinearProblem(X, CLEAR, "logistic"))
    assert separable(linear_facts(problem)) == []
    (found,) = separable(linear_facts(problem, run))
    assert found.evidence["w"] == run.w.tolist()


def test_a_regression_has_no_classes():
    assert separable(linear_facts(tw.LinearProblem(X, X[:, 0]))) == []


def test_a_category_that_one_class_never_has():
    rare = np.zeros(200)
    rare[np.flatnonzero(MIXED)[:4]] = 1.0
    both = np.column_stack([X, rare])
    problem = tw.LinearProblem(both, MIXED, "logistic")
    (found,) = separable(linear_facts(problem))
    assert found.name == "partly separable classes"
    assert found.severity is Severity.ACT
    assert found.claim.startswith("class False never has column 5")
    assert runs_away(linear_facts(problem))
    grown = [solved(problem, tol=tol)[1].w[5] for tol in (1e-3, 1e-6, 1e-9)]
    assert grown[0] + 1.0 < grown[1] < grown[2] - 1.0
    assert separable(linear_facts(tw.LinearProblem(both, MIXED, "logistic", l2=1e-3))) == []
    assert separable(linear_facts(tw.LinearProblem(both, MIXED, "squared-hinge"))) == []
