"""Derivatives by differences: slopes and curvatures of a function that only has values.

    ∂f/∂wᵢ ≈ (f(w + hᵢeᵢ) − f(w − hᵢeᵢ)) / 2hᵢ            hᵢ = ε^⅓·sᵢ,   sᵢ = max(1, |wᵢ|)

ε is the spacing of float64 at 1: central differences err by O(h²) in the formula and O(ε/h) in
rounding, and ε^⅓ balances the two. All of it is in float64, whatever the dtype of the iterate.

Nocedal & Wright, Numerical Optimization, section 8.1; Gill et al., Practical Optimization, 8.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

EPS = float(np.finfo(np.float64).eps)
STEP = EPS ** (1 / 3)


def double(w: np.ndarray) -> np.ndarray:
    """Differences need every digit there is, whatever the dtype of the iterate."""
    return w.astype(np.float64)


def scales(w: np.ndarray) -> np.ndarray:
    """sᵢ = max(1, |wᵢ|), what a step in coordinate i is measured by."""
    return np.maximum(1.0, np.abs(w))


def reach(w: np.ndarray, v: np.ndarray) -> float:
    """How far v goes in these units, in the coordinate where it goes furthest."""
    return float(np.max(np.abs(v) / scales(w)))


def central(f: Callable[[np.ndarray], Any], w: np.ndarray, v: np.ndarray, t: float) -> Any:
    """(f(w + tv) − f(w − tv)) / 2t, of a number or a vector."""
    return (f(w + t * v) - f(w - t * v)) / (2 * t)


def moves(w: np.ndarray, steps: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """w with coordinate i moved up and down by stepsᵢ, for each i."""
    for i, h in enumerate(steps):
        up, down = w.copy(), w.copy()
        up[i] += h
        down[i] -= h
        yield up, down


def difference_gradient(
    f: Callable[[np.ndarray], float], w: np.ndarray, step: float, units: np.ndarray | None = None
) -> np.ndarray:
    """∂f/∂wᵢ by central differences with steps step·sᵢ."""
    steps = step * (scales(w) if units is None else units)
    # Divided by the distance that the rounded points really have.
    return np.array(
        [(f(up) - f(down)) / (up[i] - down[i]) for i, (up, down) in enumerate(moves(w, steps))]
    )
