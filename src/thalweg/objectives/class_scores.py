"""The data term of K classes: f = Σᵢ cᵢ ℓ(zᵢ, yᵢ) with zᵢ = Wᵀxᵢ + b in ℝᴷ, the multinomial loss.

What `objectives.one_score` is for one score: sums and maps over the rows, by matrix products where
X is dense (`kernels.classes`). The curvature of a sample is a matrix, cᵢ(diag(pᵢ) − pᵢpᵢᵀ), and
what is kept of it are the probabilities pᵢ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.kernels import classes, duality, margins
from thalweg.kernels import linear as passes
from thalweg.kernels.losses import MULTINOMIAL, curvature_bound
from thalweg.objectives.one_score import stretch_to
from thalweg.objectives.rows import Rows


class ClassScores:
    """ℓ of K scores a sample, with labels int64[n], 0 … K − 1."""

    code = MULTINOMIAL
    is_matrix = True
    delta = 1.0
    origin = 0.0

    def __init__(self, labels: np.ndarray, outputs: int) -> None:
        self.y = labels
        self.outputs = outputs  # K

    @property
    def curvature_bound(self) -> float:
        """γ, the largest eigenvalue of ∇²ℓ."""
        return curvature_bound(self.code)

    def on(self, rows: Any) -> ClassScores:
        """The term of some of the samples, a slice or int64."""
        return ClassScores(self.y[rows], self.outputs)

    def centred(self, c: np.ndarray) -> ClassScores:
        """The term itself: labels have no origin."""
        return self

    def value(self, rows: Rows, W: np.ndarray, b: Any) -> float:
        """f."""
        return float(self.gradient(rows, W, b)[0])

    def gradient(
        self, rows: Rows, W: np.ndarray, b: Any, z: np.ndarray | None = None
    ) -> tuple[float, np.ndarray, Any]:
        """f, Σ cᵢxᵢ(pᵢ − e_yᵢ)ᵀ and Σ cᵢ(pᵢ − e_yᵢ); scores go into `z`, if it is given."""
        X, c = rows.seen, rows.weights

        def leaf(start: int, stop: int) -> tuple[float, np.ndarray, np.ndarray]:
            G, slopes = np.zeros(W.shape), np.zeros(self.outputs)
            value = classes.gradient_pass(X, self.y, c, W, b, start, stop, G, slopes, z)
            return value, G, slopes

        return rows.sums(leaf, W.size, self.outputs)

    def hessian_vector(
        self, rows: Rows, W: np.ndarray, b: Any, V: np.ndarray, v_b: Any
    ) -> tuple[np.ndarray, Any]:
        """Σ cᵢxᵢtᵢᵀ and Σ cᵢtᵢ, tᵢ = (diag(pᵢ) − pᵢpᵢᵀ)(Vᵀxᵢ + v_b), at W and b."""
        X, c = rows.seen, rows.weights

        def leaf(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            out, total = np.zeros(V.shape), np.zeros(self.outputs)
            passes.class_hessian_vector_pass(X, c, W, b, V, v_b, start, stop, out, total)
            return out, total

        return rows.sums(leaf, V.size, self.outputs)

    has_kinks = False
    has_bound = True

    def bends(self, rows: Rows, z: np.ndarray, floor: float = 0.0) -> np.ndarray:
        """The probabilities pᵢ, float64[n, K]: what the curvatures are made of."""
        P = np.empty_like(z)
        self._light(rows, lambda start, stop: margins.probabilities_pass(z, start, stop, P))
        return P

    def curvatures(self, rows: Rows, P: np.ndarray) -> np.ndarray:
        """cᵢpᵢ(1 − pᵢ), float64[n, K], each class by itself."""
        return rows.weights[:, None] * P * (1.0 - P)

    def bent_vector(
        self, rows: Rows, P: np.ndarray, V: np.ndarray, v_b: Any
    ) -> tuple[np.ndarray, Any]:
        """As `hessian_vector`, from the probabilities."""
        X, c = rows.seen, rows.weights

        def leaf(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            out, total = np.zeros(V.shape), np.zeros(self.outputs)
            classes.curved_vector_pass(X, c, P, V, v_b, start, stop, out, total)
            return out, total

        return rows.sums(leaf, V.size, self.outputs)

    def column_moments(self, rows: Rows, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ xᵢhᵢᵀ and Σ xᵢ²hᵢᵀ, squares entry by entry, float64[p, K] each."""
        X, shape = rows.seen, (rows.p, self.outputs)

        def leaf(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            first, second = np.zeros(shape), np.zeros(shape[::-1])
            margins.class_column_moments_pass(X, h, start, stop, first, second)
            return first, second

        first, second = rows.sums(leaf, 2 * rows.p * self.outputs, self.outputs)
        return first, second.T

    def weighted_slopes(self, rows: Rows, z: np.ndarray) -> np.ndarray:
        """cᵢ(pᵢ − e_yᵢ), float64[n, K]."""
        r = np.empty_like(z)
        self._light(
            rows,
            lambda start, stop: margins.class_slopes_pass(z, self.y, rows.weights, start, stop, r),
        )
        return r

    def along(
        self, rows: Rows, z: np.ndarray, d: np.ndarray, r: np.ndarray, step: float
    ) -> tuple[float, float]:
        """f at the scores z + αd, and Σ (cᵢ∇ℓᵢ − rᵢ)ᵀdᵢ there."""
        c = rows.weights
        return rows.light(
            lambda start, stop: margins.class_line_pass(z, d, r, self.y, c, step, start, stop),
            margins.LOSS_ENTRIES * z.size,
            add=True,
        )

    def slopes(self, c: np.ndarray, z: np.ndarray, theta: np.ndarray) -> float:
        """Write θᵢ = pᵢ − e_yᵢ into `theta`, in place; returns f, its sum compensated."""
        theta[:] = z
        return duality.class_slopes_pass(theta, self.y, c)

    def conjugates(self, c: np.ndarray, theta: np.ndarray) -> tuple[float, float]:
        """Σ cᵢℓᵢ*(θᵢ), and the sum of the terms' sizes."""
        return duality.class_conjugates_pass(theta, self.y, c)

    def stretch(self, c: np.ndarray, theta: np.ndarray) -> float:
        """The largest factor that leaves θ in the domain of ℓ*, a hair inside."""
        return stretch_to(1.0, c, theta)

    def _light(self, rows: Rows, work: Any) -> None:
        rows.light(work, margins.LOSS_ENTRIES * rows.n * self.outputs, add=False)
