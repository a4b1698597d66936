"""The system that ridge regression solves, in whichever form is smaller, and by whatever is safe.

    minimise over w   ½‖Zw − r‖² + (l2/2)‖w‖²         Z = √c∘(x̂ − x̄),  r = √c∘ρ,  ρ = y − ȳ

with an intercept; without one nothing is taken off. For p ≤ n, and for n < p with α in ℝⁿ,

    primal      (ZᵀZ + l2·I) w = Zᵀr
    dual        (ZZᵀ + l2·I) α = r,   w = Zᵀα

of which w = Zᵀα loses no digits as l2 → 0, where (g − Zᵀ(ZZᵀ + l2·I)⁻¹Zg)/l2 loses all. Both are
factorised by Cholesky: the primal one with ones on its diagonal, D^−½(·)D^−½, so that units do not
matter; the dual one with a multiple of uuᵀ added, u = √c, as Zᵀu = 0 and uᵀr = 0 with an intercept.
Several right-hand sides share the factor. A second step with it, for what the first one left of ρ,
takes back what rounding did; what is left is measured on the data, not by the matrix. Right-hand
sides are kept as ρ: Zᵀr = Σ cᵢρᵢ(x̂ᵢ − x̄) needs no root.

Where the reciprocal condition is below 10⁻¹², a factor tells too little, and w comes from Z itself:

    n < p       Z = USVᵀ                       w = V S/(S² + l2) Uᵀr
    p ≤ n       QR of (Z; √l2·I) in columns of length one, pivoted. Of all w with the least residual
                the shortest is taken, if columns depend on each other

with Z reduced to p rows first, a block of rows at a time, where n is much larger. That is the limit
of l2 → 0 where l2 = 0: the smallest of the solutions.

Cost: O(np·min(n, p)); memory min(n, p)² numbers, and Z where n < p or the second way is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

from thalweg.objectives.features import Features
from thalweg.objectives.gram import feature_gram, row_products, sample_rows
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.rows import BLOCK

SAFE = 1e-12  # reciprocal condition at least, for Cholesky's factor and a step of refinement
EPS = float(np.finfo(np.float64).eps)
PRIMAL, DUAL, ROBUST = range(3)


class System(NamedTuple):
    """A factorised system; arrays and numbers alone, so that a run can be put aside."""

    kind: int  # PRIMAL, DUAL or ROBUST
    factor: np.ndarray  # lower Cholesky factor, float64[m, m]; empty for ROBUST
    scale: np.ndarray  # D^−½, float64[p]; empty but for PRIMAL


class Solution(NamedTuple):
    """What a system was solved by."""

    w: np.ndarray  # float64[p] or [p, T]
    alpha: np.ndarray  # α of the dual system, float64[n] or [n, T]; else empty


def is_dual(data: LinearProblem) -> bool:
    """Whether the system of samples is the smaller one."""
    return data.n < data.p


def factorised(data: LinearProblem) -> System:
    """The system of a problem with the squared loss."""
    if is_dual(data):
        K = sample_products(data)
        K[np.diag_indices_from(K)] += data.l2
        if data.fit_intercept:
            u = np.sqrt(data.weights)
            K += max(float(np.trace(K)) / data.n, 1e-300) * np.outer(u, u)
        factor = _safe_factor(K)
        return System(DUAL, factor, np.empty(0)) if factor is not None else _robust()
    G = feature_gram(data)
    G[np.diag_indices_from(G)] += data.l2
    D = np.diag(G)
    if not np.all(D > 0.0):  # a constant column, or one of zeros, and no penalty
        return _robust()
    scale = 1.0 / np.sqrt(D)
    factor = _safe_factor(G * np.outer(scale, scale))
    return System(PRIMAL, factor, scale) if factor is not None else _robust()


def targets(data: LinearProblem, y: np.ndarray) -> np.ndarray:
    """ρ for targets y, float64[n] or [n, T]."""
    return _about_mean(data, y - data.weights @ y) if data.fit_intercept else y


def first_solution(data: LinearProblem, system: System, rho: np.ndarray) -> Solution:
    """The minimizer for ρ, float64[n] or [n, T]."""
    if system.kind == ROBUST:
        return Solution(_robust_solution(data, _roots(data, rho) * rho), np.empty(0))
    if system.kind == DUAL:
        alpha = _solved(system, _roots(data, rho) * rho)
        return Solution(combined(data, alpha), alpha)
    return Solution(_solved(system, adjoint(data, rho)), np.empty(0))


def refined(data: LinearProblem, system: System, rho: np.ndarray, found: Solution) -> Solution:
    """The solution after one more step."""
    if system.kind == ROBUST:
        return found
    left = _left(data, rho, found.w)
    if system.kind == DUAL:
        left *= _roots(data, left)
        alpha = found.alpha + _solved(system, left - data.l2 * found.alpha)
        return Solution(combined(data, alpha), alpha)
    return Solution(found.w + _solved(system, adjoint(data, left) - data.l2 * found.w), found.alpha)


def best_intercept(data: LinearProblem, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """b = ȳ − x̄ᵀw, float64[] or [T]."""
    return data.weights @ y - model_means(data) @ w


def model_means(data: LinearProblem) -> np.ndarray:
    """The mean of the features as the model sees them: zero where it takes them about that."""
    if not data.fit_intercept:
        return np.zeros(data.p)
    return data.features.units * data.rows.mean_about(data.features.origin)


def _solved(system: System, rhs: np.ndarray) -> np.ndarray:
    """The solution for a right-hand side, float64[m] or [m, T], by the factor."""
    if system.kind == DUAL:
        return scipy.linalg.cho_solve((system.factor, True), rhs, check_finite=False)
    scale = system.scale if rhs.ndim == 1 else system.scale[:, None]
    inner = scipy.linalg.cho_solve((system.factor, True), scale * rhs, check_finite=False)
    return scale * inner


def _left(data: LinearProblem, rho: np.ndarray, w: np.ndarray) -> np.ndarray:
    """ρ − (x̂ − x̄)w, float64[n] or [n, T], fresh."""
    features = _seen_as(data, w)
    fitted = data.rows.product(*features.enter(features.join(w, np.zeros(w.shape[1:]))))
    return _about_mean(data, np.subtract(rho, _about_mean(data, fitted), out=fitted))


def adjoint(data: LinearProblem, rho: np.ndarray) -> np.ndarray:
    """Zᵀ(√c∘ρ), float64[p] or [p, T]."""
    return _seen_as(data, rho).leave(*data.rows.transpose(rho))


def combined(data: LinearProblem, alpha: np.ndarray) -> np.ndarray:
    """Zᵀα, float64[p] or [p, T]."""
    roots = _roots(data, alpha)
    rho = np.divide(alpha, roots, out=np.zeros_like(alpha), where=roots > 0.0)
    return adjoint(data, _about_mean(data, rho))


def _about_mean(data: LinearProblem, rho: np.ndarray) -> np.ndarray:
    """ρ less its mean, in place: Z is centred, and so means cancel before they are summed."""
    if data.fit_intercept:
        rho -= data.weights @ rho
    return rho


def _seen_as(data: LinearProblem, vectors: np.ndarray) -> Features:
    """The features for one score, or for as many as there are vectors."""
    if vectors.ndim == 1:
        return data.features
    return data.features.with_outputs(vectors.shape[1], is_matrix=True)


def _roots(data: LinearProblem, like: np.ndarray) -> np.ndarray:
    """√c, as a column where there are several vectors."""
    roots = np.sqrt(data.weights)
    return roots if like.ndim == 1 else roots[:, None]


def _robust_solution(data: LinearProblem, r: np.ndarray) -> np.ndarray:
    """w, float64[p] or [p, T], from Z itself."""
    if is_dual(data):
        U, s, Vt = scipy.linalg.svd(sample_rows(data), full_matrices=False, check_finite=False)
        kept = s > EPS * max(data.n, data.p) * s[0]
        shares = np.zeros_like(s)
        shares[kept] = s[kept] / (s[kept] ** 2 + data.l2)
        return Vt.T @ (shares * (U.T @ r).T).T
    A, left = _reduced(data, r.reshape(data.n, -1))
    if data.l2 > 0.0:
        A = np.vstack([A, np.sqrt(data.l2) * np.eye(data.p)])
        left = np.vstack([left, np.zeros((data.p, left.shape[1]))])
    return _shortest(A, left).reshape(data.p, *r.shape[1:])


def _shortest(A: np.ndarray, r: np.ndarray) -> np.ndarray:
    """The shortest of all w with the least ‖Aw − r‖, for every column of r, float64[p, T]."""
    lengths = np.sqrt(np.einsum("ij,ij->j", A, A))
    units = np.where(lengths > 0.0, 1.0 / np.where(lengths > 0.0, lengths, 1.0), 1.0)
    Q, R, order = scipy.linalg.qr(A * units, mode="economic", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(R))
    rank = int(np.sum(sizes > EPS * max(A.shape) * max(float(sizes[0]), EPS)))
    w = np.zeros((A.shape[1], r.shape[1]))
    top = R[:rank, :rank]
    w[order[:rank]] = scipy.linalg.solve_triangular(top, Q[:, :rank].T @ r, check_finite=False)
    w *= units[:, None]
    if rank < A.shape[1]:
        # What may be added without changing Aw: columns that the first ones make up.
        N = np.zeros((A.shape[1], A.shape[1] - rank))
        made_of = scipy.linalg.solve_triangular(top, R[:rank, rank:], check_finite=False)
        N[order[:rank]] = -made_of
        N[order[rank:]] = np.eye(A.shape[1] - rank)
        basis = np.linalg.qr(units[:, None] * N)[0]
        w -= basis @ (basis.T @ w)
    return w


def _reduced(data: LinearProblem, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Z and r, or p + T rows with the same normal equations, a block of rows at a time."""
    if data.n <= 2 * (data.p + r.shape[1]):
        return sample_rows(data), r
    width = data.p + r.shape[1]
    block = max(width, BLOCK // width)
    top = np.zeros((0, width))
    for start in range(0, data.n, block):
        stop = min(start + block, data.n)
        rows = np.hstack([sample_rows(data, start, stop), r[start:stop]])
        top = np.asarray(np.linalg.qr(np.vstack([top, rows]), mode="r"))
    return top[:, : data.p], top[:, data.p :]


def _safe_factor(A: np.ndarray) -> np.ndarray | None:
    """The lower Cholesky factor of A, unless A is nearly singular."""
    if not np.all(np.isfinite(A)):
        return None
    norm = float(np.abs(A).sum(axis=0).max())
    factor, info = scipy.linalg.lapack.dpotrf(A, lower=1, clean=1)
    if info != 0:
        return None
    rcond, _ = scipy.linalg.lapack.dpocon(factor, norm, uplo="L")
    return factor if rcond >= SAFE else None


def _robust() -> System:
    return System(ROBUST, np.empty((0, 0)), np.empty(0))


def sample_products(data: LinearProblem) -> np.ndarray:
    """ZZᵀ, float64[n, n]; a sparse X stays so."""
    c = data.weights
    roots = np.sqrt(c)
    if not data.fit_intercept:
        return row_products(data.features) * np.outer(roots, roots)
    K = row_products(data.features.centred)
    # About the mean but for its rounding, which a large mean makes large: about it once more.
    with_mean = K @ c
    return (K - with_mean[:, None] - with_mean + float(c @ with_mean)) * np.outer(roots, roots)
