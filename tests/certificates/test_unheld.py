"""The bound of a loss with corners without a penalty, against linear programming."""

import numpy as np
import pytest
from scipy.optimize import linprog

import thalweg as tw
from thalweg.certificates.duality import duality_gap
from thalweg.certificates.unheld import is_unheld, unheld_bound
from thalweg.objectives.tube import Tube


def drawn(seed, n=40, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(rng.normal(0.0, 3.0, p), 1.0, (n, p))
    c = rng.uniform(0.5, 2.0, n)
    y = X @ rng.standard_normal(p) + rng.standard_t(3, n)
    return tw.LinearProblem(X, y, Tube(0.7, 0.3), sample_weight=c).centred


def optimum(problem):
    """min F by its linear program, in (w, b, u, v)."""
    X, y, c = problem.features.dense, problem.y, problem.weights
    n, k = X.shape
    A = np.hstack([X, np.eye(n), -np.eye(n)])
    cost = np.concatenate([np.zeros(k), 0.3 * c, 0.7 * c])
    bounds = [(None, None)] * k + [(0, None)] * (2 * n)
    found = linprog(cost, A_eq=A, b_eq=y, bounds=bounds)
    theta = -found.eqlin.marginals / c
    return found.fun, found.x[:k], theta


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_at_the_optimal_dual_is_the_optimum(seed):
    problem = drawn(seed)
    best, w, theta = optimum(problem)
    found = unheld_bound(problem, w, theta)
    assert found.value == pytest.approx(best, rel=1e-7)
    assert found.floor <= best * (1.0 + 1e-9)
    assert found.rounding < 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_no_dual_point_proves_more_than_there_is(seed):
    problem = drawn(seed)
    best, w, optimal = optimum(problem)
    rng = np.random.default_rng(100 + seed)
    for size in (1e-6, 1e-2, 1.0, 100.0):
        theta = optimal + size * rng.standard_normal(problem.n)
        found = unheld_bound(problem, w, theta)
        assert found.value >= 0.0
        assert found.floor <= best * (1.0 + 1e-9)
    # A point near the optimal one still proves most of it.
    near = unheld_bound(problem, w, optimal + 1e-6 * rng.standard_normal(problem.n))
    assert near.floor > 0.99 * best


def test_a_gap_is_made_of_it():
    problem = drawn(0)
    _, w, theta = optimum(problem)
    assert is_unheld(problem)
    assert not is_unheld(problem.replaced(l1=0.1))
    assert duality_gap(problem, w, dual=theta).gap < 1e-6
    assert duality_gap(problem, np.zeros(problem.dim)).gap > 0.1
