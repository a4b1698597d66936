"""The Hessian of a linear problem at one point, from the scores there.

    ∇²F = Σᵢ hᵢ x̃ᵢx̃ᵢᵀ + l2·I                    hᵢ = cᵢℓ″(zᵢ)

with x̃ = (x, 1) where there is an intercept, which has no l2. The curvatures h are computed once: a
product is then one pass over X without an exponential. For K classes and pᵢ = softmax(zᵢ)

    ∇²F = Σᵢ cᵢ x̃ᵢx̃ᵢᵀ ⊗ (diag(pᵢ) − pᵢpᵢᵀ) + l2·I

Cost: a product or the diagonal takes one pass, the matrix O(n·dim²) with BLAS; memory one vector of
n (n·K) numbers and the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.kernels import classes, margins
from thalweg.kernels import linear as passes
from thalweg.kernels.linear import in_row_blocks
from thalweg.kernels.losses import LOSSES
from thalweg.objectives.gram import class_gram, weighted_moments

if TYPE_CHECKING:
    from thalweg.objectives.linear import LinearProblem


class LinearHessian:
    """∇²F, of `problem` without its l1 penalty, where the scores are `z`."""

    def __init__(self, problem: LinearProblem, z: np.ndarray) -> None:
        self._problem = problem
        self._h = h = np.empty_like(z)  # hᵢ; for K classes the probabilities pᵢ
        y, c = problem.y, problem.weights

        def block(start: int, stop: int) -> None:
            if z.ndim == 2:
                margins.probabilities_pass(z, start, stop, h)
            else:
                code = LOSSES[problem.loss]
                margins.curvatures_pass(z, y, c, code, problem.delta, start, stop, h)

        in_row_blocks(block, problem.n, margins.LOSS_ENTRIES * z.size, problem.threads)

    def vector(self, v: np.ndarray) -> np.ndarray:
        """∇²F·v, float64[dim]."""
        problem, h = self._problem, self._h
        X, c = problem.matrix.rows, problem.weights
        v = v.astype(np.float64, copy=False)
        V, v_b = problem._unscaled(v)

        def block(start: int, stop: int) -> tuple[np.ndarray, Any]:
            out = np.zeros(V.shape)
            if h.ndim == 2:
                total = np.zeros(problem.outputs)
                classes.curved_vector_pass(X, c, h, V, v_b, start, stop, out, total)
                return out, total
            return out, passes.gram_vector_pass(X, h, V, v_b, start, stop, out)

        out, total = problem._add(problem._blocks(block))
        direction, _ = problem.split(v)
        out = problem._rescaled(out, total)
        out += problem.l2 * direction
        return problem._join(out, total)

    @property
    def curvatures(self) -> np.ndarray:
        """hᵢ, float64[n]; for K classes cᵢpᵢ(1 − pᵢ), float64[n, K], each class by itself."""
        if self._h.ndim == 1:
            return self._h
        return self._problem.weights[:, None] * self._h * (1.0 - self._h)

    def diagonal(self) -> np.ndarray:
        """The diagonal of ∇²F, float64[dim]."""
        problem = self._problem
        X, weights = problem.matrix.rows, self.curvatures
        shape = (problem.p, *weights.shape[1:])

        def block(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            first, second = np.zeros(shape), np.zeros(shape[::-1])
            if weights.ndim == 2:
                margins.class_column_moments_pass(X, weights, start, stop, first, second)
            else:
                margins.column_moments_pass(X, weights, start, stop, first, second)
            return first, second

        first, second = problem._add(problem._blocks(block))
        second, total = second.T, weights.sum(axis=0)
        if problem.means is not None and problem.scales is not None:
            m, d = (
                a.reshape(-1, *[1] * (weights.ndim - 1)) for a in (problem.means, problem.scales)
            )
            # Σh(x − m)²d²; what cancels here is no loss to a bound or a preconditioner.
            second = np.maximum(d * d * (second - m * (2.0 * first - m * total)), 0.0)
        return problem._join(second + problem.l2, total)

    def matrix(self) -> np.ndarray:
        """∇²F, float64[dim, dim]."""
        problem = self._problem
        count = problem.p * problem.outputs
        if self._h.ndim == 2:
            H = class_gram(problem, self._h)
        else:
            shift = np.zeros(problem.p) if problem.means is None else problem.means
            scales = np.ones(problem.p) if problem.scales is None else problem.scales
            moments = weighted_moments(
                problem.matrix,
                self._h,
                shift,
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
