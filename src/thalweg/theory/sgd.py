"""Stochastic gradient descent: what is guaranteed for the average of the iterates.

    w⁽¹⁾ = 0        w⁽ᵗ⁺¹⁾ = w⁽ᵗ⁾ − ηvₜ        w̄ = (1/T) Σₜ w⁽ᵗ⁾        E[vₜ | w⁽ᵗ⁾] ∈ ∂f(w⁽ᵗ⁾)

    f convex, ‖vₜ‖ ≤ ρ, ‖w*‖ ≤ B, any η             E f(w̄) − f(w*) ≤ B²/2ηT + ηρ²/2
                                  η = B/(ρ√T)       E f(w̄) − f(w*) ≤ Bρ/√T
    f λ-strongly convex, E‖vₜ‖² ≤ ρ², ηₜ = 1/(λt)    E f(w̄) − f(w*) ≤ ρ²(1 + log T)/(2λT)

Guarantees in expectation: a single run may lie above them.
Lecture B, "SGD Analysis"; Shalev-Shwartz & Ben-David, Understanding Machine Learning (2014),
chapter 14.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.core.checks import check_number, check_vector, describe
from thalweg.core.errors import InputError
from thalweg.theory.assumptions import Count, check_iterations
from thalweg.theory.rate import smallest_count


class LemmaSides(NamedTuple):
    """The two sides of Lemma 14.1."""

    left: float  # Σₜ ⟨w⁽ᵗ⁾ − w*, vₜ⟩
    right: float  # ‖w*‖²/2η + (η/2) Σₜ ‖vₜ‖²


def step(radius: float, gradient_bound: float, iterations: Count) -> Count:
    """η = B/(ρ√T), the step of Theorem 14.8 (lecture B)."""
    B, rho = _check_scales(radius, gradient_bound)
    return B / (rho * check_iterations(iterations, at_least=1) ** 0.5)


def value_bound(radius: float, gradient_bound: float, iterations: Count) -> Count:
    """E f(w̄) − f(w*) ≤ Bρ/√T: lecture B, Theorem 14.8.

    For f convex, w* its minimizer in the ball ‖w‖ ≤ B (`radius`), ‖vₜ‖ ≤ ρ (`gradient_bound`)
    always, the step B/(ρ√T) throughout. Projecting every w⁽ᵗ⁾ onto the ball keeps the bound, and
    keeps ρ finite where gradients grow with w, as those of the squared loss do.
    """
    B, rho = _check_scales(radius, gradient_bound)
    return B * rho / check_iterations(iterations, at_least=1) ** 0.5


def constant_step_bound(
    radius: float, gradient_bound: float, *, step: float, iterations: Count
) -> Count:
    """E f(w̄) − f(w*) ≤ B²/2ηT + ηρ²/2, for any step η kept throughout: lecture B, Lemma 14.1.

    Of all η, B/(ρ√T) makes it smallest, `value_bound`. It says what a run that was planned for T
    steps is worth before and after them.
    """
    B, rho = _check_scales(radius, gradient_bound)
    step = check_number("step", step, above=0)
    T = check_iterations(iterations, at_least=1)
    return B**2 / (2.0 * step * T) + 0.5 * step * rho**2


def iterations(radius: float, gradient_bound: float, tolerance: float) -> int:
    """The smallest T ≥ B²ρ²/ε²: lecture B, Theorem 14.8, "Therefore". At least one step."""
    B, rho = _check_scales(radius, gradient_bound)
    tolerance = check_number("tolerance", tolerance, above=0)
    return smallest_count(lambda T: value_bound(B, rho, T), tolerance, at_least=1)


def lemma(vectors: np.ndarray, comparator: np.ndarray, *, step: float) -> LemmaSides:
    """Both sides of Σₜ⟨w⁽ᵗ⁾ − w*, vₜ⟩ ≤ ‖w*‖²/2η + (η/2)Σₜ‖vₜ‖²: lecture B, Lemma 14.1.

    It holds for arbitrary `vectors` v₁ … v_T, float64[T, d], and any `comparator` w*, float64[d]:
    nothing need be a gradient. right − left is exactly ‖w⁽ᵀ⁺¹⁾ − w*‖²/2η.
    """
    comparator = check_vector("comparator", comparator).astype(np.float64)
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or vectors.shape[1] != comparator.size or not vectors.shape[0]:
        raise InputError(
            f"vectors must be one row per step with {comparator.size} entries each, "
            f"as the comparator has, got {describe(vectors)}"
        )
    step = check_number("step", step, above=0)
    after = -step * np.cumsum(vectors, axis=0)  # w⁽²⁾ … w⁽ᵀ⁺¹⁾
    iterates = np.vstack([np.zeros_like(comparator), after[:-1]])
    left = float(np.sum((iterates - comparator) * vectors))
    right = float(comparator @ comparator / (2.0 * step) + 0.5 * step * np.sum(vectors**2))
    return LemmaSides(left, right)


def strongly_convex_bound(
    gradient_bound: float, *, strong_convexity: float, iterations: Count
) -> Count:
    """E f(w̄) − f(w*) ≤ ρ²(1 + log T)/(2λT), for f λ-strongly convex and E‖vₜ‖² ≤ ρ².

    With the step 1/(λt), each iterate projected onto the convex set over which f is minimised
    (which a strongly convex f needs: on all of ℝᵈ no ρ bounds its gradients).
    Shalev-Shwartz & Ben-David (2014), Theorem 14.11; lecture B's table has it as O(1/t).
    """
    rho = check_number("gradient_bound", gradient_bound, above=0)
    strong_convexity = check_number("strong_convexity", strong_convexity, above=0)
    T = check_iterations(iterations, at_least=1)
    return rho**2 * (1.0 + np.log(T)) / (2.0 * strong_convexity * T)


def _check_scales(radius: float, gradient_bound: float) -> tuple[float, float]:
    """B and ρ, both positive."""
    return (
        check_number("radius", radius, above=0),
        check_number("gradient_bound", gradient_bound, above=0),
    )
