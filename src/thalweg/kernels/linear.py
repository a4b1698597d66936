"""Passes over the rows of a linear problem: value and gradient, Hessian-vector product, norms.

    f(w, b) = Σᵢ cᵢ ℓ(xᵢᵀw + b, yᵢ)

Each pass visits the rows from `start` to `stop` once, as many at a time as stay in cache: their
scores first, then the losses of all of them (a loop of arithmetic, which runs four at a time), then
what they add to the gradient. It adds to the accumulators it is given and returns the sums that
belong to the intercept. The sums of several runs of rows are joined by `kernels.leaves`. One source
serves dense and CSR (`kernels.rows`) and all losses (`kernels.losses`); K classes have passes of
their own, with W of shape [p, K].
"""

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.losses import (
    loss_curvature,
    loss_value,
    loss_value_and_slope,
    multinomial_probabilities,
    multinomial_value_and_slope,
)
from thalweg.kernels.row_blocks import rows_axpy, rows_dot, rows_in_cache
from thalweg.kernels.rows import FAST_SUM, row_add_outer, row_quadratic, row_scores, row_square


@kernel(fastmath=FAST_SUM, inline=True)
def total_of(a, count):
    """Σ aᵢ over the first `count`; a loop of its own, as said in `kernels.rows`."""
    total = 0.0
    for i in range(count):
        total += a[i]
    return total


@kernel(fastmath=FAST_SUM)
def value_pass(X, y, c, w, b, code, delta, start, stop):
    """Σ cᵢℓᵢ over the rows."""
    z = np.empty(rows_in_cache(X))
    value = 0.0
    for first in range(start, stop, z.size):
        last = min(first + z.size, stop)
        rows_dot(X, first, last, w, b, z)
        for i in range(first, last):
            value += c[i] * loss_value(code, z[i - first], y[i], delta)
    return value


@kernel(fastmath=FAST_SUM)
def value_and_gradient_pass(X, y, c, w, b, code, delta, start, stop, g):
    """Add Σ cᵢℓ′ᵢxᵢ to `g` in place; returns Σ cᵢℓᵢ and Σ cᵢℓ′ᵢ."""
    z, losses = np.empty(rows_in_cache(X)), np.empty(rows_in_cache(X))
    value, slopes = 0.0, 0.0
    for first in range(start, stop, z.size):
        last = min(first + z.size, stop)
        rows_dot(X, first, last, w, b, z)
        for i in range(first, last):
            loss, slope = loss_value_and_slope(code, z[i - first], y[i], delta)
            losses[i - first] = c[i] * loss
            z[i - first] = c[i] * slope
        value += total_of(losses, last - first)
        slopes += total_of(z, last - first)
        rows_axpy(X, first, last, z, g)
    return value, slopes


@kernel(fastmath=FAST_SUM)
def hessian_vector_pass(X, y, c, w, b, v, v_b, code, delta, start, stop, out):
    """Add Σ cᵢℓ″ᵢ(xᵢᵀv + v_b)xᵢ to `out` in place; returns the same sum without the xᵢ."""
    z, d = np.empty(rows_in_cache(X)), np.empty(rows_in_cache(X))
    total = 0.0
    for first in range(start, stop, z.size):
        last = min(first + z.size, stop)
        rows_dot(X, first, last, w, b, z)
        rows_dot(X, first, last, v, v_b, d)
        for i in range(first, last):
            d[i - first] *= c[i] * loss_curvature(code, z[i - first], y[i], delta)
        total += total_of(d, last - first)
        rows_axpy(X, first, last, d, out)
    return total


@kernel(fastmath=FAST_SUM)
def gram_vector_pass(X, c, v, v_b, start, stop, out):
    """Add Σ cᵢ(xᵢᵀv + v_b)xᵢ to `out` in place; returns the same sum without the xᵢ."""
    d = np.empty(rows_in_cache(X))
    total = 0.0
    for first in range(start, stop, d.size):
        last = min(first + d.size, stop)
        rows_dot(X, first, last, v, v_b, d)
        for i in range(first, last):
            d[i - first] *= c[i]
        total += total_of(d, last - first)
        rows_axpy(X, first, last, d, out)
    return total


@kernel(fastmath=FAST_SUM)
def margins_pass(X, w, b, start, stop, z):
    """Write zᵢ = xᵢᵀw + b into `z`, in place."""
    rows = rows_in_cache(X)
    for first in range(start, stop, rows):
        last = min(first + rows, stop)
        rows_dot(X, first, last, w, b, z[first:last])


@kernel(fastmath=FAST_SUM)
def transpose_pass(X, a, start, stop, g):
    """Add Σ aᵢxᵢ to `g` in place."""
    rows = rows_in_cache(X)
    for first in range(start, stop, rows):
        last = min(first + rows, stop)
        rows_axpy(X, first, last, a[first:last], g)


@kernel(fastmath=FAST_SUM)
def squares_pass(X, start, stop, out):
    """Write ‖xᵢ‖² into `out`, in place."""
    for i in range(start, stop):
        out[i] = row_square(X, i)


@kernel(fastmath=FAST_SUM)
def quadratics_pass(X, u, v, start, stop, out):
    """Write Σⱼ uⱼxᵢⱼ² + vⱼxᵢⱼ into `out`, in place."""
    for i in range(start, stop):
        out[i] = row_quadratic(X, i, u, v)


@kernel(fastmath=FAST_SUM)
def class_value_and_gradient_pass(X, labels, c, W, b, start, stop, G, slopes):
    """Add Σ cᵢxᵢ(pᵢ − e_yᵢ)ᵀ to `G` and Σ cᵢ(pᵢ − e_yᵢ) to `slopes` in place; returns Σ cᵢℓᵢ."""
    scores, r = np.empty(b.size), np.empty(b.size)
    value = 0.0
    for i in range(start, stop):
        row_scores(X, i, W, b, scores)
        value += c[i] * multinomial_value_and_slope(scores, labels[i], r)
        for k in range(r.size):
            r[k] *= c[i]
            slopes[k] += r[k]
        row_add_outer(X, i, r, G)
    return value


@kernel(fastmath=FAST_SUM)
def class_hessian_vector_pass(X, c, W, b, V, v_b, start, stop, out, total):
    """Add Σ cᵢxᵢtᵢᵀ to `out` and Σ cᵢtᵢ to `total` in place.

    tᵢ = (diag(pᵢ) − pᵢpᵢᵀ)(Vᵀxᵢ + v_b)
    """
    p, u = np.empty(b.size), np.empty(b.size)
    for i in range(start, stop):
        row_scores(X, i, W, b, u)
        multinomial_probabilities(u, p)
        row_scores(X, i, V, v_b, u)
        mean = 0.0
        for k in range(p.size):
            mean += p[k] * u[k]
        for k in range(p.size):
            u[k] = c[i] * p[k] * (u[k] - mean)
            total[k] += u[k]
        row_add_outer(X, i, u, out)


@kernel(fastmath=FAST_SUM)
def class_scores_pass(X, W, b, start, stop, Z):
    """Write Wᵀxᵢ + b into the rows of `Z`, in place."""
    for i in range(start, stop):
        row_scores(X, i, W, b, Z[i])


@kernel(fastmath=FAST_SUM)
def class_transpose_pass(X, A, start, stop, G):
    """Add Σ xᵢaᵢᵀ to `G` in place, aᵢ the rows of `A`."""
    for i in range(start, stop):
        row_add_outer(X, i, A[i], G)
