"""Scores of rows, each by itself: what is said of a row does not depend on the rows beside it.

    zᵢₖ = Σⱼ xᵢⱼwⱼₖ + bₖ        in float64, over j = 1 … p one after the other

BLAS sums a row in another order when it comes alone than among many, and in another on another CPU.
A prediction may not: here every row is summed in the order of its columns, no product is fused with
a sum, and the bits are the same for a row alone or in any batch, in any storage and precision that
holds the same numbers, on any number of threads and on any CPU. What a sparse row leaves out would
have added nothing.

Sums in a fixed order do not run in vector registers along a row; they do across rows and classes.

Cost: one look at X, O(nnz·K). Memory: z, and a block of X where it is not float64 by rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from thalweg.kernels.compile import kernel
from thalweg.kernels.leaves import each_leaf, leaf_edges

BLOCK = 1 << 18  # entries of X that are converted at a time
TILE = 4096  # entries of W that stay in the first-level cache while they meet several rows


def scores(X: Any, W: np.ndarray, b: Any) -> np.ndarray:
    """XW + b, float64[n] for W of shape [p], float64[n, K] for [p, K]; X dense or sparse."""
    X = X.tocsr() if scipy.sparse.issparse(X) else np.asarray(X)
    n, stored = X.shape[0], X.nnz if scipy.sparse.issparse(X) else X.size
    weights = _by_rows(np.reshape(W, (X.shape[1], -1)))
    intercepts = _by_rows(np.broadcast_to(b, weights.shape[1:]))
    Z = np.empty((n, weights.shape[1]))
    rows = max(1, BLOCK * n // max(1, stored))

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, rows):
            last = min(first + rows, stop)
            _score_block(X, first, last, weights, intercepts, Z[first:last])

    each_leaf(work, leaf_edges(n, stored * weights.shape[1]))
    return Z.reshape(n, *np.shape(W)[1:])


def _score_block(X: Any, first: int, last: int, W: np.ndarray, b: np.ndarray, Z: Any) -> None:
    if scipy.sparse.issparse(X):
        begin, end = X.indptr[first], X.indptr[last]
        data, indices = _by_rows(X.data[begin:end]), _unwritable(X.indices[begin:end])
        ends = _unwritable(X.indptr[first : last + 1] - begin)
        if W.shape[1] == 1:
            sparse_scores(data, indices, ends, W[:, 0], b[0], Z[:, 0])
        else:
            sparse_class_scores(data, indices, ends, W, b, Z)
        return
    block = _by_rows(X[first:last])
    if W.shape[1] == 1:
        dense_scores(block, W[:, 0], b[0], Z[:, 0])
    else:
        dense_class_scores(block, W, b, Z)


def _by_rows(array: np.ndarray) -> np.ndarray:
    """In float64 and C order, a copy only where it is not so already."""
    return _unwritable(np.ascontiguousarray(array, dtype=np.float64))


def _unwritable(array: np.ndarray) -> np.ndarray:
    """A view that cannot be written to: of two types, each kernel would be compiled twice."""
    view = array.view()
    view.flags.writeable = False
    return view


# No fastmath below: it lets the compiler sum in another order, and fuse, where it sees fit.


@kernel
def dense_scores(rows, w, b, z):
    """Write zᵢ = xᵢᵀw + b, in place, eight rows at a time: a single sum would wait for itself."""
    n, p = rows.shape
    eights = n // 8 * 8
    for i in range(0, eights, 8):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0
        for j in range(p):
            s0 += rows[i, j] * w[j]
            s1 += rows[i + 1, j] * w[j]
            s2 += rows[i + 2, j] * w[j]
            s3 += rows[i + 3, j] * w[j]
            s4 += rows[i + 4, j] * w[j]
            s5 += rows[i + 5, j] * w[j]
            s6 += rows[i + 6, j] * w[j]
            s7 += rows[i + 7, j] * w[j]
        z[i], z[i + 1], z[i + 2], z[i + 3] = s0 + b, s1 + b, s2 + b, s3 + b
        z[i + 4], z[i + 5], z[i + 6], z[i + 7] = s4 + b, s5 + b, s6 + b, s7 + b
    for i in range(eights, n):
        total = 0.0
        for j in range(p):
            total += rows[i, j] * w[j]
        z[i] = total + b


@kernel
def dense_class_scores(rows, W, b, Z):
    """Write zᵢ = Wᵀxᵢ + b into the rows of `Z`, in place, some columns of X after the other."""
    n, p = rows.shape
    tile = max(1, TILE // b.size)
    Z[:] = 0.0
    for first in range(0, p, tile):
        for i in range(n):
            for j in range(first, min(first + tile, p)):
                x = rows[i, j]
                for k in range(b.size):
                    Z[i, k] += x * W[j, k]
    for i in range(n):
        for k in range(b.size):
            Z[i, k] += b[k]


@kernel
def sparse_scores(data, indices, ends, w, b, z):
    """Write zᵢ = xᵢᵀw + b, in place."""
    for i in range(z.size):
        total = 0.0
        for e in range(np.uint64(ends[i]), np.uint64(ends[i + 1])):
            total += data[e] * w[np.uint64(indices[e])]
        z[i] = total + b


@kernel
def sparse_class_scores(data, indices, ends, W, b, Z):
    """Write zᵢ = Wᵀxᵢ + b into the rows of `Z`, in place."""
    for i in range(Z.shape[0]):
        for k in range(b.size):
            Z[i, k] = 0.0
        for e in range(np.uint64(ends[i]), np.uint64(ends[i + 1])):
            x, j = data[e], np.uint64(indices[e])
            for k in range(b.size):
                Z[i, k] += x * W[j, k]
        for k in range(b.size):
            Z[i, k] += b[k]
