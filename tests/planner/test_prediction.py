"""Predictions grow and fall with κ, n and tol as the rates they come from."""

import math

import numpy as np
import pytest

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.planner.geometry import geometry
from thalweg.planner.plan import CANDIDATES
from thalweg.planner.prediction import LAWS, expected


def problem(l2, n=50):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    return tw.LinearProblem(X, X[:, 0] > 0, "logistic", l2=l2, fit_intercept=False)


def iterations(name, l2, tol=1e-6, n=50):
    data = problem(l2, n)
    return expected(name, data, geometry(data), tol).iterations


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_smaller_tolerance_never_takes_less(name):
    assert iterations(name, 0.01, 1e-8) >= iterations(name, 0.01, 1e-2) > 0


@pytest.mark.parametrize("name", ["gd", "nesterov", "saga", "sdca", "catalyst", "lbfgs"])
def test_a_smaller_penalty_takes_more(name):
    assert iterations(name, 1e-4) > iterations(name, 1e-1)


@pytest.mark.parametrize("name", ["saga", "sdca"])
def test_single_samples_gain_from_more_samples(name):
    assert iterations(name, 1e-3, n=2_000) < iterations(name, 1e-3, n=50)


def test_conjugate_gradients_take_few_products_where_blocks_pay(monkeypatch):
    data = problem(1e-6)
    shape = geometry(data)
    monkeypatch.setattr("thalweg.methods.preconditioner.LARGE", 1)
    with_blocks = expected("newton-cg", data, shape, 1e-6)
    monkeypatch.setattr("thalweg.methods.preconditioner.LARGE", 10**9)
    without = expected("newton-cg", data, shape, 1e-6)
    assert with_blocks.passes["blocks"] == 1.0
    assert "blocks" not in without.passes
    assert with_blocks.passes["gradient"] < without.passes["gradient"] / 2


def test_gradient_descent_is_bounded_by_kappa():
    data = problem(0.05)
    shape = geometry(data)
    hope = expected("gd", data, shape, 1e-6)
    assert hope.bound == pytest.approx(shape.L.value / 0.05 * math.log(1e6))
    assert hope.iterations < hope.bound


def test_the_bound_of_gradient_descent_holds():
    data = problem(0.05)
    hope = expected("gd", data, geometry(data), 1e-6)
    run = tw.minimize(data, "gd", tol=1e-6, max_iter=100_000, progress=False)
    assert run.converged
    assert run.iterations <= hope.bound


def test_a_law_is_told_exactly_where_a_bound_is_known():
    problem = tw.LinearProblem(np.eye(9), np.arange(9.0), l2=0.1, fit_intercept=False)
    shape = geometry(problem)
    bounded = {name for name in CANDIDATES if expected(name, problem, shape, 1e-6).bound}
    assert bounded == set(LAWS)


def test_an_unknown_method_is_refused():
    data = problem(0.1)
    with pytest.raises(InputError, match="no prediction"):
        expected("adam", data, geometry(data), 1e-6)
