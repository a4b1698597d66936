"""Gram matrices of a linear problem's features, centred and weighted, a block of rows at a time.

    G = Σᵢ cᵢ (xᵢ − m)(xᵢ − m)ᵀ           p × p, for p ≤ n
    K = [√(cᵢcⱼ) (xᵢ − m)ᵀ(xⱼ − m)]       n × n, for n < p

in the features that the model sees (scaled, if it standardizes); m is their weighted mean with an
intercept and 0 without. They share their non-zero eigenvalues. Centring before the product keeps
the digits that G − mmᵀ would lose when means are large; a sparse X cannot be centred without
filling it, and pays that price.

Cost: O(np·min(n, p)) with BLAS; memory of the result and one block of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse

from thalweg.kernels.rows import CSR
from thalweg.objectives.matrix import Matrix

if TYPE_CHECKING:
    from thalweg.objectives.linear import LinearProblem

BLOCK = 2_000_000  # entries of a block of rows


class Moments(NamedTuple):
    """Weighted sums over the samples, of features shifted by m."""

    second: np.ndarray  # Σ hᵢ(xᵢ − m)(xᵢ − m)ᵀ, float64[p, p]
    first: np.ndarray  # Σ hᵢ(xᵢ − m), float64[p]
    total: float  # Σ hᵢ


def weighted_moments(matrix: Matrix, h: np.ndarray, shift: np.ndarray) -> Moments:
    """The moments of the rows with weights h ≥ 0, in the units of X."""
    X, (n, p) = matrix.rows, matrix.shape
    total = float(h.sum())
    if isinstance(X, CSR):
        sparse = _scipy(X, matrix.shape)
        second, first = (sparse.T @ sparse.multiply(h[:, None])).toarray(), sparse.T @ h
        cross = np.outer(shift, first)
        second += total * np.outer(shift, shift) - cross - cross.T
        return Moments(second, first - total * shift, total)
    second, first = np.zeros((p, p)), np.zeros(p)
    rows = max(1, BLOCK // p)
    for start in range(0, n, rows):
        block = X[start : start + rows].astype(np.float64) - shift
        first += h[start : start + rows] @ block
        block *= np.sqrt(h[start : start + rows])[:, None]
        second += block.T @ block
    return Moments(second, first, total)


def feature_gram(problem: LinearProblem) -> np.ndarray:
    """G, float64[p, p]."""
    G = weighted_moments(problem.matrix, problem.weights, weighted_means(problem)).second
    return G if problem.scales is None else G * np.outer(problem.scales, problem.scales)


def sample_rows(problem: LinearProblem) -> np.ndarray:
    """√cᵢ(xᵢ − m), the rows whose products are K, float64[n, p]."""
    X = problem.matrix.rows
    dense = _scipy(X, problem.matrix.shape).toarray() if isinstance(X, CSR) else X
    Z = dense.astype(np.float64) - weighted_means(problem)
    Z *= np.sqrt(problem.weights)[:, None]
    if problem.scales is not None:
        Z *= problem.scales
    return Z


def weighted_means(problem: LinearProblem) -> np.ndarray:
    """m in the units of X, float64[p]; zero without an intercept."""
    if not problem.fit_intercept:
        return np.zeros(problem.p)
    if problem.means is not None:
        return problem.means
    return problem.transpose(np.ones(problem.n))


def _scipy(X: CSR, shape: tuple[int, int]) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array((X.data.astype(np.float64), X.indices, X.indptr), shape=shape)
