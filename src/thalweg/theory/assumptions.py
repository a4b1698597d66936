"""The assumptions behind the rates, as checks: ⟨L/c⟩ of lecture B, and counts of iterations.

    f is L-smooth              ‖∇f(x) − ∇f(y)‖ ≤ L‖x − y‖
    f is μ-strongly convex     f(x) ≥ f(y) + ∇f(y)ᵀ(x − y) + (μ/2)‖x − y‖²     (lecture B: c)

Together they force 0 < μ ≤ L.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from thalweg.core.checks import check_count, check_number, describe
from thalweg.core.errors import InputError

Count = TypeVar("Count", float, np.ndarray)  # one number of iterations, or an array of them


def check_curvatures(smoothness: float, strong_convexity: float) -> tuple[float, float]:
    """L and μ with 0 < μ ≤ L."""
    smoothness = check_number("smoothness", smoothness, above=0)
    strong_convexity = check_number(
        "strong_convexity",
        strong_convexity,
        above=0,
        advice="without strong convexity only the convex bounds hold",
    )
    if strong_convexity > smoothness:
        raise InputError(
            f"strong_convexity must be at most the smoothness {smoothness!r}, "
            f"got {strong_convexity!r}: no function is less smooth than it is convex"
        )
    return smoothness, strong_convexity


def check_iterations(iterations: Count, *, at_least: int = 0) -> Count:
    """T as floats: one whole number, or an array of them."""
    if not isinstance(iterations, np.ndarray):
        return float(check_count("iterations", iterations, at_least=at_least))
    whole = iterations.dtype.kind in "iu" or (
        iterations.dtype.kind == "f" and bool(np.all(iterations == np.floor(iterations)))
    )
    if not whole or not bool(np.all(np.isfinite(iterations) & (iterations >= at_least))):
        raise InputError(
            f"iterations must hold whole numbers, at least {at_least}, got {describe(iterations)}"
        )
    return iterations.astype(np.float64)
