"""Nesterov's accelerated gradient method: rates, and the limit for every first-order method.

    v_t = w_t + β_t(w_t − w_{t−1})        w_{t+1} = v_t − (1/L)∇f(v_t)

    f convex, L-smooth            β_t = (s_t − 1)/s_{t+1}, s₁ = 1, s_{t+1} = (1 + √(1 + 4s_t²))/2
                                  f(w_T) − f* ≤ 2L‖w₀ − w*‖²/(T + 1)²
    and μ-strongly convex         β = (√L − √μ)/(√L + √μ)
                                  f(w_T) − f* ≤ (1 − √(μ/L))ᵀ (f(w₀) − f* + (μ/2)‖w₀ − w*‖²)

Lecture B gives the rate 1 − √(μ/L). Proofs: Beck & Teboulle, SIAM J. Imaging Sci. 2 (2009),
Theorem 4.4; d'Aspremont, Scieur & Taylor, Found. Trends Optim. 5 (2021), chapter 4.
"""

from __future__ import annotations

import math

from thalweg.core.checks import check_number
from thalweg.theory import rate as linear
from thalweg.theory.assumptions import Count, check_curvatures, check_iterations


def value_bound(distance: float, *, smoothness: float, iterations: Count) -> Count:
    """f(w_T) − f* ≤ 2L‖w₀ − w*‖²/(T + 1)², for f convex and L-smooth; `distance` is ‖w₀ − w*‖."""
    distance = check_number("distance", distance, at_least=0)
    smoothness = check_number("smoothness", smoothness, above=0)
    return 2.0 * smoothness * distance**2 / (check_iterations(iterations) + 1.0) ** 2


def iterations(distance: float, tolerance: float, *, smoothness: float) -> int:
    """The smallest T whose `value_bound` is at most ε: ⌈‖w₀ − w*‖√(2L/ε) − 1⌉."""
    distance = check_number("distance", distance, at_least=0)
    tolerance = check_number("tolerance", tolerance, above=0)
    smoothness = check_number("smoothness", smoothness, above=0)
    return linear.smallest_count(
        lambda T: value_bound(distance, smoothness=smoothness, iterations=T),
        tolerance,
    )


def next_theta(theta: float) -> float:
    """θ_{t+1} = (1 + √(1 + 4θ_t²))/2, from θ₁ = 1; the convex form's β_t is (θ_t − 1)/θ_{t+1}."""
    return (1.0 + (1.0 + 4.0 * theta**2) ** 0.5) / 2.0


def momentum(*, smoothness: float, strong_convexity: float) -> float:
    """β = (√L − √μ)/(√L + √μ), the constant momentum for strongly convex f."""
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    fast, slow = math.sqrt(smoothness), math.sqrt(strong_convexity)
    return (fast - slow) / (fast + slow)


def rate(*, smoothness: float, strong_convexity: float) -> float:
    """1 − √(μ/L) a step, for f L-smooth and μ-strongly convex.

    Lecture B, "SAG Convergence Rate": 0.99761 at L = 0.25, μ = 1/700,000.
    """
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    return 1.0 - math.sqrt(strong_convexity / smoothness)


def constant(initial_gap: float, distance: float, *, strong_convexity: float) -> float:
    """C = f(w₀) − f* + (μ/2)‖w₀ − w*‖²."""
    initial_gap = check_number("initial_gap", initial_gap, at_least=0)
    distance = check_number("distance", distance, at_least=0)
    strong_convexity = check_number("strong_convexity", strong_convexity, above=0)
    return initial_gap + 0.5 * strong_convexity * distance**2


def linear_bound(
    initial_gap: float,
    distance: float,
    *,
    smoothness: float,
    strong_convexity: float,
    iterations: Count,
) -> Count:
    """f(w_T) − f* ≤ (1 − √(μ/L))ᵀ C, for f L-smooth and μ-strongly convex, with `momentum`."""
    C = constant(initial_gap, distance, strong_convexity=strong_convexity)
    per_step = rate(smoothness=smoothness, strong_convexity=strong_convexity)
    return linear.bound(C, per_step, iterations)


def linear_iterations(
    initial_gap: float,
    distance: float,
    tolerance: float,
    *,
    smoothness: float,
    strong_convexity: float,
) -> int:
    """The smallest T whose `linear_bound` is at most ε: about √(L/μ)·log(C/ε)."""
    C = constant(initial_gap, distance, strong_convexity=strong_convexity)
    per_step = rate(smoothness=smoothness, strong_convexity=strong_convexity)
    return linear.iterations(C, per_step, tolerance)


def fastest_rate(*, smoothness: float, strong_convexity: float) -> float:
    """((√L − √μ)/(√L + √μ))² a step: no method that sees only full gradients is faster.

    Lecture B, "Fastest possible first-order method": 0.99048 at L = 0.25, μ = 1/700,000. SAG beats
    it because it looks inside the sum. See `lower_bound` for the exact statement.
    """
    return momentum(smoothness=smoothness, strong_convexity=strong_convexity) ** 2


def lower_bound(
    distance: float, *, smoothness: float, strong_convexity: float, iterations: Count
) -> Count:
    """(μ/2)((√L − √μ)/(√L + √μ))²ᵀ‖w₀ − w*‖²: what f(w_T) − f* cannot beat in the worst case.

    There is an L-smooth, μ-strongly convex f (a quadratic in infinitely many variables) on which
    every method whose w_T lies in w₀ + span{∇f(w₀), …, ∇f(w_{T−1})} has f(w_T) − f* at least this.
    Nesterov, Introductory Lectures on Convex Optimization (2004), Theorem 2.1.13.
    """
    distance = check_number("distance", distance, at_least=0)
    per_step = fastest_rate(smoothness=smoothness, strong_convexity=strong_convexity)
    return linear.bound(0.5 * strong_convexity * distance**2, per_step, iterations)
