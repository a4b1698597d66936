"""The data term of a model with one score a sample: f = Σᵢ cᵢ ℓ(zᵢ, yᵢ), z = Xw + b.

The loss is a code that kernels are given (`kernels.losses`). Everything here is a sum or a map over
the rows of `objectives.rows`: a pass over X, or one over the scores where those are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.vector import dot
from thalweg.kernels import duality, margins
from thalweg.kernels import linear as passes
from thalweg.kernels.cd import curvatures as bent_curvatures
from thalweg.kernels.losses import HUBER, SQUARED, SQUARED_HINGE, curvature_bound
from thalweg.objectives.rows import Rows

DIFFERENCES = (SQUARED, HUBER)  # losses of z − y


class OneScore:
    """ℓ of one score a sample, with targets float64[n], ±1 for two classes."""

    outputs = 1
    is_matrix = False

    def __init__(self, code: int, y: np.ndarray, delta: float, origin: float = 0.0) -> None:
        self.code = code
        self.y = y
        self.delta = delta  # Huber's δ
        self.origin = origin  # what was taken off the targets

    @property
    def curvature_bound(self) -> float:
        """γ, the largest ℓ″."""
        return curvature_bound(self.code)

    def on(self, rows: Any) -> OneScore:
        """The term of some of the samples, a slice or int64."""
        return OneScore(self.code, self.y[rows], self.delta, self.origin)

    def centred(self, c: np.ndarray) -> OneScore:
        """The term of targets about their mean, if the loss knows them by z − y, and that is exact.

        y − ȳ is a float64 where ȳ/2 ≤ y ≤ 2ȳ (Sterbenz): what all targets have in common would cost
        the residuals its digits.
        """
        if self.code not in DIFFERENCES or self.origin:
            return self
        mean = dot(c, self.y)
        low, high = sorted((0.5 * mean, 2.0 * mean))
        if not (mean and low <= self.y.min() and self.y.max() <= high):
            return self
        return OneScore(self.code, self.y - mean, self.delta, mean)

    def value(self, rows: Rows, W: np.ndarray, b: Any) -> float:
        """f."""
        X, c = rows.seen, rows.weights

        def leaf(start: int, stop: int) -> float:
            return passes.value_pass(X, self.y, c, W, b, self.code, self.delta, start, stop)

        return float(rows.sums(leaf))

    def gradient(
        self, rows: Rows, W: np.ndarray, b: Any, z: np.ndarray | None = None
    ) -> tuple[float, np.ndarray, Any]:
        """f, Σ cᵢℓ′ᵢxᵢ and Σ cᵢℓ′ᵢ; the scores are written into `z`, if it is given."""
        X, c = rows.seen, rows.weights

        def leaf(start: int, stop: int) -> tuple[float, np.ndarray, float]:
            G = np.zeros(W.shape)
            given = (X, self.y, c, W, b, self.code, self.delta, start, stop, G)
            if z is None:
                value, slope = passes.value_and_gradient_pass(*given)
            else:
                value, slope = margins.scored_gradient_pass(*given, z)
            return value, G, slope

        return rows.sums(leaf, W.size)

    def hessian_vector(
        self, rows: Rows, W: np.ndarray, b: Any, V: np.ndarray, v_b: Any
    ) -> tuple[np.ndarray, Any]:
        """Σ cᵢℓ″ᵢ(xᵢᵀV + v_b)xᵢ and the same without xᵢ, at W and b."""
        X, c, code, delta = rows.seen, rows.weights, self.code, self.delta

        def leaf(start: int, stop: int) -> tuple[np.ndarray, float]:
            out = np.zeros(V.shape)
            total = passes.hessian_vector_pass(
                X, self.y, c, W, b, V, v_b, code, delta, start, stop, out
            )
            return out, total

        return rows.sums(leaf, V.size)

    @property
    def has_kinks(self) -> bool:
        """Whether ℓ′ has kinks, and ℓ″ is zero beside them."""
        return self.code in (SQUARED_HINGE, HUBER)

    def bends(self, rows: Rows, z: np.ndarray, floor: float = 0.0) -> np.ndarray:
        """hᵢ = cᵢℓ″(zᵢ), float64[n]; at least a share `floor` of a parabola's that lies above ℓ."""
        h = np.empty_like(z)
        if floor > 0.0:
            bent_curvatures(self.code, z, self.y, self.delta, floor * self.curvature_bound, h)
            h *= rows.weights
            return h
        self._light(
            rows,
            lambda start, stop: margins.curvatures_pass(
                z, self.y, rows.weights, self.code, self.delta, start, stop, h
            ),
        )
        return h

    def curvatures(self, rows: Rows, h: np.ndarray) -> np.ndarray:
        """The same, from `bends`."""
        return h

    def bent_vector(
        self, rows: Rows, h: np.ndarray, V: np.ndarray, v_b: Any
    ) -> tuple[np.ndarray, Any]:
        """Σ hᵢ(xᵢᵀV + v_b)xᵢ and the same without xᵢ."""
        return rows.gram_vector(h, V, v_b)

    def column_moments(self, rows: Rows, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ hᵢxᵢ and Σ hᵢxᵢ², entry by entry, float64[p] each."""
        X, p = rows.seen, rows.p

        def leaf(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            first, second = np.zeros(p), np.zeros(p)
            margins.column_moments_pass(X, h, start, stop, first, second)
            return first, second

        return rows.sums(leaf, 2 * p)

    def weighted_slopes(self, rows: Rows, z: np.ndarray) -> np.ndarray:
        """cᵢℓ′(zᵢ), float64[n]."""
        r = np.empty_like(z)
        self._light(
            rows,
            lambda start, stop: margins.slopes_pass(
                z, self.y, rows.weights, self.code, self.delta, start, stop, r
            ),
        )
        return r

    def along(
        self, rows: Rows, z: np.ndarray, d: np.ndarray, r: np.ndarray, step: float
    ) -> tuple[float, float]:
        """f at the scores z + αd, and Σ (cᵢℓ′ᵢ − rᵢ)dᵢ there."""
        c, code, delta = rows.weights, self.code, self.delta
        return rows.light(
            lambda start, stop: margins.line_pass(
                z, d, r, self.y, c, code, delta, step, start, stop
            ),
            margins.LOSS_ENTRIES * z.size,
            add=True,
        )

    def slopes(self, c: np.ndarray, z: np.ndarray, theta: np.ndarray) -> float:
        """Write θᵢ = ℓ′(zᵢ) into `theta`, in place; returns f, its sum compensated."""
        return duality.slopes_pass(self.code, z, self.y, c, self.delta, theta)

    def _light(self, rows: Rows, work: Any) -> None:
        rows.light(work, margins.LOSS_ENTRIES * rows.n, add=False)
