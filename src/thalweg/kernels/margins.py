"""Passes that leave the scores behind, and passes that need nothing else.

    zᵢ = xᵢᵀw + b

One pass over X gives value, gradient and z. From then on the data enter through z alone: along a
line w + αp the scores are z + αd with d = Xp, and the Hessian is Σᵢ hᵢxᵢxᵢᵀ with hᵢ = cᵢℓ″(zᵢ). A
value, a slope or the curvatures then cost O(n), or O(nK) for K classes, whatever the number of
features. As in `kernels.linear`, each pass takes the rows from `start` to `stop`.
"""

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.linear import total_of
from thalweg.kernels.losses import (
    loss_curvature,
    loss_slope,
    loss_value_and_slope,
    multinomial_probabilities,
    multinomial_value_and_slope,
)
from thalweg.kernels.row_blocks import rows_add_squares, rows_axpy, rows_dot, rows_in_cache
from thalweg.kernels.rows import FAST_SUM, row_add_outer, row_add_squares, row_scores

LOSS_ENTRIES = 16  # entries of a dense row that take about as long as one loss


@kernel(fastmath=FAST_SUM)
def scored_gradient_pass(X, y, c, w, b, code, delta, start, stop, g, z):
    """Add Σ cᵢℓ′ᵢxᵢ to `g` and write the scores into `z`, in place; returns Σ cᵢℓᵢ and Σ cᵢℓ′ᵢ."""
    r, losses = np.empty(rows_in_cache(X)), np.empty(rows_in_cache(X))
    value, slopes = 0.0, 0.0
    for first in range(start, stop, r.size):
        last = min(first + r.size, stop)
        rows_dot(X, first, last, w, b, z[first:last])
        for i in range(first, last):
            loss, slope = loss_value_and_slope(code, z[i], y[i], delta)
            losses[i - first] = c[i] * loss
            r[i - first] = c[i] * slope
        value += total_of(losses, last - first)
        slopes += total_of(r, last - first)
        rows_axpy(X, first, last, r, g)
    return value, slopes


@kernel
def slopes_pass(z, y, c, code, delta, start, stop, out):
    """Write cᵢℓ′(zᵢ) into `out`, in place."""
    for i in range(start, stop):
        out[i] = c[i] * loss_slope(code, z[i], y[i], delta)


@kernel
def curvatures_pass(z, y, c, code, delta, start, stop, out):
    """Write cᵢℓ″(zᵢ) into `out`, in place."""
    for i in range(start, stop):
        out[i] = c[i] * loss_curvature(code, z[i], y[i], delta)


@kernel(fastmath=FAST_SUM)
def line_pass(z, d, r, y, c, code, delta, step, start, stop):
    """Σ cᵢℓ(zᵢ + αdᵢ) and Σ (cᵢℓ′(zᵢ + αdᵢ) − rᵢ)dᵢ for α = `step`."""
    value, change = 0.0, 0.0
    for i in range(start, stop):
        loss, slope = loss_value_and_slope(code, z[i] + step * d[i], y[i], delta)
        value += c[i] * loss
        change += (c[i] * slope - r[i]) * d[i]
    return value, change


@kernel(fastmath=FAST_SUM)
def column_moments_pass(X, h, start, stop, first, second):
    """Add Σ hᵢxᵢ to `first` and Σ hᵢxᵢ², entry by entry, to `second`, in place."""
    rows = rows_in_cache(X)
    for top in range(start, stop, rows):
        last = min(top + rows, stop)
        rows_axpy(X, top, last, h[top:last], first)
        rows_add_squares(X, top, last, h, second)


@kernel(fastmath=FAST_SUM)
def class_scored_gradient_pass(X, labels, c, W, b, start, stop, G, slopes, Z):
    """Add to `G` and `slopes` as the pass without scores does, and write `Z`, in place."""
    r = np.empty(b.size)
    value = 0.0
    for i in range(start, stop):
        row_scores(X, i, W, b, Z[i])
        value += c[i] * multinomial_value_and_slope(Z[i], labels[i], r)
        for k in range(r.size):
            r[k] *= c[i]
            slopes[k] += r[k]
        row_add_outer(X, i, r, G)
    return value


