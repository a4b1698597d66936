"""How many iterations does κ cost, and from which κ on is that more than a run has?

For F L-smooth and μ-strongly convex, to a share ε of the first error (`thalweg.theory`):

    gradient descent, 2/(L + μ)     ((κ − 1)/(κ + 1))²ᵀ ≤ ε            T ≈ (κ/4)·log(1/ε)
    Nesterov, 1/L                   2(1 − 1/√κ)ᵀ ≤ ε                   T ≈ √κ·log(2/ε)
    SAG, 1/(16 max Lᵢ), a pass      (1 − min(μ/16L_max, 1/8n))ⁿᵀ ≤ ε

A run stops after 10,000 iterations unless told otherwise. With ε = 1e-6 gradient descent has used
them up at κ = 2,900, and the accelerated method at κ = 4.8e5: that is `SLOW` and `OUT_OF_REACH`.
The 2 in Nesterov's bound: (μ/2)‖w₀ − w*‖² ≤ F(w₀) − F*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from thalweg.theory import accelerated, gradient_descent, rate, sag

ITERATIONS = 10_000  # that `minimize` allows
TOLERANCE = 1e-6  # of the first error

SLOW = 4.0 * ITERATIONS / math.log(1.0 / TOLERANCE)  # κ, of gradient descent
OUT_OF_REACH = (ITERATIONS / math.log(2.0 / TOLERANCE)) ** 2  # κ, of every full-gradient method


class Patience(NamedTuple):
    """Iterations by theory; infinite where the rate is 1 but for rounding."""

    gd: float
    nesterov: float
    sag: float  # passes over the data

    def __str__(self) -> str:
        return (
            f"gd {spelled(self.gd)} iterations, nesterov {spelled(self.nesterov)}, "
            f"sag {spelled(self.sag)} passes"
        )


def patience(
    largest: float, smallest: float, row: float, samples: int, tol: float = TOLERANCE
) -> Patience:
    """What L, μ and the largest Lᵢ ask for, to a share `tol` of the first error."""
    ends = {"smoothness": largest, "strong_convexity": smallest}
    rows = {"smoothness": max(row, smallest), "strong_convexity": smallest}
    return Patience(
        _count(1.0, gradient_descent.rate(**ends), tol),
        _count(2.0, accelerated.rate(**ends), tol),
        _count(1.0, sag.rate_per_pass(samples=samples, **rows), tol),
    )


def spelled(count: float) -> str:
    """A count to two digits."""
    return f"{count:,.0f}" if count < 1_000 else f"{count:.1e}"


def _count(constant: float, per_step: float, tol: float) -> float:
    return float(rate.iterations(constant, per_step, tol)) if per_step < 1.0 else math.inf
