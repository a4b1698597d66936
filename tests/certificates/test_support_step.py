import numpy as np
import pytest

from linear_data import BOUNDED
from thalweg.certificates.support_step import ENOUGH, support_step
from thalweg.objectives.linear import LinearProblem


def targets(loss, n, rng):
    if loss == "multinomial":
        return np.arange(n) % 3
    if loss in ("logistic", "squared-hinge"):
        return np.arange(n) % 2
    return rng.standard_normal(n)


def test_step_by_hand():
    # ½(w − 1)² + ½w² + ¼|w| from the sample (1, 1): at w = 1, H = 2, the slope is 0 + 1 + ¼, and
    # the step leads to 1 − 5/8 = 3/8, which is the minimum: 2w = 1 − ¼.
    problem = LinearProblem([[1.0]], [1.0], l1=0.25, l2=1.0, fit_intercept=False)
    found, passes = support_step(problem, np.array([1.0]), 30)
    assert found == pytest.approx([0.375], rel=1e-15)
    assert passes == 2  # the gradient and one product


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", BOUNDED)
def test_step_solves_the_system_on_the_support(loss, fit_intercept):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 6)), targets(loss, 50, rng)
    problem = LinearProblem(X, y, loss, l1=0.05, l2=0.02, fit_intercept=fit_intercept)
    w = 0.1 * rng.standard_normal(problem.dim)
    w[::3] = 0.0
    count = problem.p * problem.outputs
    free = (w != 0) | (np.arange(problem.dim) >= count)
    smooth = problem.smooth
    signs = np.append(np.sign(w[:count]), np.zeros(problem.dim - count))
    g = smooth.gradient(w) + problem.l1 * signs
    H = np.array([smooth.hessian_vector(w, e) for e in np.eye(problem.dim)])
    d = np.zeros(problem.dim)
    d[free] = -np.linalg.lstsq(H[free][:, free], g[free], rcond=1e-12)[0]
    found = support_step(problem, w, 200).w - w
    assert (found[~free] == 0).all()
    residual = (H @ found + g)[free]
    assert np.linalg.norm(residual) <= 10 * ENOUGH * np.linalg.norm(g[free])
    # Two classes too many for one intercept: along common shifts the solution is free.
    np.testing.assert_allclose(X @ _matrix(problem, found), X @ _matrix(problem, d), atol=0.05)


def _matrix(problem, w):
    return w[: problem.p * problem.outputs].reshape(problem.p, -1)


def test_without_l1_every_weight_is_free():
    rng = np.random.default_rng(1)
    problem = LinearProblem(rng.standard_normal((20, 3)), rng.standard_normal(20), l2=0.1)
    found = support_step(problem, np.zeros(4), 50).w
    assert np.linalg.norm(problem.gradient(found)) <= 1e-2 * np.linalg.norm(
        problem.gradient(np.zeros(4))
    )


def test_products_are_limited():
    rng = np.random.default_rng(2)
    problem = LinearProblem(rng.standard_normal((30, 20)), rng.standard_normal(30), l2=1e-6)
    assert support_step(problem, np.zeros(21), 5).passes == 6


def test_the_optimum_stays():
    problem = LinearProblem([[1.0]], [1.0], l1=0.25, l2=1.0, fit_intercept=False)
    found = support_step(problem, np.array([0.375]), 30)
    assert found.w.tolist() == [0.375]
    assert found.passes == 1


def test_units_of_features_do_not_matter():
    # Columns that differ by 10⁶ would need as many products as there are weights, to rounding.
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((200, 12)), rng.standard_normal(200)
    units = 10.0 ** rng.integers(-6, 7, 12)
    plain = LinearProblem(X, y, l1=1e-9, fit_intercept=False)
    other = LinearProblem(X * units, y, l1=1e-9, fit_intercept=False)
    w = rng.standard_normal(12)
    passes = [support_step(p, v, 30).passes for p, v in ((plain, w), (other, w / units))]
    assert abs(passes[0] - passes[1]) <= 1 < passes[0] < 12
