"""Nesterov's method obeys its bounds at every step, and no method beats the lower bound."""

import math

import numpy as np
import pytest

from thalweg.theory import accelerated, gradient_descent

L, MU = 20.0, 0.05
CURVATURES = np.geomspace(MU, L, 30)
START = np.random.default_rng(0).standard_normal(30)


def value(w):
    return 0.5 * np.sum(CURVATURES * w**2)


def varying_momentum(count):
    """β_t = (s_t − 1)/s_{t+1}, the sequence for convex functions."""
    w = previous = START
    s = 1.0
    for _ in range(count + 1):
        yield w
        following = (1 + math.sqrt(1 + 4 * s * s)) / 2
        ahead = w + (s - 1) / following * (w - previous)
        previous, w, s = w, ahead - CURVATURES * ahead / L, following


def constant_momentum(count, beta):
    w = previous = START
    for _ in range(count + 1):
        yield w
        ahead = w + beta * (w - previous)
        previous, w = w, ahead - CURVATURES * ahead / L


def test_convex_bound_holds_at_every_T():
    values = np.array([value(w) for w in varying_momentum(400)])
    bounds = accelerated.value_bound(
        np.linalg.norm(START), smoothness=L, iterations=np.arange(len(values))
    )
    assert np.all(values <= bounds)


def test_convex_bound_beats_gradient_descents_from_the_second_step_on():
    T = np.arange(1, 100)
    fast = accelerated.value_bound(1.0, smoothness=L, iterations=T)
    slow = gradient_descent.value_bound(1.0, step=1 / L, iterations=T)
    np.testing.assert_array_equal(fast < slow, T > 1)


def test_convex_iterations_are_the_first_whose_bound_suffices():
    T = accelerated.iterations(2.0, 1e-3, smoothness=L)
    assert math.ceil(2.0 * math.sqrt(2 * L / 1e-3) - 1) == T
    assert accelerated.value_bound(2.0, smoothness=L, iterations=T) <= 1e-3
    assert accelerated.value_bound(2.0, smoothness=L, iterations=T - 1) > 1e-3


def test_linear_bound_holds_at_every_T_and_its_iterations_suffice():
    beta = accelerated.momentum(smoothness=L, strong_convexity=MU)
    gap, distance = value(START), np.linalg.norm(START)
    T = accelerated.linear_iterations(gap, distance, 1e-8, smoothness=L, strong_convexity=MU)
    values = np.array([value(w) for w in constant_momentum(T, beta)])
    bounds = accelerated.linear_bound(
        gap, distance, smoothness=L, strong_convexity=MU, iterations=np.arange(T + 1)
    )
    assert np.all(values <= bounds)
    assert values[-1] <= bounds[-1] <= 1e-8 < bounds[-2]


def test_linear_rate_is_what_the_slowest_direction_shows():
    """Along μ the two roots coincide at 1 − √(μ/L): the distance shrinks by that, times T."""
    beta = accelerated.momentum(smoothness=L, strong_convexity=MU)
    slowest = [abs(w[0]) for w in constant_momentum(1000, beta)]
    measured = (slowest[1000] / slowest[500]) ** (1 / 500)
    rate = accelerated.rate(smoothness=L, strong_convexity=MU)
    assert rate <= measured <= rate * 2 ** (1 / 500)


def test_constant_by_hand():
    assert accelerated.constant(3.0, 2.0, strong_convexity=0.5) == 4.0


def test_lectures_figures():
    problem = {"smoothness": 0.25, "strong_convexity": 1 / 700_000}
    assert round(accelerated.rate(**problem), 5) == 0.99761
    assert round(accelerated.fastest_rate(**problem), 5) == 0.99048


def test_momentum_vanishes_on_a_sphere():
    assert accelerated.momentum(smoothness=3.0, strong_convexity=3.0) == 0.0
    assert accelerated.fastest_rate(smoothness=3.0, strong_convexity=3.0) == 0.0


def test_the_best_point_of_every_krylov_space_lies_above_the_lower_bound():
    """Nesterov's worst quadratic, cut off at 400 variables: far more than 40 steps can reach."""
    n, smoothness, mu = 400, 100.0, 1.0
    q = (math.sqrt(100) - 1) / (math.sqrt(100) + 1)
    chain = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    H = (smoothness - mu) / 4 * chain + mu * np.eye(n)
    b = np.zeros(n)
    b[0] = (smoothness - mu) / 4
    optimum = np.linalg.solve(H, b)
    np.testing.assert_allclose(optimum[:50], q ** np.arange(1, 51), rtol=1e-10)
    # Conjugate gradients: w_T is the minimizer over the span of all gradients seen.
    w, r = np.zeros(n), b.copy()
    p = r.copy()
    for T in range(41):
        gap = 0.5 * (w - optimum) @ H @ (w - optimum)
        bound = accelerated.lower_bound(
            np.linalg.norm(optimum), smoothness=smoothness, strong_convexity=mu, iterations=T
        )
        assert gap >= bound
        alpha = r @ r / (p @ H @ p)
        w = w + alpha * p
        fresh = r - alpha * H @ p
        p = fresh + (fresh @ fresh) / (r @ r) * p
        r = fresh


@pytest.mark.parametrize("condition", [1.0, 10.0, 1e6])
def test_rates_are_ordered(condition):
    problem = {"smoothness": condition, "strong_convexity": 1.0}
    fastest = accelerated.fastest_rate(**problem)
    assert fastest <= accelerated.rate(**problem)
    assert fastest <= gradient_descent.rate(**problem)


def test_theta_by_hand_and_its_growth():
    # θ₂ solves θ² − θ = θ₁² = 1: the golden ratio. In general θ_T ≥ (T + 1)/2, which gives T².
    assert accelerated.next_theta(1.0) == pytest.approx((1 + 5**0.5) / 2)
    theta = 1.0
    for T in range(2, 200):
        theta = accelerated.next_theta(theta)
        assert theta >= (T + 1) / 2