@kernel
def class_slopes_pass(Z, labels, c, start, stop, out):
    """Write cᵢ(pᵢ − e_yᵢ) into the rows of `out`, in place."""
    for i in range(start, stop):
        multinomial_value_and_slope(Z[i], labels[i], out[i])
        for k in range(out.shape[1]):
            out[i, k] *= c[i]


@kernel(fastmath=FAST_SUM)
def class_residuals_pass(Z, labels, c, total):
    """Change the scores `Z` to cᵢ(pᵢ − e_yᵢ) and add them to `total`, in place; returns Σ cᵢℓᵢ."""
    value = 0.0
    for i in range(Z.shape[0]):
        value += c[i] * multinomial_value_and_slope(Z[i], labels[i], Z[i])
        for k in range(total.size):
            Z[i, k] *= c[i]
            total[k] += Z[i, k]
    return value


@kernel(fastmath=FAST_SUM)
def class_curved_rows_pass(c, P, U, total):
    """Change the rows uᵢ of `U` to cᵢ(diag(pᵢ) − pᵢpᵢᵀ)uᵢ and add them to `total`, in place."""
    for i in range(U.shape[0]):
        mean = 0.0
        for k in range(total.size):
            mean += P[i, k] * U[i, k]
        for k in range(total.size):
            U[i, k] = c[i] * P[i, k] * (U[i, k] - mean)
            total[k] += U[i, k]


@kernel
def probabilities_pass(Z, start, stop, out):
    """Write pᵢ = softmax(zᵢ) into the rows of `out`, in place."""
    for i in range(start, stop):
        multinomial_probabilities(Z[i], out[i])


@kernel(fastmath=FAST_SUM)
def class_line_pass(Z, D, R, labels, c, step, start, stop):
    """Σ cᵢℓ(zᵢ + αdᵢ) and Σ (cᵢ∇ℓ(zᵢ + αdᵢ) − rᵢ)ᵀdᵢ for α = `step`."""
    scores, slope = np.empty(Z.shape[1]), np.empty(Z.shape[1])
    value, change = 0.0, 0.0
    for i in range(start, stop):
        for k in range(scores.size):
            scores[k] = Z[i, k] + step * D[i, k]
        value += c[i] * multinomial_value_and_slope(scores, labels[i], slope)
        for k in range(scores.size):
            change += (c[i] * slope[k] - R[i, k]) * D[i, k]
    return value, change


@kernel(fastmath=FAST_SUM)
def class_curved_vector_pass(X, c, P, V, v_b, start, stop, out, total):
    """Add Σ cᵢxᵢtᵢᵀ to `out` and Σ cᵢtᵢ to `total`, in place.

    tᵢ = (diag(pᵢ) − pᵢpᵢᵀ)(Vᵀxᵢ + v_b), with pᵢ the rows of `P`.
    """
    u = np.empty(v_b.size)
    for i in range(start, stop):
        row_scores(X, i, V, v_b, u)
        mean = 0.0
        for k in range(u.size):
            mean += P[i, k] * u[k]
        for k in range(u.size):
            u[k] = c[i] * P[i, k] * (u[k] - mean)
            total[k] += u[k]
        row_add_outer(X, i, u, out)


@kernel(fastmath=FAST_SUM)
def class_column_moments_pass(X, H, start, stop, first, second):
    """Add Σ xᵢhᵢᵀ to `first` and Σ xᵢ²hᵢᵀ, squares entry by entry, to `second`, in place."""
    for i in range(start, stop):
        row_add_outer(X, i, H[i], first)
        for k in range(H.shape[1]):
            row_add_squares(X, i, H[i, k], second[k])
