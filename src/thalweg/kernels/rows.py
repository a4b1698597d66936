"""A row of a matrix, dense or CSR: what every linear kernel does with one.

    row_dot(X, i, w)               xᵢᵀw, summed in float64
    row_axpy(X, i, a, g)           g ← g + a·xᵢ
    row_square(X, i)               ‖xᵢ‖²
    row_quadratic(X, i, u, v)      Σⱼ uⱼxᵢⱼ² + vⱼxᵢⱼ
    row_add_squares(X, i, a, g)    gⱼ ← gⱼ + a·xᵢⱼ²

the same for the rows from `start` to `stop`, several at a time while they are in cache,

    rows_dot(X, start, stop, w, b, z)    zᵢ = xᵢᵀw + b, into `z` from its beginning on
    rows_axpy(X, start, stop, a, g)      g ← g + Σᵢ aᵢxᵢ, `a` likewise
    rows_add_squares(X, start, stop, a, g)    gⱼ ← gⱼ + Σᵢ aᵢxᵢⱼ², `a` from `start` on

and for K classes, W of shape [p, K],

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

MOST_ROWS = 64
CACHED_ENTRIES = 32_768  # of a dense matrix, 256 KB: half of a second-level cache
# Of a matrix by columns: a column's part of the rows is one piece of memory, dear to reach if it is
# short. With four rows at a time a pass over 200 × 10,000 took twenty times as long.
LEAST_BY_COLUMNS, MOST_BY_COLUMNS = 256, 1024


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


def rows_in_cache(X):
    """How many rows to take at a time, so that they are still there when they are read again."""
    raise NotImplementedError


def rows_dot(X, start, stop, w, b, z):
    """zᵢ = xᵢᵀw + b in place, for rows that fit into cache; only for use inside kernels."""
    raise NotImplementedError


def rows_axpy(X, start, stop, a, g):
    """g ← g + Σᵢ aᵢxᵢ in place, for rows that fit into cache; only for use inside kernels."""
    raise NotImplementedError


def rows_add_squares(X, start, stop, a, g):
    """gⱼ ← gⱼ + Σᵢ aᵢxᵢⱼ² in place; only for use inside kernels."""
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


def _is_by_columns(X):
    if not is_dense_type(X):
        return False
    return (X if isinstance(X, types.Array) else X.types[0]).layout == "F"


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


@overload(rows_in_cache, jit_options=INLINE)
def _rows_in_cache(X):
    if not is_dense_type(X):
        return lambda X: MOST_ROWS
    if _is_by_columns(X):
        return lambda X: max(LEAST_BY_COLUMNS, min(MOST_BY_COLUMNS, CACHED_ENTRIES // columns(X)))
    return lambda X: max(4, min(MOST_ROWS, CACHED_ENTRIES // columns(X)))


# Four rows at a time: w and g are then read and written once for four of them.


@overload(rows_dot, jit_options=INLINE)
def _rows_dot(X, start, stop, w, b, z):
    if not is_dense_type(X):

        def csr(X, start, stop, w, b, z):
            for i in range(start, stop):
                z[i - start] = row_dot(X, i, w) + b

        return csr

    if _is_by_columns(X):

        def by_columns(X, start, stop, w, b, z):
            first = np.uint64(start)
            for i in range(stop - start):
                z[i] = b
            for j in range(columns(X)):
                for i in range(first, np.uint64(stop)):
                    z[i - first] += entry(X, i, j) * w[j]

        return by_columns

    def by_rows(X, start, stop, w, b, z):
        fours = start + (stop - start) // 4 * 4
        for i in range(start, fours, 4):
            s0, s1, s2, s3 = b, b, b, b
            for j in range(columns(X)):
                s0 += entry(X, i, j) * w[j]
                s1 += entry(X, i + 1, j) * w[j]
                s2 += entry(X, i + 2, j) * w[j]
                s3 += entry(X, i + 3, j) * w[j]
            k = i - start
            z[k], z[k + 1], z[k + 2], z[k + 3] = s0, s1, s2, s3
        for i in range(fours, stop):
            z[i - start] = row_dot(X, i, w) + b

    return by_rows


@overload(rows_axpy, jit_options=INLINE)
def _rows_axpy(X, start, stop, a, g):
    if not is_dense_type(X):

        def csr(X, start, stop, a, g):
            for i in range(start, stop):
                row_axpy(X, i, a[i - start], g)

        return csr

    if _is_by_columns(X):

        def by_columns(X, start, stop, a, g):
            first = np.uint64(start)
            for j in range(columns(X)):
                total = 0.0
                for i in range(first, np.uint64(stop)):
                    total += entry(X, i, j) * a[i - first]
                g[j] += total

        return by_columns

    def by_rows(X, start, stop, a, g):
        fours = start + (stop - start) // 4 * 4
        for i in range(start, fours, 4):
            k = i - start
            a0, a1, a2, a3 = a[k], a[k + 1], a[k + 2], a[k + 3]
            for j in range(columns(X)):
                g[j] += (a0 * entry(X, i, j) + a1 * entry(X, i + 1, j)) + (
                    a2 * entry(X, i + 2, j) + a3 * entry(X, i + 3, j)
                )
        for i in range(fours, stop):
            row_axpy(X, i, a[i - start], g)

    return by_rows


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


@overload(rows_add_squares, jit_options=INLINE)
def _rows_add_squares(X, start, stop, a, g):
    if _is_by_columns(X):

        def by_columns(X, start, stop, a, g):
            for j in range(columns(X)):
                total = 0.0
                for i in range(np.uint64(start), np.uint64(stop)):
                    total += a[i] * entry(X, i, j) * entry(X, i, j)
                g[j] += total

        return by_columns

    def by_rows(X, start, stop, a, g):
        for i in range(start, stop):
            row_add_squares(X, i, a[i], g)

    return by_rows
