"""All that the squared loss knows of the data: F and its slopes from sums, without another look.

    ½ Σᵢ cᵢ (xᵢᵀw + b − yᵢ)² = ½ (uᵀGu + β² + s) + β (fᵀu − h) − qᵀu

    G = Σ cᵢ(xᵢ − a)(xᵢ − a)ᵀ    f = Σ cᵢ(xᵢ − a)     q = Σ cᵢ(xᵢ − a)(yᵢ − ȳ)     s = Σ cᵢ(yᵢ − ȳ)²
    u = d∘w                      β = b + eᵀw − ȳ      e = d∘(a − m)                 h = Σ cᵢ(yᵢ − ȳ)

with m and d the means and scales of a standardized problem (0 and 1 elsewhere). Any a and ȳ make it
true. With an intercept they are near the means, which keeps the digits that large means would cost;
without one, a = 0, ȳ = 0 and β = 0.

Cost: one pass of O(np²) with BLAS, then O(p²) a point; memory p² numbers. Where the loss is small
beside s, its digits are lost in the difference: `sizes` tells how many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thalweg.core.vector import dot
from thalweg.objectives.gram import weighted_moments
from thalweg.objectives.matrix import Matrix
from thalweg.objectives.rows import Rows

if TYPE_CHECKING:
    from thalweg.objectives.features import Features
    from thalweg.objectives.linear import LinearProblem

SOME = 1_000  # rows, from all over, whose mean is a: anything near the means will do
FAR = 0.9  # of a second moment: a mean this far from a
TINY = float(np.finfo(np.float64).tiny)
MANY = 1_000_000  # entries of X from which a look at them is worth saving
FEW = 100  # features up to which the sums take little longer than a look


class LeastSquares(NamedTuple):
    """The sums over the samples of one problem."""

    G: np.ndarray  # float64[p, p]
    f: np.ndarray  # float64[p]
    q: np.ndarray  # float64[p]
    s: float
    h: float  # what the rounding of ȳ has left
    lengths: np.ndarray  # √Σ cᵢ(xᵢ − a)², of the terms that it was computed from, float64[p]
    y_mean: float  # ȳ, of targets that y_origin was taken off
    y_origin: float
    a: np.ndarray  # float64[p]
    d: np.ndarray  # float64[p]
    e: np.ndarray  # float64[p]
    fit_intercept: bool

    @property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the variance of every column, float64[p] each."""
        with np.errstate(invalid="ignore", over="ignore"):  # squares may overflow
            return self.a + self.f, np.diag(self.G) - self.f**2

    def of(self, features: Features, y_origin: float) -> LeastSquares:
        """The same sums for features and targets about another origin, in other units."""
        y_mean = self.y_mean + (self.y_origin - y_origin)
        e = features.units * (self.a - features.place)
        return self._replace(d=features.units, e=e, y_mean=y_mean, y_origin=y_origin)

    def loss_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """½ Σ cᵢ(zᵢ − yᵢ)² and its gradient, float64[dim], at `w`, float64[dim]."""
        p = self.f.size
        u, beta = self.d * w[:p], self._shifted(w)
        Gu, fu = self.G @ u, float(self.f @ u)
        fu -= self.h if self.fit_intercept else 0.0
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
        p, edge = self.f.size, self.d * self.f
        H = np.ones((p + self.fit_intercept, p + self.fit_intercept))
        within = H[:p, :p]
        np.multiply(self.G, np.outer(self.d, self.d), out=within)
        if self.fit_intercept:
            if self.e.any():  # not about the point that they were summed about
                cross = np.outer(self.e, edge)
                within += cross + cross.T + np.outer(self.e, self.e)
            H[:p, p] = H[p, :p] = edge + self.e
        return H

    def reduced(self) -> tuple[np.ndarray, np.ndarray, float]:
        """H, q and s of the loss with the best b for each w: ½(wᵀHw + s) − qᵀw."""
        if not self.fit_intercept:
            return self.G * np.outer(self.d, self.d), self.d * self.q, self.s
        H = (self.G - np.outer(self.f, self.f)) * np.outer(self.d, self.d)
        return H, self.d * (self.q - self.h * self.f), max(0.0, self.s - self.h**2)

    def best_intercepts(self, W: np.ndarray) -> np.ndarray:
        """The best b of each row of W, float64[K, p]."""
        return self.y_mean + self.h - W @ (self.d * self.f) - W @ self.e

    def _shifted(self, w: np.ndarray) -> float:
        """β."""
        if not self.fit_intercept:
            return 0.0
        p = self.f.size
        return float(w[p] + self.e @ w[:p]) - self.y_mean


def worth_summing(matrix: Matrix) -> bool:
    """Whether X is summed when it is first looked at."""
    n, p = matrix.shape
    return not matrix.is_sparse and n * p >= MANY and p <= FEW


def least_squares(
    matrix: Matrix,
    c: np.ndarray,
    y: np.ndarray,
    fit_intercept: bool,
    threads: int | None,
    rows: Rows | None = None,
    y_origin: float = 0.0,
) -> LeastSquares:
    """The sums for targets y, float64[n], of features as they are; `rows` if those are measured.

    y_origin was taken off the targets.
    """
    p = matrix.shape[1]
    a, y_mean = np.zeros(p), 0.0
    if fit_intercept:
        y_mean = dot(c, y)
        if rows is not None:
            a = rows.means
        elif isinstance(matrix.rows, np.ndarray):
            some = slice(None, None, max(1, matrix.shape[0] // SOME))
            # By rows, so that the order of X in memory does not tell; not by BLAS, as in `dot`.
            taken = np.ascontiguousarray(matrix.rows[some], dtype=np.float64)
            a = np.einsum("i,ij->j", c[some], taken) / max(float(c[some].sum()), TINY)
    r = y - y_mean
    moments = weighted_moments(matrix, c, a, threads, r, centred=fit_intercept)
    if rows is None and np.any(moments.first**2 > FAR * np.diag(moments.second)):
        a = a + moments.first  # a difference of squares would lose the digits of a variance
        moments = weighted_moments(matrix, c, a, threads, r, centred=fit_intercept)
    s, h = float(np.einsum("i,i,i", c, r, r)), dot(c, r)
    lengths = np.sqrt(np.maximum(np.diag(moments.second), 0.0))
    if matrix.is_sparse and rows is not None:  # some are not centred before they are summed
        lengths = np.maximum(lengths, rows.lengths)
    return LeastSquares(
        moments.second, moments.first, moments.cross, s, h, lengths, y_mean, y_origin, a,
        np.ones(p), a, fit_intercept,
    )  # fmt: skip


def with_targets(problem: LinearProblem, Y: np.ndarray) -> list[LeastSquares]:
    """The sums of `problem` for each column of Y, float64[n, T], in its place: one pass for all."""
    sums, c, rows = problem.least_squares, problem.weights, problem.rows
    means = c @ Y if problem.fit_intercept else np.zeros(Y.shape[1])
    R = Y - means
    Q, totals = rows.transpose(R)
    shift = np.zeros(problem.p) if rows.shift is None else rows.shift
    Q += np.outer(shift - sums.a, totals)
    squares = np.einsum("i,ik,ik->k", c, R, R)
    return [
        sums._replace(
            q=Q[:, k].copy(),
            s=float(squares[k]),
            h=float(totals[k]),
            y_mean=float(means[k]),
            y_origin=0.0,
        )
        for k in range(Y.shape[1])
    ]
