"""SVRG: the linear rate per epoch of a method that stores one gradient instead of N.

    minimise  f(x) = (1/N) Σᵢ fᵢ(x),     each fᵢ convex and L-smooth, f μ-strongly convex
    d_s = ∇f(x_s), x⁰ = x_s              xᵗ = xᵗ⁻¹ − α(∇fᵢ(xᵗ⁻¹) − ∇fᵢ(x_s) + d_s),   t = 1 … m
    x_{s+1} = xᵗ for a random t in {0, …, m − 1}

    E f(x_{s+1}) − f* ≤ θ·(E f(x_s) − f*),     θ = 1/(μα(1 − 2Lα)m) + 2Lα/(1 − 2Lα)

The lecture draws t from {1, …, m} and practice takes the last iterate; the proof is for the t
above. θ < 1 needs α < 1/4L and m > 1/(μα(1 − 4Lα)). The paper's remark for f merely convex
names no constants, so there is no function for it here.
Lecture B, "Stochastic Variance Reduced GD"; Johnson & Zhang, NIPS 2013, Theorem 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from thalweg.core.checks import check_count, check_number
from thalweg.core.errors import InputError
from thalweg.theory import rate as linear
from thalweg.theory.assumptions import check_curvatures


class Recommendation(NamedTuple):
    """A step and an epoch length for which the theorem promises `rate`."""

    step: float  # α
    inner_steps: int  # m
    rate: float  # θ


def rate_per_epoch(
    *, step: float, inner_steps: int, smoothness: float, strong_convexity: float
) -> float:
    """θ = 1/(μα(1 − 2Lα)m) + 2Lα/(1 − 2Lα); at 1 or above the theorem promises nothing."""
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    step = check_number("step", step, above=0, below=0.5 / smoothness, advice="1/2L is the limit")
    inner_steps = check_count("inner_steps", inner_steps)
    room = 1.0 - 2.0 * smoothness * step
    return 1.0 / (strong_convexity * step * room * inner_steps) + 2.0 * smoothness * step / room


def fewest_inner_steps(*, step: float, smoothness: float, strong_convexity: float) -> int:
    """The smallest m with θ < 1: just above 1/(μα(1 − 4Lα)); needs α < 1/4L."""
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    step = check_number(
        "step",
        step,
        above=0,
        below=0.25 / smoothness,
        advice="from 1/4L on no epoch is long enough",
    )
    return math.floor(1.0 / (strong_convexity * step * (1.0 - 4.0 * smoothness * step))) + 1


def recommended(*, smoothness: float, strong_convexity: float) -> Recommendation:
    """α = 0.1/L and m = ⌈50L/μ⌉, which halve the gap every epoch.

    Johnson & Zhang's own example (after Theorem 1), where L/μ = N makes m = 50N. Practice takes
    m = 2N and a step near 1/L, and converges far sooner than the theorem says.
    """
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    step = 0.1 / smoothness
    inner_steps = math.ceil(50.0 * smoothness / strong_convexity)
    rate = rate_per_epoch(
        step=step,
        inner_steps=inner_steps,
        smoothness=smoothness,
        strong_convexity=strong_convexity,
    )
    return Recommendation(step, inner_steps, rate)


def epochs(
    initial_gap: float,
    tolerance: float,
    *,
    step: float,
    inner_steps: int,
    smoothness: float,
    strong_convexity: float,
) -> int:
    """The smallest s with θˢ(f(x₀) − f*) ≤ ε."""
    theta = rate_per_epoch(
        step=step,
        inner_steps=inner_steps,
        smoothness=smoothness,
        strong_convexity=strong_convexity,
    )
    if theta >= 1.0:
        raise InputError(
            f"step and inner_steps must give a rate below 1, got {theta:.4g}: take a step below "
            "1/4L and at least fewest_inner_steps(...) of them, or what recommended(...) returns"
        )
    return linear.iterations(initial_gap, theta, tolerance)


def evaluations_per_epoch(*, samples: int, inner_steps: int) -> int:
    """N + 2m gradients of single fᵢ: the snapshot's, and two a step (lecture B)."""
    return check_count("samples", samples) + 2 * check_count("inner_steps", inner_steps)
