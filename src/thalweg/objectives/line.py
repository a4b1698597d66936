"""A linear problem along a line, from the scores at two of its points.

    φ(α) = F(w + αp) = Σᵢ cᵢ ℓ(zᵢ + αdᵢ, yᵢ) + (l2/2)(‖w‖² + 2α wᵀp + α²‖p‖²)

with z the scores at w and d = (z′ − z)/α₀ from the scores z′ at w + α₀p, which the first trial of a
line search has left behind. The slope is taken as a difference from the known one at 0,

    φ′(α) = φ′(0) + Σᵢ cᵢ(ℓ′(zᵢ + αdᵢ) − ℓ′(zᵢ))dᵢ + l2·α‖p‖²

because near a minimum φ′ is of second order in p while Σ cᵢℓ′(zᵢ)dᵢ on its own has errors of first
order: the rounding of z′ − z.

Cost: O(n) a trial, O(nK) for K classes, whatever the number of features; memory two such vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg.core.vector import dot

if TYPE_CHECKING:
    from thalweg.objectives.linear_function import LinearFunction


class LinearLine:
    """φ, of `problem` without its l1 penalty."""

    def __init__(
        self,
        problem: LinearFunction,
        w: np.ndarray,
        p: np.ndarray,
        z: np.ndarray,
        slope: float,
        step: float,
        ahead: np.ndarray,
    ) -> None:
        self._problem = problem
        self._z = z
        self._d = (ahead - z) / step
        self._r = problem.term.weighted_slopes(problem.rows, z)  # cᵢℓ′(zᵢ)
        self._slope = slope
        W, P = (problem.split(v.astype(np.float64, copy=False))[0].ravel() for v in (w, p))
        self._squares = dot(W, W), dot(W, P), dot(P, P)

    def value_and_slope(self, step: float) -> tuple[float, float]:
        """φ(α) and φ′(α) for α = `step`."""
        problem = self._problem
        data, change = problem.term.along(problem.rows, self._z, self._d, self._r, step)
        (ww, wp, pp), l2 = self._squares, problem.l2
        value = data + 0.5 * l2 * (ww + step * (2.0 * wp + step * pp))
        return float(value), float(self._slope + change + l2 * step * pp)
