"""All that the squared loss knows of the data: F and its slopes from sums, without another look.

    ½ Σᵢ cᵢ (xᵢᵀw + b − yᵢ)² = ½ (uᵀGu + β² + s) + β fᵀu − qᵀu

    G = Σ cᵢ(xᵢ − a)(xᵢ − a)ᵀ    f = Σ cᵢ(xᵢ − a)     q = Σ cᵢ(xᵢ − a)(yᵢ − ȳ)     s = Σ cᵢ(yᵢ − ȳ)²
    u = d∘w                      β = b + eᵀw − ȳ      e = d∘(a − m)

with m and d the means and scales of a standardized problem (0 and 1 elsewhere). Any a and ȳ make it
true. With an intercept they are near the means, which keeps the digits that large means would cost;
without one, a = 0, ȳ = 0 and β = 0.

Cost: one pass of O(np²) with BLAS, then O(p²) a point; memory p² numbers. Where the loss is small
beside s, its digits are lost in the difference: `sizes` tells how many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thalweg.objectives.gram import is_full, weighted_moments

if TYPE_CHECKING:
    from thalweg.objectives.linear import LinearProblem

FIRST = 1_000  # rows whose mean is a: anything near the means will do
MANY = 1_000_000  # entries of X from which a look at them is worth saving
FEW = 100  # features up to which the sums take little longer than a look


class LeastSquares(NamedTuple):
    """The sums over the samples of one problem."""

    G: np.ndarray  # float64[p, p]
    f: np.ndarray  # float64[p]
    q: np.ndarray  # float64[p]
    s: float
    lengths: np.ndarray  # √Σ cᵢ(xᵢ − a)², of the terms that it was computed from, float64[p]
    y_mean: float  # ȳ
    d: np.ndarray  # float64[p]
    e: np.ndarray  # float64[p]
    fit_intercept: bool

    @property
    def is_finite(self) -> bool:
        """Whether all features are; a square may overflow."""
        return bool(np.all(np.isfinite(self.G)))

    def loss_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """½ Σ cᵢ(zᵢ − yᵢ)² and its gradient, float64[dim], at `w`, float64[dim]."""
        p = self.f.size
        u, beta = self.d * w[:p], self._shifted(w)
        Gu, fu = self.G @ u, float(self.f @ u)
        loss = 0.5 * (float(u @ Gu) + beta * beta + self.s) + beta * fu - float(self.q @ u)
        by_u, by_beta = Gu + beta * self.f - self.q, beta + fu
        if not self.fit_intercept:
            return max(0.0, loss), self.d * by_u
        return max(0.0, loss), np.append(self.d * by_u + self.e * by_beta, by_beta)

    def sizes(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The sizes of all terms of the loss and of its gradient by w, float64[p], or more."""
        reach = float(self.lengths @ np.abs(self.d * w[: self.f.size]))
        reach += abs(self._shifted(w)) + self.s**0.5
        return reach * reach, (self.d * self.lengths + np.abs(self.e)) * reach

    def hessian(self) -> np.ndarray:
        """Of the loss, float64[dim, dim]."""
        H = self.G * np.outer(self.d, self.d)
        if not self.fit_intercept:
            return H
        edge = self.d * self.f
        cross = np.outer(self.e, edge)
        H += cross + cross.T + np.outer(self.e, self.e)
        edge = (edge + self.e)[:, None]
        return np.block([[H, edge], [edge.T, np.ones((1, 1))]])

    def _shifted(self, w: np.ndarray) -> float:
        """β."""
        if not self.fit_intercept:
            return 0.0
        p = self.f.size
        return float(w[p] + self.e @ w[:p]) - self.y_mean


def worth_summing(shape: tuple[int, int]) -> bool:
    """Whether a dense X of this shape is summed when it is first looked at."""
    n, p = shape
    return n * p >= MANY and p <= FEW


def least_squares(problem: LinearProblem) -> LeastSquares:
    """The sums of a problem with the squared loss."""
    y, c, p = problem.y, problem.weights, problem.p
    d = np.ones(p) if problem.scales is None else problem.scales
    m = np.zeros(p) if problem.means is None else problem.means
    a, y_mean = m, 0.0
    if problem.fit_intercept:
        y_mean = float(c @ y)
        if problem.means is None and isinstance(problem.matrix.rows, np.ndarray):
            a = problem.matrix.rows[:FIRST].mean(axis=0, dtype=np.float64)
    r = y - y_mean
    moments = weighted_moments(
        problem.matrix, c, a, problem.threads, r, centred=problem.fit_intercept
    )
    s = float(np.einsum("i,i,i", c, r, r))
    lengths = np.sqrt(np.maximum(np.diag(moments.second), 0.0))
    if problem.matrix.is_sparse:  # some are not centred before they are summed
        whole = np.sqrt(problem.column_squares) + np.abs(a)
        lengths = np.where(is_full(problem.matrix), lengths, whole)
    return LeastSquares(
        moments.second, moments.first, moments.cross, s, lengths, y_mean, d, d * (a - m),
        problem.fit_intercept,
    )  # fmt: skip
