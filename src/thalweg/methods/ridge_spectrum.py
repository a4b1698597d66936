"""Ridge regression for many penalties from one decomposition, and what it says of rows left out.

    minimise over w   ½‖Zw − r‖² + (l2/2)‖w‖²         Z = √c∘(x̂ − x̄),  r = √c∘ρ   (`ridge_system`)

for every l2 of a grid. With ZᵀZ = VΛVᵀ for p < n, and ZZᵀ = QΛQᵀ for n ≤ p,

    w = V (Λ + l2)⁻¹ VᵀZᵀr           w = Zᵀα,   α = Q (Λ + l2)⁻¹ Qᵀr

Let eᵢ = yᵢ − xᵢᵀw − b be a residual, and hᵢ the share that yᵢ has in its own fitted value. Without
row i the model would miss it by

    eᵢ/(1 − hᵢ),        hᵢ = ‖(Λ + l2)^−½ Vᵀzᵢ‖² + cᵢ        for p < n,   cᵢ for the intercept
    αᵢ/(√cᵢ dᵢ),        dᵢ = [(ZZᵀ + l2·I)⁻¹]ᵢᵢ − cᵢ/l2        for n ≤ p

exactly, if the penalty beside the sums over the samples stays what it is: (l2 Σs)‖w‖², as in
`Ridge`. Of the second form the difference would lose all digits as l2 → 0. With an intercept
Zᵀu = 0 for u = √c, so τuuᵀ is added to ZZᵀ, which moves that eigenvalue from 0 to τ, and
cᵢ/(τ + l2) is what is taken off.

Z itself is decomposed, Z = USVᵀ, where the least l2 is so small beside Λ that the squares of Z have
lost what l2 would hold.

Cost: O(np·min(n, p)) once; O(np) for a penalty and a target.
Rifkin & Lippert, Notes on regularized least squares, MIT-CSAIL-TR-2007-025.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

from thalweg.kernels.rows import CSR
from thalweg.kernels.threads import blas_threads
from thalweg.methods.ridge_system import adjoint, combined, sample_products
from thalweg.objectives.gram import feature_gram, sample_rows
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.rows import BLOCK

SAFE = 1e-10  # of the largest eigenvalue: a smaller l2 asks for Z itself
FEW = 500  # rows of a matrix that one thread decomposes soonest
EPS = float(np.finfo(np.float64).eps)


class Spectrum(NamedTuple):
    """A decomposition: of features where p < n, else of samples."""

    squares: np.ndarray  # Λ, float64[m]
    V: np.ndarray  # float64[p, m]; empty where n ≤ p
    Q: np.ndarray  # float64[n, m]; empty where p < n
    tau: float


def spectrum(data: LinearProblem, least: float, *, is_exact: bool = False) -> Spectrum:
    """The decomposition of centred data for penalties from `least` on; of Z if `is_exact`."""
    found = None if is_exact else _of_squares(data)
    if found is None or not least >= SAFE * float(found.squares.max(initial=0.0)):
        return _of_rows(data)
    return found


def coefficients(
    data: LinearProblem, found: Spectrum, rho: np.ndarray, l2s: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """w for the targets ρ, float64[n, T], and each of `l2s`: float64[p, K·T], targets within.

    And α likewise, float64[n, K·T], empty where p < n.
    """
    shares = 1.0 / (found.squares[:, None] + l2s)
    if found.Q.size:
        r = np.sqrt(data.weights)[:, None] * rho
        alpha = found.Q @ _scaled(shares, found.Q.T @ r)
        return combined(data, alpha), alpha
    return found.V @ _scaled(shares, found.V.T @ adjoint(data, rho)), np.empty((0, 0))


def left_out(
    data: LinearProblem,
    found: Spectrum,
    residuals: np.ndarray,
    alpha: np.ndarray,
    l2s: np.ndarray,
) -> np.ndarray:
    """What each row would be missed by if it were left out, float64[n, K, T].

    `residuals`, float64[n, K·T], and `alpha` are those of `coefficients`.
    """
    shares = 1.0 / (found.squares[:, None] + l2s)
    c, shape = data.weights, (data.n, l2s.size, -1)
    if not found.Q.size:
        own = _leverages(data, found.V, shares)
        if data.fit_intercept:
            own += c[:, None]
        return residuals.reshape(shape) / np.maximum(1.0 - own, EPS)[:, :, None]
    d = np.square(found.Q) @ shares
    if data.fit_intercept:
        d -= np.multiply.outer(c, 1.0 / (found.tau + l2s))
    scale = np.sqrt(c)[:, None] * d
    # A row without weight is missed by its residual, whether it is there or not.
    there = scale > 0.0
    errors = np.divide(alpha.reshape(shape), np.where(there, scale, 1.0)[:, :, None])
    return np.where(there[:, :, None], errors, residuals.reshape(shape))


def _scaled(shares: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Every column of `targets`, float64[m, T], times every one of `shares`, as [m, K·T]."""
    return (shares[:, :, None] * targets[:, None, :]).reshape(len(targets), -1)


