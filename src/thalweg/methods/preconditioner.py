"""Preconditioners: a matrix M near ∇²f whose inverse is cheap, for conjugate gradients.

    on any objective                M = I
    on a linear problem             M = ∇²f as if its features did not vary together, for one pass
    on a large one of p ≪ n         M = ∇²f with Σᵢ hᵢx̃ᵢx̃ᵢᵀ estimated from about 5p of its rows

With h = Σhᵢ and m = Σhᵢx̂ᵢ/h, the mean of the rows that are curved there,

    ∇²f = Σᵢ hᵢ(x̂ᵢ − m)(x̂ᵢ − m)ᵀ + l2·I + h·mmᵀ        M = D + h·mmᵀ

where D is the diagonal of the first two. That is what centring does for an intercept, done for
features that have none and for intercepts that are penalised: where means are not 0, all features
vary together about 0, and the diagonal of ∇²f took twice the products on documents of words. An
intercept is one more feature, of mean 1 and no variance. M⁻¹ costs two products of vectors. Of K
classes M is the diagonal alone.

A row is drawn with chance qᵢ ∝ hᵢsᵢ, at most 1, and counts hᵢ/qᵢ, where sᵢ = Σⱼ x̃ᵢⱼ²/Σₗ cₗx̃ₗⱼ² is
its size in the units of the features. No row weighs more than another then, and a few per feature
suffice, however badly the features are conditioned. For K classes ∇²f has K² blocks of p × p. With

    B = the blocks Σᵢ cᵢpᵢₖ(1 − pᵢₖ)x̃ᵢx̃ᵢᵀ + l2·I on the diagonal, each from rows of its own
    Q = the mean over the classes                      P = I − Q

it is M⁻¹ = PB⁻¹P + Q/l2. Adding one vector to the weights of all classes changes no probability, so
that ∇²f = l2·I on the range of Q, and ∇²f keeps to the range of P. B alone does neither: it took
ten times the products on the 60,000 digits of MNIST. Where ∇²f·Q = 0, without l2 and for the
intercepts, ∇f has no part there either, and Q/l2 is left out.

What the rows do not show is guessed: a share of the diagonal is added to it, which bounds the
eigenvalues of M⁻¹∇²f, and a feature that is zero in all of them is taken to be as curved as the
average sample, Σhᵢ·Σcᵢxᵢⱼ².

Cost: 5p³K multiplications in single precision and K factorisations, 2 to 5 passes where p² ≪ n;
memory 4p²K bytes.
Xu, Yang, Roosta-Khorasani, Ré & Mahoney, Sub-sampled Newton methods with non-uniform sampling,
NeurIPS 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from thalweg.core.vector import dot
from thalweg.kernels.leaves import each_leaf, leaf_edges, with_blas
from thalweg.kernels.linear import quadratics_pass
from thalweg.methods.newton import LARGE, MOST_VARIABLES, TINY
from thalweg.methods.problem import Hessian, Problem
from thalweg.objectives.gram import rough_gram
from thalweg.objectives.linear import LinearProblem

ROWS_A_FEATURE = 5  # rows of a sample
SHARE = 16  # one of so many rows at least: next to nothing where features are few
DAMPING = 0.005  # times features over rows: the share of the diagonal that is added to it
SURE = 1e-12  # of what a feature has about 0: the least that it has about its mean
ROUNDING = 1e-6  # times the features: the same at least, for sums in single precision
# Times the entries of X: multiplications for a block at most. A pass takes as long as 25 of them an
# entry, BLAS being so much faster than reading.
MOST_WORK = 250

Precondition = Callable[[np.ndarray], np.ndarray]  # r to M⁻¹r


@dataclass(frozen=True, eq=False)
class AboutMean:
    """M⁻¹ where M = diag(D) + h·m̃m̃ᵀ, with m̃ = (m, 1) where there is an intercept."""

    D: np.ndarray  # float64[p]
    mean: np.ndarray  # m, float64[p]
    total: float  # h
    fit_intercept: bool

    def __call__(self, r: np.ndarray) -> np.ndarray:
        """M⁻¹r, float64[dim]."""
        D, m, p = self.D, self.mean, self.D.size
        if self.total <= 0.0:
            return r / (np.append(D, D.max()) if self.fit_intercept else D)
        if self.fit_intercept:  # its row says b + mᵀw = r_b/h, and what is left is diagonal
            w = (r[:p] - r[p] * m) / D
            return np.append(w, r[p] / self.total - dot(m, w))
        w, a = r / D, m / D
        return w - dot(m, w) / (1.0 / self.total + dot(m, a)) * a


@dataclass(frozen=True, eq=False)
class Blocks:
    """M⁻¹ from one block of p × p a class, p + 1 with an intercept."""

    problem: LinearProblem
    roots: np.ndarray  # D^½, D the diagonal of B, float64[K, p]
    factors: np.ndarray  # lower Cholesky factors of D^−½BD^−½, float32[K, p, p]

    def __call__(self, r: np.ndarray) -> np.ndarray:
        """M⁻¹r, float64[dim]."""
        problem, (K, p) = self.problem, self.roots.shape
        R = np.ascontiguousarray(r.reshape(p, K).T, dtype=np.float64)
        shared = R.mean(axis=0)
        if K > 1:
            R -= shared
        Z = np.empty_like(R)

        def solve(first: int, last: int) -> None:
            for k in range(first, last):
                scaled = (R[k] / self.roots[k]).astype(np.float32)
                part = scipy.linalg.cho_solve((self.factors[k], True), scaled, check_finite=False)
                Z[k] = part / self.roots[k]

        with_blas(each_leaf, solve, leaf_edges(K, self.factors.size), problem.threads)
        if K > 1:
            Z -= Z.mean(axis=0)
            if problem.l2 > 0.0:
                Z[:, : problem.p] += shared[: problem.p] / problem.l2
        return Z.T.ravel()


def preconditioner(problem: Problem, hessian: Hessian, rng: np.random.Generator) -> Precondition:
    """The nearest M that pays."""
    curvatures = hessian.curvatures()
    if curvatures is None:
        return lambda r: r
    if pays(problem.smooth):
        return sampled_blocks(problem, curvatures.reshape(problem.smooth.n, -1), rng)
    data: LinearProblem = problem.smooth
    if curvatures.ndim > 1:
        M = hessian.diagonal()
        assert M is not None  # where there are curvatures there is a diagonal
        M = np.where(M > 0.0, M, M.max() or 1.0)
        return lambda r: r / M
    if data.loss == "squared":  # the same everywhere, and about the mean of all rows at hand
        if data.features.is_centred and data.fit_intercept:
            M = data.curvature_diagonal
            return lambda r: r / M
        return problem.kept("about mean", lambda: about_mean(data, hessian))
    return about_mean(data, hessian)


def about_mean(data: LinearProblem, hessian: Hessian) -> Precondition:
    """M as if features did not vary together, of a problem with one score."""
    second, mean, total = hessian.about_mean()
    D, full = second + data.l2, second + data.l2 + total * mean**2
    # A difference that is rounding says nothing, and no curvature at all is as much as the most.
    D = np.maximum(D, SURE * full)
    return AboutMean(np.where(D > 0.0, D, full.max() or 1.0), mean, total, data.fit_intercept)


def pays(data: LinearProblem) -> bool:
    """Whether sampled blocks take a few passes at most, and no more room than X."""
    p, entries = data.p + data.fit_intercept, data.matrix.entries
    return (
        entries >= LARGE
        and p <= MOST_VARIABLES
        and data.outputs * p * p <= entries
        and rows_of_a_sample(data) * p * p <= MOST_WORK * entries
    )


def rows_of_a_sample(data: LinearProblem) -> int:
    """About how many rows a block is estimated from."""
    return min(data.n, max(ROWS_A_FEATURE * (data.p + data.fit_intercept), data.n // SHARE))


def sampled_blocks(problem: Problem, h: np.ndarray, rng: np.random.Generator) -> Blocks:
    """M for a linear problem whose samples have the curvatures `h`, float64[n, K]."""
    data: LinearProblem = problem.smooth
    p, K, count = data.p + data.fit_intercept, h.shape[1], rows_of_a_sample(data)
    damping = max(DAMPING * p / count, ROUNDING * p)
    l2 = np.full(p, data.l2)
    l2[data.p :] = 0.0  # of the intercept
    bound = problem.kept("curvature diagonal", lambda: data.curvature_diagonal)[::K]
    sizes = problem.kept("sizes of rows", lambda: _sizes(data))
    roots, factors = np.empty((K, p)), np.empty((K, p, p), dtype=np.float32)
    for k in range(K):
        rows, chances = _draw(h[:, k] * sizes, count, rng)
        G = rough_gram(data, rows, h[rows, k] / chances)
        problem.passes += len(rows) / data.n
        D = np.diag(G)
        unseen = (bound - l2) * (float(h[:, k].sum()) / data.curvature_bound) + l2
        D = np.where(D > 0.0, (1.0 + damping) * D + l2, unseen)
        D = np.where(D > 0.0, D, D.max() or 1.0)  # no curvature, and no l2
        G[np.diag_indices(p)] = D
        roots[k] = np.sqrt(D)
        factors[k] = G / np.outer(roots[k], roots[k])

    def factorise(first: int, last: int) -> None:
        for k in range(first, last):
            factors[k] = scipy.linalg.cholesky(factors[k], lower=True, check_finite=False)

    with_blas(each_leaf, factorise, leaf_edges(K, factors.size), data.threads)
    return Blocks(data, roots, factors)


def _sizes(data: LinearProblem) -> np.ndarray:
    """sᵢ, float64[n]."""
    features, rows = data.features, data.rows
    X, sizes = rows.seen, np.empty(data.n)
    squares = rows.squares_about(features.origin)
    # Σⱼ (xⱼ − sⱼ + tⱼ)²/squaresⱼ, without a copy of what is shifted.
    u = 1.0 / np.where(squares > 0.0, squares, 1.0)
    t = np.zeros(data.p) if features.offset is None else features.offset
    v = 2.0 * u * t
    rows.each(lambda start, stop: quadratics_pass(X, u, v, start, stop, sizes))
    return np.maximum(sizes + float(u @ t**2), 0.0) + data.fit_intercept


def _draw(sizes: np.ndarray, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """About `count` rows, int64, in proportion to their sizes, and the chance that each had."""
    if count >= sizes.size:
        return np.arange(sizes.size), np.ones(sizes.size)
    chances = count * sizes / max(float(sizes.sum()), TINY)
    rows = np.flatnonzero(rng.random(sizes.size) < chances)
    return rows, np.minimum(chances[rows], 1.0)
