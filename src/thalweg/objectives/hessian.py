"""The Hessian of a linear problem at one point, from the scores there.

    ∇²F = Σᵢ hᵢ x̃ᵢx̃ᵢᵀ + l2·I                    hᵢ = cᵢℓ″(zᵢ)

with x̃ = (x, 1) where there is an intercept, which has no l2. The curvatures h are computed once: a
product is then one pass over X without an exponential. For K classes and pᵢ = softmax(zᵢ)

    ∇²F = Σᵢ cᵢ x̃ᵢx̃ᵢᵀ ⊗ (diag(pᵢ) − pᵢpᵢᵀ) + l2·I

Cost: a product or the diagonal takes one pass, the matrix O(n·dim²) with BLAS; memory one vector of
n (n·K) numbers and the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg.objectives.gram import class_gram, weighted_moments

if TYPE_CHECKING:
    from thalweg.objectives.linear_function import LinearFunction

TINY = 1e-300


class LinearHessian:
    """∇²F, of `problem` without its l1 penalty, where the scores are `z`.

    With a `floor` above 0, h is at least that share of the curvature of a parabola that touches the
    loss from above: of losses whose curvature is zero in places.
    """

    def __init__(self, problem: LinearFunction, z: np.ndarray, floor: float = 0.0) -> None:
        self._problem = problem
        self._h = problem.term.bends(problem.rows, z, floor)  # h; of K classes the p

    @classmethod
    def weighted(cls, problem: LinearFunction, h: np.ndarray) -> LinearHessian:
        """The same with curvatures h ≥ 0, float64[n], that are given."""
        H = cls.__new__(cls)
        H._problem, H._h = problem, h
        return H

    def vector(self, v: np.ndarray) -> np.ndarray:
        """∇²F·v, float64[dim]."""
        problem, v = self._problem, v.astype(np.float64, copy=False)
        along = problem.features.enter(v)
        return problem.curved(v, *problem.term.bent_vector(problem.rows, self._h, *along))

    @property
    def curvatures(self) -> np.ndarray:
        """hᵢ, float64[n]; for K classes cᵢpᵢ(1 − pᵢ), float64[n, K], each class by itself."""
        return self._problem.term.curvatures(self._problem.rows, self._h)

    def about_mean(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Σh(x̂ − m)² and m, entry by entry, float64[p], and Σh, where m = Σhx̂/Σh; of one score."""
        problem, h = self._problem, self._h
        features, total = problem.features, float(h.sum())
        first, second = problem.term.column_moments(problem.rows, h)
        mean = first / max(total, TINY)
        second -= first * mean
        # What is left of a difference may be rounding, but then not of a feature that is shifted.
        np.maximum(second, 0.0, out=second)
        if features.offset is not None:
            mean += features.offset
        if features.scales is not None:
            mean *= features.scales
            second *= features.scales**2
        return second, mean, total

    def diagonal(self) -> np.ndarray:
        """The diagonal of ∇²F, float64[dim]."""
        problem, weights = self._problem, self.curvatures
        features = problem.features
        first, second = problem.term.column_moments(problem.rows, weights)
        total = weights.sum(axis=0)
        by_column = (-1, *[1] * (weights.ndim - 1))
        if features.offset is not None:
            # Σh(x − s + t)²; what cancels here is no loss to a bound or a preconditioner.
            t = features.offset.reshape(by_column)
            second = np.maximum(second + t * (2.0 * first + t * total), 0.0)
        if features.scales is not None:
            second = second * features.scales.reshape(by_column) ** 2
        return features.join(second + problem.l2, total)

    def matrix(self) -> np.ndarray:
        """∇²F, float64[dim, dim]."""
        problem = self._problem
        count = problem.p * problem.outputs
        if self._h.ndim == 2:
            H = class_gram(problem, self._h)
        else:
            features = problem.features
            scales = features.units
            moments = weighted_moments(
                problem.matrix,
                self._h,
                features.place,
                problem.threads,
                centred=problem.fit_intercept,
            )
            second, first, total, _ = moments
            H = np.outer(scales, scales) * second
            if problem.fit_intercept:
                edge = (scales * first)[:, None]
                H = np.block([[H, edge], [edge.T, np.full((1, 1), total)]])
        H[np.arange(count), np.arange(count)] += problem.l2
        return H
