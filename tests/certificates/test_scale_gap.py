"""The gap of a fit with a learned scale: the best scale on a grid, and bounds that hold."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.certificates.scale_gap import best_scale, scale_gap, scale_slope, scale_value


def slow_value(r, c, sigma, epsilon):
    t = np.abs(r) / sigma
    return float(
        np.sum(c * sigma * (1 + np.where(t <= epsilon, t**2, 2 * epsilon * t - epsilon**2)))
    )


def drawn(seed, n=60):
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 3, n) + 0.1
    return rng.standard_t(2, n), c / c.sum(), 1.0 + rng.uniform(0.05, 1.5)


def test_a_scale_by_hand():
    # All inside: σ² = Σcr². With ε = 1.1 the 3 is outside: σ² = ⅔/(1 − 1.21/3).
    assert best_scale(np.array([1.0, -1.0, 1.0]), np.full(3, 1 / 3), 2.0) == pytest.approx(1.0)
    found = best_scale(np.array([1.0, -1.0, 3.0]), np.full(3, 1 / 3), 1.1)
    assert found == pytest.approx((2 / 3 / (1 - 1.21 / 3)) ** 0.5)


@pytest.mark.parametrize("seed", range(8))
def test_the_best_scale_is_best_and_slope_and_value_are_its(seed):
    r, c, epsilon = drawn(seed)
    best = best_scale(r, c, epsilon)
    least = slow_value(r, c, best, epsilon)
    assert scale_value(r, c, best, epsilon) == pytest.approx(least)
    assert scale_slope(r, c, best, epsilon) == pytest.approx(0.0, abs=1e-12)
    for sigma in best * np.geomspace(0.1, 10.0, 41):
        assert slow_value(r, c, sigma, epsilon) >= least - 1e-12
        step = 1e-6 * sigma
        rise = slow_value(r, c, sigma + step, epsilon) - slow_value(r, c, sigma - step, epsilon)
        assert scale_slope(r, c, sigma, epsilon) == pytest.approx(rise / (2 * step), abs=1e-5)


def test_residuals_of_zero_have_no_scale():
    assert best_scale(np.zeros(5), np.full(5, 0.2), 1.35) == 0.0
    assert best_scale(np.array([0.0, 0.0, 0.0, 0.0, 9.0]), np.full(5, 0.2), 1.35) == 0.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_gap_bounds_the_distance_and_closes_at_the_optimum(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.standard_t(2, 50)
    alpha = 0.1
    model = tw.HuberRegressor(alpha=alpha, fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    best, w = model.runs_[0].value, model.runs_[0].w

    def gap(w, sigma):
        problem = tw.LinearProblem(
            X, y, "huber", delta=1.35 * sigma, l2=sigma * alpha / 50, fit_intercept=fit_intercept
        )
        return scale_gap(problem, w, sigma, 1.35, alpha / 50)

    assert gap(w, model.scale_).gap < 1e-7 * best
    for size in (1e-4, 1e-2, 1.0, 100.0):
        found = gap(w + size * rng.standard_normal(w.size), model.scale_ * np.exp(size / 100.0))
        assert found.floor <= best * (1.0 + 1e-9)
        assert found.gap >= found.primal - best - 1e-9
