"""Passes over the rows for K classes: products of blocks where X is dense, row by row where sparse.

    Z = XW + b                 scores, W of shape [p, K]
    G = Xᵀ(c ∘ (P − Y))        gradient, P the softmax of the rows of Z, Y their labels one-hot

With K columns both are matrix products, and BLAS keeps a tile of W and of G in registers as no loop
over rows can: ten classes on 784 dense features take a tenth of the time. A block of rows stays in
cache between the two products. BLAS is to run on one thread in each of ours (`leaves.with_blas`).
"""

from __future__ import annotations

import numpy as np

from thalweg.kernels import duality, linear, margins
from thalweg.kernels.rows import Centred, is_sparse

BLOCK = 200_000  # entries of a block of rows


def gradient_pass(X, labels, c, W, b, start, stop, G, slopes, Z=None):
    """Add to `G`, to `slopes`, the sums of the columns of c ∘ (P − Y), and fill `Z`, in place.

    Returns Σ cᵢℓᵢ.
    """
    if is_sparse(X):
        if Z is None:
            return linear.class_value_and_gradient_pass(X, labels, c, W, b, start, stop, G, slopes)
        return margins.class_scored_gradient_pass(X, labels, c, W, b, start, stop, G, slopes, Z)
    value = 0.0
    for first, last, block in _blocks(X, start, stop):
        z = block @ W
        z += b
        if Z is not None:
            Z[first:last] = z
        value += margins.class_residuals_pass(z, labels[first:last], c[first:last], slopes)
        G += block.T @ z
    return value


def scores_pass(X, W, b, start, stop, Z):
    """Write XW + b into the rows of `Z`, in place."""
    if is_sparse(X):
        linear.class_scores_pass(X, W, b, start, stop, Z)
        return
    for first, last, block in _blocks(X, start, stop):
        np.dot(block, W, out=Z[first:last])
    Z[start:stop] += b


def curved_vector_pass(X, c, P, V, v_b, start, stop, out, total):
    """Add Σ cᵢxᵢtᵢᵀ to `out` and Σ cᵢtᵢ to `total`, in place.

    tᵢ = (diag(pᵢ) − pᵢpᵢᵀ)(Vᵀxᵢ + v_b)
    """
    if is_sparse(X):
        margins.class_curved_vector_pass(X, c, P, V, v_b, start, stop, out, total)
        return
    for first, last, block in _blocks(X, start, stop):
        u = block @ V
        u += v_b
        margins.class_curved_rows_pass(c[first:last], P[first:last], u, total)
        out += block.T @ u


def dual_sum_pass(X, c, theta, start, stop, G, total):
    """Add Σ cᵢxᵢθᵢᵀ to `G` and Σ cᵢθᵢ to `total`, in place."""
    if is_sparse(X):
        duality.class_dual_sum_pass(X, c, theta, start, stop, G, total)
        return
    for first, last, block in _blocks(X, start, stop):
        weighted = c[first:last, None] * theta[first:last]
        total += weighted.sum(axis=0)
        G += block.T @ weighted


def _blocks(X, start, stop):
    """First and last row, and the rows in float64, of one block after the other."""
    values = X.values if isinstance(X, Centred) else X
    rows = max(1, BLOCK // values.shape[1])
    for first in range(start, stop, rows):
        last = min(first + rows, stop)
        if isinstance(X, Centred):
            yield first, last, values[first:last] - X.means
        else:
            yield first, last, values[first:last].astype(np.float64, copy=False)
