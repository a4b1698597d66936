"""How nearly stationary a point is, and what follows from that.

    ‖∇f(w)‖∞ ≤ tol · max(1, ‖∇f(w₀)‖∞)

A small gradient shows that w is nearly stationary. It does not tell a minimum from a saddle
(`classify` does), and bounds the distance to the optimum only under strong convexity, where

    f(w) − f* ≤ ‖∇f(w)‖₂² / (2μ)

With a penalty the gradient mapping (y − prox(y − η∇f(y), η))/η takes the gradient's place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.certificate import Certificate
from thalweg.core.objective import is_composite, known
from thalweg.core.vector import dot

WRONG = 1e-3  # below f* by this much of its size: what was stated is not the minimum


def limit(first_gradient: np.ndarray | float, tol: float) -> float:
    """tol · max(1, ‖∇f(w₀)‖∞), from the gradient or from its norm."""
    return tol * max(1.0, norm(first_gradient))


def norm(gradient: np.ndarray | float) -> float:
    """‖∇f‖∞."""
    return float(np.max(np.abs(gradient)))


def gap(objective: Any, value: float, gradient: np.ndarray) -> float | None:
    """An upper bound on f(w) − f*: exact where f* is known, by strong convexity where μ is.

    None where neither is, or where f* was stated and f(w) lies below it.
    """
    minimum = known(objective, "minimum")
    if minimum is not None and value > float(minimum) - WRONG * max(1.0, abs(float(minimum))):
        return max(0.0, value - float(minimum))
    strong_convexity = known(objective, "strong_convexity")
    if strong_convexity and not is_composite(objective):
        return dot(gradient, gradient) / (2.0 * strong_convexity)
    return None


def measured_quantity(objective: Any) -> str:
    """What the norm is of: the gradient, or the gradient mapping."""
    return "‖gradient mapping‖∞" if is_composite(objective) else "‖∇f(w)‖∞"


def stationarity(
    objective: Any, value: float, gradient: np.ndarray, allowed: float, tol: float
) -> Certificate:
    """The certificate of a point with this value and gradient (or gradient mapping)."""
    measured = norm(gradient)
    holds = bool(measured <= allowed)
    bound = gap(objective, value, gradient)
    what = measured_quantity(objective)
    relation = "≤" if holds else ">"
    statement = f"{what} = {measured:.3g} {relation} {allowed:.3g} = tol·max(1, ‖∇f(w₀)‖∞)"
    if not holds:
        shows = "nothing yet: w is not stationary within the tolerance"
        does_not_show = ""
    elif bound is not None:
        shows = f"w is nearly stationary, and f(w) − f* ≤ {bound:.3g}"
        does_not_show = ""
    else:
        shows = "w is nearly stationary"
        does_not_show = (
            f"how far F(w) is from F*: {lacks}"
            if (lacks := known(objective, "lacks"))
            else "how far F(w) is from the minimum, and that w is one unless F is convex"
            if is_composite(objective)
            else "that w is a minimum, or how far f(w) is from one: tw.classify(objective, w) "
            "tells a minimum from a saddle"
        )
    return Certificate(
        kind="stationarity",
        holds=holds,
        measured=measured,
        limit=allowed,
        statement=statement,
        shows=shows,
        does_not_show=does_not_show,
        gap=bound,
        evidence={"tol": tol},
    )