def _of_squares(data: LinearProblem) -> Spectrum | None:
    """From ZᵀZ or ZZᵀ; None where their entries are not finite."""
    if data.n <= data.p:
        K, tau = sample_products(data), 0.0
        if data.fit_intercept:
            tau = _tau(float(np.trace(K)), data.n)
            u = np.sqrt(data.weights)
            K += tau * np.outer(u, u)
        if not np.all(np.isfinite(K)):
            return None
        squares, Q = _eigh(K)
        return Spectrum(np.maximum(squares, 0.0), np.empty((0, 0)), Q, tau)
    G = feature_gram(data)
    if not np.all(np.isfinite(G)):
        return None
    squares, V = _eigh(G)
    return Spectrum(np.maximum(squares, 0.0), V, np.empty((0, 0)), 0.0)


def _eigh(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # A second thread of BLAS saves nothing on a small matrix; beside other work it is waited for.
    with blas_threads(1 if len(A) <= FEW else None):
        squares, vectors = np.linalg.eigh(A)
    return squares, vectors


def _of_rows(data: LinearProblem) -> Spectrum:
    """From Z."""
    Z = sample_rows(data)
    if data.p < data.n:
        R = np.linalg.qr(Z, mode="r") if data.n > 2 * data.p else Z
        _, s, Vt = scipy.linalg.svd(R, full_matrices=False, check_finite=False)
        return Spectrum(s**2, Vt.T, np.empty((0, 0)), 0.0)
    tau = 0.0
    if data.fit_intercept:
        tau = _tau(float(np.einsum("ij,ij->", Z, Z)), data.n)
        Z = np.column_stack([Z, np.sqrt(tau * data.weights)])
    U, s, _ = scipy.linalg.svd(Z, full_matrices=False, check_finite=False)
    return Spectrum(s**2, np.empty((0, 0)), U, tau)


def _tau(trace: float, n: int) -> float:
    """About an eigenvalue, so that none is lost beside it."""
    return max(trace / n, 1e-300)


def _leverages(data: LinearProblem, V: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Σⱼ (Vᵀzᵢ)ⱼ²·shareⱼ of every row, float64[n, K], a block of them at a time."""
    n, rows = data.n, max(1, BLOCK // data.p)
    own = np.empty((n, shares.shape[1]))
    X = data.matrix.rows
    # Sparse rows whose means are small beside what they vary by need not be made dense.
    is_light = isinstance(X, CSR) and data.rows.shift is None
    if is_light:
        S = scipy.sparse.csr_array(tuple(X), shape=data.matrix.shape)
        V = data.features.units[:, None] * V
        means = data.rows.means @ V if data.fit_intercept else 0.0
    for start in range(0, n, rows):
        here = slice(start, min(start + rows, n))
        if is_light:
            U = S[here] @ V - means
            U *= np.sqrt(data.weights[here])[:, None]
        else:
            U = sample_rows(data, here.start, here.stop) @ V
        np.square(U, out=U)
        own[here] = U @ shares
    return own
