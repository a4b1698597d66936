"""A row of a matrix, dense or CSR: what every linear kernel does with one.

    row_dot(X, i, w)               xᵢᵀw, summed in float64
    row_axpy(X, i, a, g)           g ← g + a·xᵢ
    row_square(X, i)               ‖xᵢ‖²
    row_quadratic(X, i, u, v)      Σⱼ uⱼxᵢⱼ² + vⱼxᵢⱼ
    row_add_squares(X, i, a, g)    gⱼ ← gⱼ + a·xᵢⱼ²

and for K classes, W of shape [p, K],

    row_scores(X, i, W, b, out)    out = Wᵀxᵢ + b
    row_add_outer(X, i, r, G)      G ← G + xᵢrᵀ

A kernel that takes `X` and uses only these serves both storages from one source: Numba picks the
form by the type of `X`, a dense array (any order) or the NamedTuple `CSR`, when it compiles.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

# Sums may be reordered, which lets them run in vector registers; NaN and infinity stay themselves.
FAST_SUM = {"reassoc", "contract", "arcp", "nsz"}


class CSR(NamedTuple):
    """A sparse matrix by rows."""

    data: np.ndarray  # the entries, float[nnz]
    indices: np.ndarray  # their columns, int[nnz]
    indptr: np.ndarray  # where each row begins, int[n + 1]


def row_dot(X, i, w):
    """xᵢᵀw in float64; only for use inside kernels."""
    raise NotImplementedError


def row_axpy(X, i, a, g):
    """g ← g + a·xᵢ in place; only for use inside kernels."""
    raise NotImplementedError


def row_square(X, i):
    """‖xᵢ‖² in float64; only for use inside kernels."""
    raise NotImplementedError


def row_quadratic(X, i, u, v):
    """Σⱼ uⱼxᵢⱼ² + vⱼxᵢⱼ in float64; only for use inside kernels."""
    raise NotImplementedError


def row_add_squares(X, i, a, g):
    """gⱼ ← gⱼ + a·xᵢⱼ² in place; only for use inside kernels."""
    raise NotImplementedError


def row_scores(X, i, W, b, out):
    """out = Wᵀxᵢ + b in place; only for use inside kernels."""
    raise NotImplementedError


def row_add_outer(X, i, r, G):
    """G ← G + xᵢrᵀ in place; only for use inside kernels."""
    raise NotImplementedError


@overload(row_dot, jit_options={"fastmath": FAST_SUM})
def _row_dot(X, i, w):
    if isinstance(X, types.Array):

        def dense(X, i, w):
            total = 0.0
            for j in range(X.shape[1]):
                total += np.float64(X[i, j]) * np.float64(w[j])
            return total

        return dense

    def csr(X, i, w):
        total = 0.0
        for k in range(X.indptr[i], X.indptr[i + 1]):
            total += np.float64(X.data[k]) * np.float64(w[X.indices[k]])
        return total

    return csr


@overload(row_axpy, jit_options={"fastmath": FAST_SUM})
def _row_axpy(X, i, a, g):
    if isinstance(X, types.Array):

        def dense(X, i, a, g):
            for j in range(X.shape[1]):
                g[j] += a * X[i, j]

        return dense

    def csr(X, i, a, g):
        for k in range(X.indptr[i], X.indptr[i + 1]):
            g[X.indices[k]] += a * X.data[k]

    return csr


@overload(row_square, jit_options={"fastmath": FAST_SUM})
def _row_square(X, i):
    if isinstance(X, types.Array):

        def dense(X, i):
            total = 0.0
            for j in range(X.shape[1]):
                total += np.float64(X[i, j]) * np.float64(X[i, j])
            return total

        return dense

    def csr(X, i):
        total = 0.0
        for k in range(X.indptr[i], X.indptr[i + 1]):
            total += np.float64(X.data[k]) * np.float64(X.data[k])
        return total

    return csr


@overload(row_quadratic, jit_options={"fastmath": FAST_SUM})
def _row_quadratic(X, i, u, v):
    if isinstance(X, types.Array):

        def dense(X, i, u, v):
            total = 0.0
            for j in range(X.shape[1]):
                total += X[i, j] * (u[j] * X[i, j] + v[j])
            return total

        return dense

    def csr(X, i, u, v):
        total = 0.0
        for k in range(X.indptr[i], X.indptr[i + 1]):
            x, j = X.data[k], X.indices[k]
            total += x * (u[j] * x + v[j])
        return total

    return csr


@overload(row_add_squares, jit_options={"fastmath": FAST_SUM})
def _row_add_squares(X, i, a, g):
    if isinstance(X, types.Array):

        def dense(X, i, a, g):
            for j in range(X.shape[1]):
                g[j] += a * X[i, j] * X[i, j]

        return dense

    def csr(X, i, a, g):
        for k in range(X.indptr[i], X.indptr[i + 1]):
            g[X.indices[k]] += a * X.data[k] * X.data[k]

    return csr


@overload(row_scores, jit_options={"fastmath": FAST_SUM})
def _row_scores(X, i, W, b, out):
    if isinstance(X, types.Array):

        def dense(X, i, W, b, out):
            for k in range(out.size):
                out[k] = b[k]
            for j in range(X.shape[1]):
                x = np.float64(X[i, j])
                for k in range(out.size):
                    out[k] += x * W[j, k]

        return dense

    def csr(X, i, W, b, out):
        for k in range(out.size):
            out[k] = b[k]
        for e in range(X.indptr[i], X.indptr[i + 1]):
            x, j = np.float64(X.data[e]), X.indices[e]
            for k in range(out.size):
                out[k] += x * W[j, k]

    return csr


@overload(row_add_outer, jit_options={"fastmath": FAST_SUM})
def _row_add_outer(X, i, r, G):
    if isinstance(X, types.Array):

        def dense(X, i, r, G):
            for j in range(X.shape[1]):
                x = np.float64(X[i, j])
                for k in range(r.size):
                    G[j, k] += x * r[k]

        return dense

    def csr(X, i, r, G):
        for e in range(X.indptr[i], X.indptr[i + 1]):
            x, j = np.float64(X.data[e]), X.indices[e]
            for k in range(r.size):
                G[j, k] += x * r[k]

    return csr
