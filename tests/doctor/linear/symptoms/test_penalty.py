import numpy as np
import pytest

import thalweg as tw
from linear_data import features, labels, regression, solved
from thalweg.core.finding import Severity
from thalweg.doctor.linear.facts.linear_facts import linear_facts
from thalweg.doctor.linear.symptoms.penalty import penalty


def judged(problem, run=None):
    return penalty(linear_facts(problem, run))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_an_l1_that_leaves_nothing_is_known_before_any_run(loss):
    X = features()
    y = X.sum(axis=1) if loss == "squared" else labels(X)
    edge = linear_facts(tw.LinearProblem(X, y, loss)).effect.largest_pull
    problem, run = solved(tw.LinearProblem(X, y, loss, l1=1.01 * edge))
    assert not problem.split(run.w)[0].any()
    for given in (None, run):
        (found,) = judged(problem, given)
        assert found.name == "too strong regularization"
        assert found.severity is Severity.ACT
        assert found.measured > found.limit
    problem, run = solved(tw.LinearProblem(X, y, loss, l1=0.5 * edge))
    assert problem.split(run.w)[0].any()
    assert all(finding.severity is Severity.NOTE for finding in judged(problem, run))
    assert judged(problem) == []


@pytest.mark.parametrize(
    ("l2", "severity"), [(0.1, None), (1.0, None), (20.0, Severity.WARN), (1e3, Severity.ACT)]
)
def test_an_l2_that_leaves_nothing(l2, severity):
    problem, run = solved(regression(features(), l2=l2))
    for given in (None, run):
        found = judged(problem, given)
        assert [finding.severity for finding in found] == ([severity] if severity else [])
    if severity:
        _, free = solved(regression(features()))
        kept = np.linalg.norm(run.w[:5]) / np.linalg.norm(free.w[:5])
        np.testing.assert_allclose(1.0 - judged(problem, run)[0].measured, kept, rtol=0.1)
        assert "at least" in judged(problem)[0].claim
        assert "at least" not in judged(problem, run)[0].claim


def test_following_the_advice_is_enough():
    (found,) = judged(regression(features(), l2=1e4))
    l2 = float(found.advice.split("about ")[1].split(" or")[0])
    problem, run = solved(regression(features(), l2=l2))
    assert judged(problem, run) == []


@pytest.mark.parametrize(("l2", "is_idle"), [(1e-9, True), (1e-5, True), (1e-2, False)])
def test_an_l2_that_does_nothing(l2, is_idle):
    problem, run = solved(regression(features(), l2=l2), tol=1e-9)
    found = judged(problem, run)
    assert [finding.name for finding in found] == ["penalty without effect"] * is_idle
    _, free = solved(regression(features()), tol=1e-9)
    moved = np.linalg.norm(free.w[:5] - run.w[:5]) / np.linalg.norm(run.w[:5])
    assert (moved <= 1e-3) == is_idle
    assert all(finding.severity is Severity.NOTE for finding in found)
    assert judged(problem) == []  # without a solution it is not known


def test_an_l1_that_selects_nothing():
    problem, run = solved(regression(features(), l1=1e-2))
    (found,) = judged(problem, run)
    assert "no coefficient to zero" in found.claim
    assert found.name == "penalty that selects nothing"
    assert judged(*solved(regression(features(), l1=1e-6)))[0].name == "penalty without effect"
    X = np.column_stack([features(), np.zeros(200)])  # a coefficient that is zero anyway
    problem, run = solved(regression(X, l1=1e-2))
    assert judged(problem, run) != []
    problem, run = solved(tw.LinearProblem(X, X[:, 0], l1=1e-2))
    assert np.count_nonzero(problem.split(run.w)[0]) == 1
    assert judged(problem, run) == []


def test_separable_classes_are_held_by_any_penalty():
    X = features()
    problem, run = solved(tw.LinearProblem(X, labels(X, noise=0.0), "logistic", l2=1e-8))
    assert judged(problem, run) == []


def test_no_penalty_no_word():
    problem, run = solved(regression(features()))
    assert judged(problem, run) == judged(problem) == []
