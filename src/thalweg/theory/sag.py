"""SAG: the linear rate of a method that computes one gradient a step.

    minimise  f(x) = (1/N) Σᵢ fᵢ(x),     each fᵢ convex and L-smooth (L = max Lᵢ, penalty included)
    x^{t+1} = x^t − (α/N) Σᵢ yᵢ,         yᵢ the gradient of fᵢ when last seen, 0 before

    f μ-strongly convex, α = 1/16L       E f(xᵗ) − f* ≤ (1 − min(μ/16L, 1/8N))ᵗ C
    f convex, α = 1/16L                  E f(x̄ᵏ) − f* ≤ (32N/k) C,   x̄ᵏ = (1/k) Σ_{t<k} xᵗ

    C = f(x⁰) − f* + (4L/N)‖x⁰ − x*‖² + σ²/16L,     σ² = (1/N) Σᵢ ‖∇fᵢ(x*)‖²

t counts single-sample steps, drawn uniformly with replacement; the sum is divided by N from the
start, not by the number of samples seen. Lecture B, "SAG Convergence Rate"; Schmidt, Le Roux &
Bach, Math. Program. 162 (2017), Theorem 1.
"""

from __future__ import annotations

import math

from thalweg.core.checks import check_count, check_number
from thalweg.theory import rate as linear
from thalweg.theory.assumptions import Count, check_curvatures


def step(smoothness: float) -> float:
    """α = 1/16L. Practice takes 1/2L to 1/L, for which no proof is known."""
    return 1.0 / (16.0 * check_number("smoothness", smoothness, above=0))


def rate_per_step(*, samples: int, smoothness: float, strong_convexity: float) -> float:
    """1 − min(μ/16L, 1/8N), for each fᵢ convex and L-smooth, f μ-strongly convex."""
    return 1.0 - _shrinkage(samples, smoothness, strong_convexity)


def rate_per_pass(*, samples: int, smoothness: float, strong_convexity: float) -> float:
    """(1 − min(μ/16L, 1/8N))ᴺ, over N steps, the work of one full gradient.

    At most e^(−1/8) = 0.8825 where μ/16L ≥ 1/8N (well conditioned); otherwise about e^(−Nμ/16L),
    gradient descent's rate but for a constant, on steps N times cheaper. Lecture B: 0.88250
    at N = 700,000, L = 0.25, μ = 1/N.
    """
    shrinkage = _shrinkage(samples, smoothness, strong_convexity)
    return math.exp(samples * math.log1p(-shrinkage))


def constant(
    initial_gap: float,
    distance: float,
    gradient_variance: float,
    *,
    samples: int,
    smoothness: float,
) -> float:
    """C = f(x⁰) − f* + (4L/N)‖x⁰ − x*‖² + σ²/16L, with the memory zero at the start.

    `gradient_variance` is σ² = (1/N) Σᵢ ‖∇fᵢ(x*)‖².
    """
    initial_gap = check_number("initial_gap", initial_gap, at_least=0)
    distance = check_number("distance", distance, at_least=0)
    gradient_variance = check_number("gradient_variance", gradient_variance, at_least=0)
    samples = check_count("samples", samples)
    smoothness = check_number("smoothness", smoothness, above=0)
    return (
        initial_gap
        + 4.0 * smoothness / samples * distance**2
        + gradient_variance / (16.0 * smoothness)
    )


def value_bound(
    constant: float,
    *,
    samples: int,
    smoothness: float,
    strong_convexity: float,
    iterations: Count,
) -> Count:
    """E f(xᵗ) − f* ≤ (1 − min(μ/16L, 1/8N))ᵗ C: lecture B, "SAG Convergence Rate"."""
    per_step = rate_per_step(
        samples=samples, smoothness=smoothness, strong_convexity=strong_convexity
    )
    return linear.bound(constant, per_step, iterations)


def iterations(
    constant: float,
    tolerance: float,
    *,
    samples: int,
    smoothness: float,
    strong_convexity: float,
) -> int:
    """The smallest number of single-sample steps whose `value_bound` is at most ε."""
    per_step = rate_per_step(
        samples=samples, smoothness=smoothness, strong_convexity=strong_convexity
    )
    return linear.iterations(constant, per_step, tolerance)


def _shrinkage(samples: int, smoothness: float, strong_convexity: float) -> float:
    """min(μ/16L, 1/8N): kept apart from 1, where its digits would be lost."""
    samples = check_count("samples", samples)
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    return min(strong_convexity / (16.0 * smoothness), 1.0 / (8.0 * samples))
