"""Gradient descent: how far each step descends, and how many steps it takes.

    w_{t+1} = w_t − η ∇f(w_t),     f convex and L-smooth, w* a minimizer, f* = f(w*)

    one step, η ≤ 1/L            f(w_{t+1}) ≤ f(w_t) − (η/2)‖∇f(w_t)‖²
    one step, η ≤ 1/L            f(w_{t+1}) − f* ≤ (‖w_t − w*‖² − ‖w_{t+1} − w*‖²) / 2η
    T steps, η ≤ 1/L             f(w_T) − f* ≤ ‖w₀ − w*‖² / 2ηT
    f μ-strongly convex, η < 2/L f(w_{t+1}) − f* ≤ ρ²(f(w_t) − f*),  ρ = max(|1 − ημ|, |1 − ηL|)

Lecture A, "GD for Convex Functions"; lecture B for the strongly convex figure. That ρ² holds for
values, and not only for squared distances, beyond quadratics too: Taylor, Hendrickx & Glineur,
J. Optim. Theory Appl. 178 (2018).
"""

from __future__ import annotations

from thalweg.core.checks import check_number
from thalweg.core.errors import InputError
from thalweg.theory import rate as linear
from thalweg.theory.assumptions import Count, check_curvatures, check_iterations
from thalweg.theory.stability import gd_limit


def descent_bound(value: float, gradient_norm: float, *, step: float, smoothness: float) -> float:
    """The descent lemma: f(w⁺) ≤ f(w) − (η/2)‖∇f(w)‖², for f L-smooth and η ≤ 1/L.

    Convexity is not needed. Lecture A, "Step I: The Descend".
    """
    value = check_number("value", value)
    gradient_norm = check_number("gradient_norm", gradient_norm, at_least=0)
    step = _check_safe_step(step, smoothness)
    return value - 0.5 * step * gradient_norm**2


def step_bound(distance: float, next_distance: float, *, step: float) -> float:
    """f(w_{t+1}) − f* ≤ (‖w_t − w*‖² − ‖w_{t+1} − w*‖²)/2η, for f convex and η ≤ 1/L.

    Lecture A, "Step II: Convergence Rate", first line; the sum over t gives `value_bound`.
    """
    distance = check_number("distance", distance, at_least=0)
    next_distance = check_number("next_distance", next_distance, at_least=0)
    step = check_number("step", step, above=0)
    return (distance**2 - next_distance**2) / (2.0 * step)


def value_bound(distance: float, *, step: float, iterations: Count) -> Count:
    """f(w_T) − f* ≤ ‖w₀ − w*‖²/(2ηT), for f convex, L-smooth and η ≤ 1/L.

    Lecture A, "Step II: Convergence Rate", second line. `distance` is ‖w₀ − w*‖.
    """
    distance = check_number("distance", distance, at_least=0)
    step = check_number("step", step, above=0)
    return distance**2 / (2.0 * step * check_iterations(iterations, at_least=1))


def iterations(distance: float, tolerance: float, *, step: float) -> int:
    """The smallest T whose `value_bound` is at most ε: ⌈‖w₀ − w*‖²/(2ηε)⌉, O(L/ε) at η = 1/L.

    Lecture A, "Step II: Convergence Rate", third line. At least one step.
    """
    distance = check_number("distance", distance, at_least=0)
    tolerance = check_number("tolerance", tolerance, above=0)
    step = check_number("step", step, above=0)
    return linear.smallest_count(
        lambda T: value_bound(distance, step=step, iterations=T),
        tolerance,
        at_least=1,
    )


def contraction(step: float, *, smoothness: float, strong_convexity: float) -> float:
    """ρ = max(|1 − ημ|, |1 − ηL|): ‖w_{t+1} − w*‖ ≤ ρ‖w_t − w*‖, and ρ² on f − f*, for any η > 0.

    f is L-smooth and μ-strongly convex. On quadratics each of the two ends is attained, along its
    eigenvector. ρ < 1 exactly when η < 2/L; the bound on f − f* needs that.
    """
    step = check_number("step", step, above=0)
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    return max(abs(1.0 - step * strong_convexity), abs(1.0 - step * smoothness))


def optimal_step(*, smoothness: float, strong_convexity: float) -> float:
    """2/(L + μ), where both ends contract alike: the step of the smallest `contraction`."""
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    return 2.0 / (smoothness + strong_convexity)


def rate(*, smoothness: float, strong_convexity: float) -> float:
    """((L − μ)/(L + μ))² a step on f − f*, with the step 2/(L + μ), f L-smooth, μ-strongly convex.

    Lecture B, "SAG Convergence Rate": 0.99998 at L = 0.25, μ = 1/700,000.
    """
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    return ((smoothness - strong_convexity) / (smoothness + strong_convexity)) ** 2


def safe_rate(*, smoothness: float, strong_convexity: float) -> float:
    """1 − μ/L a step on f − f*, with the step 1/L.

    Weaker than the ρ² = (1 − μ/L)² of strongly convex f, but it asks for less: ‖∇f(w)‖² ≥
    2μ(f(w) − f*) is enough. So it holds for least squares of any rank (lecture A, "GD for Linear
    regression"), with μ the smallest eigenvalue of XᵀX that is not zero.
    Karimi, Nutini & Schmidt, ECML 2016, Theorem 1.
    """
    smoothness, strong_convexity = check_curvatures(smoothness, strong_convexity)
    return 1.0 - strong_convexity / smoothness


def linear_iterations(
    initial_gap: float,
    tolerance: float,
    *,
    smoothness: float,
    strong_convexity: float,
    step: float | None = None,
) -> int:
    """The smallest T with ρ²ᵀ(f(w₀) − f*) ≤ ε, for f L-smooth, μ-strongly convex; step 2/(L + μ).

    Lecture A: "only O(log 1/ε) iterations are needed under strong convexity".
    """
    if step is None:
        per_step = rate(smoothness=smoothness, strong_convexity=strong_convexity)
    else:
        check_number("step", step, above=0, below=gd_limit(smoothness), advice="2/L is the limit")
        per_step = contraction(step, smoothness=smoothness, strong_convexity=strong_convexity) ** 2
    return linear.iterations(initial_gap, per_step, tolerance)


def _check_safe_step(step: float, smoothness: float) -> float:
    """η with 0 < η ≤ 1/L."""
    step = check_number("step", step, above=0)
    smoothness = check_number("smoothness", smoothness, above=0)
    # Rounded apart, η = 1/L need not give ηL ≤ 1 to the last bit.
    if step * smoothness > 1.0 + 1e-12:
        raise InputError(
            f"step must be at most 1/smoothness = {1.0 / smoothness!r}, got {step!r}: "
            "above it the descent lemma can fail"
        )
    return step
