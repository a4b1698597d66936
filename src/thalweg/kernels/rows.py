"""A row of a matrix, dense or CSR: what every linear kernel does with one.

    row_dot(X, i, w)               xᵢᵀw, summed in float64
    row_axpy(X, i, a, g)           g ← g + a·xᵢ
    row_square(X, i)               ‖xᵢ‖²
    row_quadratic(X, i, u, v)      Σⱼ uⱼxᵢⱼ² + vⱼxᵢⱼ
    row_add_squares(X, i, a, g)    gⱼ ← gⱼ + a·xᵢⱼ²

for K classes, W of shape [p, K],

    row_scores(X, i, W, b, out)    out = Wᵀxᵢ + b
    row_add_outer(X, i, r, G)      G ← G + xᵢrᵀ

A kernel that takes `X` and uses only these serves all storages from one source: Numba picks the
form by the type of `X` when it compiles:

    an array               dense, any order
    Centred                dense, entries x − m taken so while they are read
    Standardized           dense, entries (x − m)·d likewise
    CSR                    sparse
    ScaledCSR              sparse, entries x·d: a shift would fill the zeros

A loop sums, and stores nothing, or it stores, and sums nothing: before a loop that does both the
compiler asks where its arrays lie, and takes another order of summation where they lie close.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from thalweg.kernels.compile import INNER

# Sums may be reordered, which lets them run in vector registers; NaN and infinity stay themselves.
FAST_SUM = {"reassoc", "contract", "arcp", "nsz"}


INLINE: Any = {"fastmath": FAST_SUM, **INNER}


class CSR(NamedTuple):
    """A sparse matrix by rows."""

    data: np.ndarray  # the entries, float[nnz]
    indices: np.ndarray  # their columns, int[nnz]
    indptr: np.ndarray  # where each row begins, int[n + 1]


class Centred(NamedTuple):
    """A dense matrix, seen about the mean of every column."""

    values: np.ndarray  # float[n, p]
    means: np.ndarray  # m, float64[p]


class Standardized(NamedTuple):
    """A dense matrix, seen with mean 0 and deviation 1 in every column."""

    values: np.ndarray  # float[n, p]
    means: np.ndarray  # m, float64[p]
    scales: np.ndarray  # d, float64[p]


class ScaledCSR(NamedTuple):
    """A sparse matrix by rows, seen with deviation 1 in every column."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    scales: np.ndarray  # d, float64[p]


def is_sparse(X):
    """Whether only some entries of a row are stored."""
    return isinstance(X, CSR | ScaledCSR)


def entry(X, i, j):
    """xᵢⱼ of a dense matrix in float64; only for use inside kernels."""
    raise NotImplementedError


def stored(X, k):
    """The k-th stored entry of a sparse matrix in float64; only for use inside kernels."""
    raise NotImplementedError


def columns(X):
    """The number of columns of a dense matrix; only for use inside kernels."""
    raise NotImplementedError


# Indices are taken as unsigned below: of a signed one Numba asks first whether it counts from the
# end, which made passes over sparse rows take twice as long.


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


def is_dense_type(X):
    """Whether a Numba type is that of a dense matrix; for overloads, while they compile."""
    return isinstance(X, types.Array) or X.instance_class in (Centred, Standardized)


@overload(entry, jit_options=INLINE)
def _entry(X, i, j):
    if isinstance(X, types.Array):
        return lambda X, i, j: np.float64(X[i, j])
    if X.instance_class is Centred:
        return lambda X, i, j: X.values[i, j] - X.means[j]
    return lambda X, i, j: (X.values[i, j] - X.means[j]) * X.scales[j]


@overload(stored, jit_options=INLINE)
def _stored(X, k):
    if X.instance_class is CSR:
        return lambda X, k: np.float64(X.data[k])
    return lambda X, k: X.data[k] * X.scales[np.uint64(X.indices[k])]


@overload(columns, jit_options=INLINE)
def _columns(X):
    if isinstance(X, types.Array):
        return lambda X: X.shape[1]
    return lambda X: X.values.shape[1]


@overload(row_dot, jit_options=INLINE)
def _row_dot(X, i, w):
    if is_dense_type(X):

        def dense(X, i, w):
            total = 0.0
            for j in range(columns(X)):
                total += entry(X, i, j) * np.float64(w[j])
            return total

        return dense

    def csr(X, i, w):
        total = 0.0
        for k in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
            total += stored(X, k) * np.float64(w[np.uint64(X.indices[k])])
        return total

    return csr


@overload(row_axpy, jit_options=INLINE)
def _row_axpy(X, i, a, g):
    if is_dense_type(X):

        def dense(X, i, a, g):
            for j in range(columns(X)):
                g[j] += a * entry(X, i, j)

        return dense

    def csr(X, i, a, g):
        for k in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
            g[np.uint64(X.indices[k])] += a * stored(X, k)

    return csr


@overload(row_square, jit_options=INLINE)
def _row_square(X, i):
    if is_dense_type(X):

        def dense(X, i):
            total = 0.0
            for j in range(columns(X)):
                total += entry(X, i, j) * entry(X, i, j)
            return total

        return dense

    def csr(X, i):
        total = 0.0
        for k in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
            total += stored(X, k) * stored(X, k)
        return total

    return csr


@overload(row_quadratic, jit_options=INLINE)
def _row_quadratic(X, i, u, v):
    if is_dense_type(X):

        def dense(X, i, u, v):
            total = 0.0
            for j in range(columns(X)):
                total += entry(X, i, j) * (u[j] * entry(X, i, j) + v[j])
            return total

        return dense

    def csr(X, i, u, v):
        total = 0.0
        for k in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
            x, j = stored(X, k), np.uint64(X.indices[k])
            total += x * (u[j] * x + v[j])
        return total

    return csr


@overload(row_add_squares, jit_options=INLINE)
def _row_add_squares(X, i, a, g):
    if is_dense_type(X):

        def dense(X, i, a, g):
            for j in range(columns(X)):
                g[j] += a * entry(X, i, j) * entry(X, i, j)

        return dense

    def csr(X, i, a, g):
        for k in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
            g[np.uint64(X.indices[k])] += a * stored(X, k) * stored(X, k)

    return csr


@overload(row_scores, jit_options=INLINE)
def _row_scores(X, i, W, b, out):
    if is_dense_type(X):

        def dense(X, i, W, b, out):
            for k in range(out.size):
                out[k] = b[k]
            for j in range(columns(X)):
                x = entry(X, i, j)
                for k in range(out.size):
                    out[k] += x * W[j, k]

        return dense

    def csr(X, i, W, b, out):
        for k in range(out.size):
            out[k] = b[k]
        for e in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
            x, j = stored(X, e), np.uint64(X.indices[e])
            for k in range(out.size):
                out[k] += x * W[j, k]

    return csr


@overload(row_add_outer, jit_options=INLINE)
def _row_add_outer(X, i, r, G):
    if is_dense_type(X):

        def dense(X, i, r, G):
            for j in range(columns(X)):
                x = entry(X, i, j)
                for k in range(r.size):
                    G[j, k] += x * r[k]

        return dense

    def csr(X, i, r, G):
        for e in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
            x, j = stored(X, e), np.uint64(X.indices[e])
            for k in range(r.size):
                G[j, k] += x * r[k]

    return csr
