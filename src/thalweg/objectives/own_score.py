"""The data term of a loss that a user gave: f = Σᵢ cᵢ ℓ(zᵢ, yᵢ), z = Xw + b, ℓ in NumPy.

Kernels make the scores and sum what the loss makes of them; the loss itself works on all samples at
once. A pass of `one_score` is then two over X, and vectors of n numbers between them:

    z = Xw + b         s = ℓ′(z, y)         ∇f = Σᵢ cᵢ sᵢ xᵢ

Where its curvature vanishes nobody knows, so methods are told of kinks: they keep to a share of γ
at least, which is that of a parabola above ℓ.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thalweg.core.bisection import last_inside
from thalweg.core.vector import dot
from thalweg.objectives.one_score import SingleScore, exact_mean
from thalweg.objectives.own_loss import Loss, unit_of
from thalweg.objectives.rows import Rows

STRETCH = 4.0  # the largest factor that anyone asks for


class OwnScore(SingleScore):
    """ℓ of a user's own, with targets float64[n]."""

    has_kinks = True

    def __init__(
        self, loss: Loss, y: np.ndarray, unit: float | None = None, origin: float = 0.0
    ) -> None:
        self.loss = loss
        self.y = y
        self.origin = origin
        self.unit = unit_of(y) if unit is None else unit  # of scores

    @property
    def curvature_bound(self) -> float:
        """γ, the largest ℓ″."""
        return self.loss.bound

    def on(self, rows: Any) -> OwnScore:
        """The term of some of the samples, a slice or int64."""
        return OwnScore(self.loss, self.y[rows], self.unit, self.origin)

    def centred(self, c: np.ndarray) -> OwnScore:
        """Of targets about their mean; the term itself where ℓ may know them by more than z − y."""
        if not self.loss.is_of_differences or self.origin:
            return self
        mean = exact_mean(c, self.y)
        return OwnScore(self.loss, self.y - mean, self.unit, mean) if mean else self

    def value(self, rows: Rows, W: np.ndarray, b: Any) -> float:
        """f."""
        return self._sum(rows.weights, rows.product(W, b))

    def gradient(
        self, rows: Rows, W: np.ndarray, b: Any, z: np.ndarray | None = None
    ) -> tuple[float, np.ndarray, Any]:
        """f, Σ cᵢℓ′ᵢxᵢ and Σ cᵢℓ′ᵢ; the scores are written into `z`, if it is given."""
        scores = rows.product(W, b)
        if z is not None:
            z[:] = scores
        value = self._sum(rows.weights, scores)
        return value, *rows.transpose(self.loss.slopes(scores, self.y))

    def hessian_vector(
        self, rows: Rows, W: np.ndarray, b: Any, V: np.ndarray, v_b: Any
    ) -> tuple[np.ndarray, Any]:
        """Σ cᵢℓ″ᵢ(xᵢᵀV + v_b)xᵢ and the same without xᵢ, at W and b."""
        return self.bent_vector(rows, self.bends(rows, rows.product(W, b)), V, v_b)

    def bends(self, rows: Rows, z: np.ndarray, floor: float = 0.0) -> np.ndarray:
        """hᵢ = cᵢℓ″(zᵢ), float64[n]; at least a share `floor` of cᵢγ."""
        bends = self.loss.curvatures(z, self.y, self.unit)
        return rows.weights * np.maximum(bends, floor * self.loss.bound)

    def weighted_slopes(self, rows: Rows, z: np.ndarray) -> np.ndarray:
        """cᵢℓ′(zᵢ), float64[n]."""
        return rows.weights * self.loss.slopes(z, self.y)

    def along(
        self, rows: Rows, z: np.ndarray, d: np.ndarray, r: np.ndarray, step: float
    ) -> tuple[float, float]:
        """f at the scores z + αd, and Σ (cᵢℓ′ᵢ − rᵢ)dᵢ there."""
        there = z + step * d
        return self._sum(rows.weights, there), dot(self.weighted_slopes(rows, there) - r, d)

    def slopes(self, c: np.ndarray, z: np.ndarray, theta: np.ndarray) -> float:
        """Write θᵢ = ℓ′(zᵢ) into `theta`, in place; returns f, its sum without rounding."""
        theta[:] = self.loss.slopes(z, self.y)
        return _exact_sum(c * self.loss.values(z, self.y))

    def shifted_slopes(
        self, c: np.ndarray, z: np.ndarray, shift: float
    ) -> tuple[float, float, float]:
        """Σ cᵢℓ′ᵢ, Σ cᵢ|ℓ′ᵢ| and Σ cᵢℓ″ᵢ at the scores z + shift."""
        there = z + shift
        terms = c * self.loss.slopes(there, self.y)
        bend = dot(c, self.loss.curvatures(there, self.y, self.unit))
        return float(terms.sum()), float(np.abs(terms).sum()), bend

    def conjugates(self, c: np.ndarray, theta: np.ndarray) -> tuple[float, float]:
        """Σ cᵢℓᵢ*(θᵢ), and the sum of the terms' sizes."""
        seen = c > 0.0
        terms = c[seen] * self.loss.conjugates(theta[seen], self.y[seen])
        return _exact_sum(terms), float(np.abs(terms).sum())

    def stretch(self, c: np.ndarray, theta: np.ndarray) -> float:
        """The largest factor up to `STRETCH` that leaves θ in the domain of ℓ*; infinite beyond."""
        found = last_inside(lambda s: math.isfinite(self.conjugates(c, s * theta)[0]), STRETCH)
        return math.inf if found == STRETCH else found

    def _sum(self, c: np.ndarray, z: np.ndarray) -> float:
        return float(np.sum(c * self.loss.values(z, self.y)))


def _exact_sum(terms: np.ndarray) -> float:
    """Σ of terms as if nothing were rounded on the way; a sum that is no number stays one."""
    return math.fsum(terms) if np.isfinite(terms).all() else float(terms.sum())
