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

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.core.vector import dot
from thalweg.kernels import margins
from thalweg.kernels.linear import in_row_blocks
from thalweg.kernels.losses import LOSSES

if TYPE_CHECKING:
    from thalweg.objectives.linear import LinearProblem


class LinearLine:
    """φ, of `problem` without its l1 penalty."""

    def __init__(
        self,
        problem: LinearProblem,
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
        self._r = np.empty_like(z)  # cᵢℓ′(zᵢ)
        self._slope = slope
        W, P = (problem.split(v.astype(np.float64, copy=False))[0].ravel() for v in (w, p))
        self._squares = dot(W, W), dot(W, P), dot(P, P)
        y, c = problem.y, problem.weights
        if z.ndim == 2:
            self._blocks(lambda *rows: margins.class_slopes_pass(z, y, c, *rows, self._r))
        else:
            loss = LOSSES[problem.loss], problem.delta
            self._blocks(lambda *rows: margins.slopes_pass(z, y, c, *loss, *rows, self._r))

    def value_and_slope(self, step: float) -> tuple[float, float]:
        """φ(α) and φ′(α) for α = `step`."""
        z, d, r, y, c = self._z, self._d, self._r, self._problem.y, self._problem.weights
        if z.ndim == 2:
            parts = self._blocks(lambda *rows: margins.class_line_pass(z, d, r, y, c, step, *rows))
        else:
            loss = LOSSES[self._problem.loss], self._problem.delta
            parts = self._blocks(lambda *rows: margins.line_pass(z, d, r, y, c, *loss, step, *rows))
        (ww, wp, pp), l2 = self._squares, self._problem.l2
        value = sum(part[0] for part in parts) + 0.5 * l2 * (ww + step * (2.0 * wp + step * pp))
        slope = self._slope + sum(part[1] for part in parts) + l2 * step * pp
        return float(value), float(slope)

    def _blocks(self, work: Callable[[int, int], Any]) -> list[Any]:
        entries = margins.LOSS_ENTRIES * self._z.size
        return in_row_blocks(work, self._problem.n, entries, self._problem.threads)
