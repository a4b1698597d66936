"""The fits of a grid: gaps that bound the distance to the optimum, intercepts, errors left out."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.methods.ridge_grid import RidgeGrid

L2S = np.array([0.01, 1.0])


def grid(p=5, fit_intercept=True):
    rng = np.random.default_rng(p)
    X, Y = rng.standard_normal((20, p)) + 4.0, rng.standard_normal((20, 3))
    problem = tw.LinearProblem(X, Y[:, 0], fit_intercept=fit_intercept)
    return RidgeGrid(problem, Y, L2S, False), X, Y


@pytest.mark.parametrize("p", [5, 40])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_gaps_bound_the_distance_to_the_optimum(p, fit_intercept):
    found, X, Y = grid(p, fit_intercept)
    W, b = found.fits()
    for moved in (0.0, 0.1):
        found.W = W.reshape(p, -1) + moved
        gaps = found.gaps()
        for k, l2 in enumerate(L2S):
            for t in range(3):
                problem = tw.LinearProblem(X, Y[:, t], l2=l2, fit_intercept=fit_intercept)
                best = tw.minimize(problem, "cholesky", tol=1e-14, progress=False)
                w = W[:, k, t] + moved
                intercept = np.mean(Y[:, t] - X @ w)
                value = problem.value(np.append(w, intercept) if fit_intercept else w)
                assert (
                    value - best.value
                    <= gaps[k, t]
                    <= 2 * (value - best.value) * X.shape[1] + (1e-9 if moved == 0.0 else np.inf)
                )
                if fit_intercept and moved == 0.0:
                    np.testing.assert_allclose(b[k, t], intercept, rtol=1e-9)


def test_the_fits_near_a_penalty_are_its_own():
    found, _, _ = grid()
    np.testing.assert_array_equal(found.near(1.0), found.fits()[0][:, 1])
    assert found.errors().shape == (20, 2, 3)
    assert found.scales.shape == (3,)
