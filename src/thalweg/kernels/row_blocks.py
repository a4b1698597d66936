"""Several rows of a matrix at a time, while they are in cache: `kernels.rows` for a range of them.

    rows_in_cache(X)                     how many that are
    rows_dot(X, start, stop, w, b, z)    zᵢ = xᵢᵀw + b, into `z` from its beginning on
    rows_axpy(X, start, stop, a, g)      g ← g + Σᵢ aᵢxᵢ, `a` likewise
    rows_add_squares(X, start, stop, a, g)    gⱼ ← gⱼ + Σᵢ aᵢxᵢⱼ², `a` from `start` on

A dense matrix by rows is taken four rows at a time, so that w and g are read and written once for
four of them; one by columns a column's part at a time.
"""

import numpy as np
from numba import types
from numba.extending import overload

from thalweg.kernels.rows import (
    INLINE,
    columns,
    entry,
    is_dense_type,
    row_add_squares,
    row_axpy,
    row_dot,
)

MOST_ROWS = 64
CACHED_ENTRIES = 32_768  # of a dense matrix, 256 KB: half of a second-level cache
# Of a matrix by columns: a column's part of the rows is one piece of memory, dear to reach if it is
# short. With four rows at a time a pass over 200 × 10,000 took twenty times as long.
LEAST_BY_COLUMNS, MOST_BY_COLUMNS = 256, 1024


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


def _is_by_columns(X):
    if not is_dense_type(X):
        return False
    return (X if isinstance(X, types.Array) else X.types[0]).layout == "F"


@overload(rows_in_cache, jit_options=INLINE)
def _rows_in_cache(X):
    if not is_dense_type(X):
        return lambda X: MOST_ROWS
    if _is_by_columns(X):
        return lambda X: max(LEAST_BY_COLUMNS, min(MOST_BY_COLUMNS, CACHED_ENTRIES // columns(X)))
    return lambda X: max(4, min(MOST_ROWS, CACHED_ENTRIES // columns(X)))


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
