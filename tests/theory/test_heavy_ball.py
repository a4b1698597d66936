"""Heavy ball on quadratics: the rate is that of the dynamics, and the optimum is one."""

import math

import numpy as np
import pytest

from thalweg.theory import heavy_ball, stability

L, MU = 50.0, 0.5


def distances(curvature, step, momentum, count):
    w, m, path = 1.0, 0.0, []
    for _ in range(count + 1):
        path.append(math.hypot(w, m))
        m = momentum * m + curvature * w
        w -= step * m
    return np.array(path)


def worst(step, momentum):
    return max(
        heavy_ball.asymptotic_rate(c, step=step, momentum=momentum) for c in np.geomspace(MU, L, 50)
    )


@pytest.mark.parametrize("curvature", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_asymptotic_rate_is_measured(curvature, momentum):
    step = 0.5
    path = distances(curvature, step, momentum, 300)
    rate = heavy_ball.asymptotic_rate(curvature, step=step, momentum=momentum)
    # The mean over a long window: with complex roots a single ratio oscillates.
    measured = (path[300] / path[50]) ** (1 / 250)
    assert measured == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.95])
def test_rate_is_one_at_the_stability_limit(momentum):
    limit = stability.heavy_ball_limit(2.0, momentum)
    assert heavy_ball.asymptotic_rate(2.0, step=limit, momentum=momentum) == pytest.approx(1.0)


def test_optimal_pair_has_the_stated_rate_and_no_other_is_better():
    problem = {"smoothness": L, "strong_convexity": MU}
    step = heavy_ball.optimal_step(**problem)
    momentum = heavy_ball.optimal_momentum(**problem)
    rate = heavy_ball.rate(**problem)
    assert worst(step, momentum) == pytest.approx(rate, rel=1e-6)
    assert momentum == pytest.approx(rate**2)
    for step_factor in (0.7, 0.9, 0.99, 1.01, 1.1):
        for shift in (-0.1, -0.02, 0.0, 0.02, 0.1):
            assert worst(step * step_factor, momentum + shift) >= rate * (1 - 1e-6)


@pytest.mark.parametrize(("curvature", "sign"), [(MU, 1.0), (L, -1.0)])
def test_at_both_ends_the_roots_coincide_and_a_factor_of_T_comes_on_top(curvature, sign):
    """A double root r makes w_T = (1 + cT)rᵀ, with c from w₁ = 1 − ηλ."""
    problem = {"smoothness": L, "strong_convexity": MU}
    step, momentum = heavy_ball.optimal_step(**problem), heavy_ball.optimal_momentum(**problem)
    root = sign * heavy_ball.rate(**problem)
    c = (1 - step * curvature) / root - 1
    w, m = 1.0, 0.0
    for T in range(100):
        assert w == pytest.approx((1 + c * T) * root**T, rel=1e-6)
        m = momentum * m + curvature * w
        w -= step * m


def test_effective_rate_is_what_a_constant_gradient_ends_up_with():
    w, m = 0.0, 0.0
    for _ in range(500):
        m = 0.9 * m + 1.0
        before, w = w, w - 0.01 * m
    assert before - w == pytest.approx(heavy_ball.effective_rate(0.01, 0.9))


def test_optimum_by_hand():
    assert heavy_ball.optimal_step(smoothness=9.0, strong_convexity=1.0) == 0.25
    assert heavy_ball.optimal_momentum(smoothness=9.0, strong_convexity=1.0) == 0.25
    assert heavy_ball.rate(smoothness=9.0, strong_convexity=1.0) == 0.5
