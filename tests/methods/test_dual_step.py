import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.methods.dual_step import dual_direction, has_fewer_samples
from thalweg.methods.problem import Problem

LOSSES = ("squared", "logistic", "squared-hinge", "huber")


def wide(loss="logistic", n=12, p=30, storage=np.asarray, l2=0.1, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) + 3.0
    z = X[:, 0] - 3.0 + 0.3 * rng.standard_normal(n)
    y = z if loss in ("squared", "huber") else z > 0
    return tw.LinearProblem(storage(X), y, loss, l2=l2, delta=0.5, **options)


def direction(data, w, floor=0.0):
    problem = Problem(data, data.dim, np.dtype(np.float64))
    point = problem.point(w)
    H = problem.hessian_at(point, floor)
    return dual_direction(problem, point, H.curvatures()), H, point.gradient


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_it_is_newtons(storage, loss, fit_intercept, standardize):
    data = wide(
        loss, storage=storage, fit_intercept=fit_intercept, standardize=standardize,
        sample_weight=np.arange(12) % 4,
    ).centred  # fmt: skip
    w = 0.1 * np.random.default_rng(1).standard_normal(data.dim)
    found, H, g = direction(data, w, 0.01)
    np.testing.assert_allclose(found, -np.linalg.solve(H.matrix(), g), rtol=1e-6, atol=1e-9)


def test_by_hand():
    # One sample x = (1, 1), y = 2, l2 = 1: F = ½(w₁ + w₂ − 2)² + ½‖w‖², minimum at w = ⅔(1, 1).
    data = tw.LinearProblem([[1.0, 1.0]], [2.0], l2=1.0, fit_intercept=False)
    found, _, _ = direction(data, np.array([3.0, -1.0]))
    np.testing.assert_allclose(np.array([3.0, -1.0]) + found, [2 / 3, 2 / 3], rtol=1e-14)


def test_it_loses_no_digits_to_a_small_penalty():
    data = wide("squared", l2=1e-12, fit_intercept=False)
    found, _, _ = direction(data, np.zeros(data.dim))
    X, y = data.matrix.rows, data.y
    exact = X.T @ np.linalg.solve(X @ X.T + 12 * 1e-12 * np.eye(12), y)
    np.testing.assert_allclose(found, exact, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_newton_takes_it_where_samples_are_fewer(loss):
    data = wide(loss, n=60, p=3_000)  # more variables than newton factorises
    run = tw.minimize(data, "newton", tol=1e-10, progress=False)
    assert run.outcome is tw.Outcome.CONVERGED
    other = tw.minimize(data, "lbfgs", tol=1e-10, progress=False)
    assert run.value == pytest.approx(other.value, abs=1e-8)
    assert run.iterations <= 15


def test_the_kinks_of_a_hinge_do_not_hold_it_up():
    data = wide("squared-hinge", n=100, p=400, l2=1e-3)
    run = tw.minimize(data, "newton", progress=False)
    assert run.outcome is tw.Outcome.CONVERGED
    assert run.iterations <= 20


def test_who_has_fewer_samples():
    assert has_fewer_samples(wide())
    assert not has_fewer_samples(wide(n=30, p=12))
    assert not has_fewer_samples(wide(l1=0.1))
    assert not has_fewer_samples(wide(l2=0.0))
    assert not has_fewer_samples(tw.surfaces.Rosenbrock())
    X, y = np.ones((3, 9)), np.arange(3)
    assert not has_fewer_samples(tw.LinearProblem(X, y, "multinomial", l2=1.0))
