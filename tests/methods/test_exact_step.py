import numpy as np
import pytest

import thalweg as tw
from thalweg.methods.exact_step import exact_point, exact_step, has_sums
from thalweg.methods.newton import solve
from thalweg.methods.problem import Problem

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 5)) + np.array([0.0, 3.0, 0.0, -2.0, 0.0])
Y = X[:, 0] - X[:, 1] + 0.1 * RNG.standard_normal(50) + 4.0


def wrapped(dtype=np.float64, **options):
    data = tw.LinearProblem(X.astype(dtype), Y, **options)
    return Problem(data, data.dim, np.dtype(dtype))


def step(problem, w):
    return exact_step(problem, exact_point(problem, w), lambda H, g: solve(H, g, 1e-10))


def test_by_hand():
    # ½·½((w − 1)² + (2w − 4)²) + ½w²: w(5/2 + 1) = 9/2.
    data = tw.LinearProblem([[1.0], [2.0]], [1.0, 4.0], l2=1.0, fit_intercept=False)
    found = step(Problem(data, 1, np.dtype(np.float64)), np.zeros(1))
    assert found.w == pytest.approx(4.5 / 3.5)
    assert found.gradient == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("penalties", [{}, {"l2": 0.1}, {"l1": 0.3}, {"l1": 0.2, "l2": 0.1}])
def test_one_step_ends_where_another_method_does(fit_intercept, penalties):
    problem = wrapped(fit_intercept=fit_intercept, **penalties)
    found = step(problem, np.zeros(problem.dim))
    slow = tw.minimize(problem.objective, "fista", tol=1e-13, max_iter=100_000, progress=False)
    np.testing.assert_allclose(found.w, slow.w, atol=1e-5)
    assert problem.passes == 1


def test_a_point_is_what_a_pass_would_tell():
    problem = wrapped(l2=0.3)
    w = RNG.standard_normal(problem.dim)
    quick, slow = exact_point(problem, w), problem.point(w)
    assert quick.value == pytest.approx(slow.value, rel=1e-12)
    np.testing.assert_allclose(quick.gradient, slow.gradient, rtol=1e-9, atol=1e-12)


def test_at_the_minimizer_there_is_no_step():
    problem = wrapped(l2=0.1)
    best = step(problem, np.zeros(problem.dim))
    again = step(problem, best.w)
    assert again is None or again.value == pytest.approx(best.value, rel=1e-14)


def test_float32_stays_float32():
    problem = wrapped(np.float32, l2=0.1)
    assert step(problem, np.zeros(problem.dim, dtype=np.float32)).w.dtype == np.float32


def test_only_where_the_sums_are_fewer_than_the_data():
    assert has_sums(tw.LinearProblem(X, Y))
    assert not has_sums(tw.LinearProblem(X[:3], Y[:3]))
    assert not has_sums(tw.LinearProblem(X, Y > 0, loss="logistic"))
    assert not has_sums(tw.surfaces.Rosenbrock())


def test_a_resumed_run_sums_again(tmp_path):
    data = tw.LinearProblem(X, Y, l1=0.1)
    file = tmp_path / "run.npz"
    tw.minimize(data, "newton", max_iter=0, tol=1e-9, checkpoint=file, progress=False)
    resumed = tw.minimize(data, "newton", tol=1e-9, checkpoint=file, progress=False)
    whole = tw.minimize(data, "newton", tol=1e-9, progress=False)
    np.testing.assert_array_equal(resumed.w, whole.w)
