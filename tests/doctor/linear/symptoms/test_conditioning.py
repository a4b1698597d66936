import numpy as np
import pytest

import thalweg as tw
from linear_data import features, labels, regression, solved
from thalweg.core.finding import Severity
from thalweg.doctor.linear.facts.linear_facts import linear_facts
from thalweg.doctor.linear.patience import SLOW
from thalweg.doctor.linear.symptoms.conditioning import conditioning


def judged(problem, run=None):
    return conditioning(linear_facts(problem, run))


def twins(distance, **options):
    """Two columns that differ by so much: κ is about 4/distance²."""
    X = features(400, 3)
    X[:, 2] = X[:, 1] + distance * X[:, 2]
    return regression(X, **options)


def test_by_hand():
    X = np.diag([1.0, 100.0]) * 2**0.5
    (found,) = judged(tw.LinearProblem(X, [1.0, 1.0], fit_intercept=False))
    np.testing.assert_allclose(found.measured, 1e4)
    assert found.severity is Severity.WARN
    # (κ/4)·log(1e6), and √κ·log(2e6)
    np.testing.assert_allclose(found.evidence["gd"], 1e4 / 4 * np.log(1e6), rtol=1e-3)
    np.testing.assert_allclose(found.evidence["nesterov"], 100 * np.log(2e6), rtol=1e-2)


@pytest.mark.parametrize("distance", [1.0, 0.1, 0.01, 1e-3])
def test_named_where_gradient_descent_uses_up_a_run(distance):
    found = judged(twins(distance))
    facts = linear_facts(twins(distance))
    assert bool(found) == (facts.curvature.kappa > SLOW)
    assert bool(found) == (distance <= 0.01)


def test_what_hurt_is_worse_than_what_did_not():
    problem = twins(1e-3, l2=1e-9)
    _, good = solved(problem)
    _, bad = solved(problem, method="gd", max_iter=100)
    assert judged(problem)[0].severity is Severity.WARN
    (found,) = judged(problem, good)
    assert found.severity is Severity.NOTE
    assert f"did not stop {good.method}" in found.claim
    (found,) = judged(problem, bad)
    assert found.severity is Severity.ACT
    assert "newton" in found.advice


def test_a_penalty_is_part_of_it():
    assert judged(twins(1e-3, l2=0.1)) == []


def test_says_where_it_comes_from():
    (found,) = judged(twins(1e-3))
    assert "VIF" in found.cause
    (found,) = judged(regression(features() * [1.0, 1e3, 1.0, 1.0, 1.0]))
    assert "deviation 1 κ would be" in found.cause
    assert "Standardizing" in found.advice


def test_gradient_descent_takes_about_as_long_as_is_said():
    X = features(300, 3) * [1.0, 1.0, 0.018]
    problem = tw.LinearProblem(X, X @ [1.0, 1.0, 50.0], l2=1e-12, fit_intercept=False)
    (found,) = judged(problem)
    _, run = solved(problem, method="gd", tol=1e-6, max_iter=100_000)
    assert run.converged
    # The step is 1/L, half of the best: twice the iterations at most, fewer for a lucky start.
    assert 0.02 < run.iterations / found.evidence["gd"] < 2.1


def test_silent_where_there_is_no_solution_to_measure_at():
    X = features() * [1.0, 1e3, 1.0, 1.0, 1.0]
    y = labels(X, noise=0.0)
    assert judged(tw.LinearProblem(X, y, "logistic")) == []
    assert judged(tw.LinearProblem(X, y, "logistic", l2=1e-6)) != []


def test_well_conditioned_data_are_left_alone():
    problem, run = solved(regression(features()))
    assert judged(problem) == judged(problem, run) == []
