"""Passes over samples for a duality gap: slopes at given scores, conjugates at a dual point.

A shift is a change of the intercept: it moves all scores alike, and costs no pass over X.

Sums are compensated: a gap is the small difference of two of them, and the error of a plain running
sum grows with the number of samples (10⁻¹² of the sum at 300,000 equal terms).
"""

import math

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.linear import total_of
from thalweg.kernels.losses import (
    loss_conjugate,
    loss_curvature,
    loss_slope,
    loss_value_and_slope,
    multinomial_conjugate,
    multinomial_probabilities,
    multinomial_value_and_slope,
)
from thalweg.kernels.row_blocks import rows_axpy, rows_in_cache
from thalweg.kernels.rows import FAST_SUM, row_add_outer


@kernel(inline=True)
def _plus(total, low, term):
    """total + low + term as a rounded sum and what it lost, after Neumaier (1974)."""
    new = total + term
    if abs(new) < math.inf:  # there is nothing to add to infinity, or to a NaN
        low += (total - new) + term if abs(total) >= abs(term) else (term - new) + total
    return new, low


@kernel
def slopes_pass(code, z, y, c, delta, theta):
    """Write θᵢ = ℓ′(zᵢ, yᵢ) into `theta`, in place; returns Σ cᵢℓᵢ."""
    value, low = 0.0, 0.0
    for i in range(z.size):
        loss, theta[i] = loss_value_and_slope(code, z[i], y[i], delta)
        value, low = _plus(value, low, c[i] * loss)
    return value + low


@kernel
def conjugates_pass(code, theta, y, c, delta):
    """Σ cᵢℓ*(θᵢ), and the sum of the terms' sizes."""
    total, low, size = 0.0, 0.0, 0.0
    for i in range(theta.size):
        if c[i] > 0.0:
            term = c[i] * loss_conjugate(code, theta[i], y[i], delta)
            total, low = _plus(total, low, term)
            size += abs(term)
    return total + low, size


@kernel
def sides_pass(theta, c):
    """Σ cᵢθᵢ over the positive θᵢ, and minus that over the negative ones."""
    up, down = 0.0, 0.0
    for i in range(theta.size):
        term = c[i] * theta[i]
        up += max(term, 0.0)
        down += max(-term, 0.0)
    return up, down


@kernel
def shrink_pass(theta, factor, sign):
    """Multiply the θᵢ of this sign by `factor`, in place."""
    for i in range(theta.size):
        if sign * theta[i] > 0.0:
            theta[i] *= factor


@kernel(fastmath=FAST_SUM)
def dual_sum_pass(X, c, theta, start, stop, g):
    """Add Σ cᵢθᵢxᵢ over the rows to `g` in place; returns Σ cᵢθᵢ."""
    weighted = np.empty(rows_in_cache(X))
    total = 0.0
    for first in range(start, stop, weighted.size):
        last = min(first + weighted.size, stop)
        for i in range(first, last):
            weighted[i - first] = c[i] * theta[i]
        total += total_of(weighted, last - first)
        rows_axpy(X, first, last, weighted, g)
    return total


@kernel(fastmath=FAST_SUM)
def class_dual_sum_pass(X, c, theta, start, stop, G, total):
    """The same for K classes, with Σ cᵢθᵢ added to `total` in place."""
    weighted = np.empty(total.size)
    for i in range(start, stop):
        for k in range(total.size):
            weighted[k] = c[i] * theta[i, k]
            total[k] += weighted[k]
        row_add_outer(X, i, weighted, G)


@kernel
def lengths_pass(squares, W, out):
    """Add Σⱼ √squaresⱼ·|Wⱼₖ| to `out`, float64[K], in place."""
    for j in range(W.shape[0]):
        length = math.sqrt(squares[j])
        for k in range(out.size):
            out[k] += length * abs(W[j, k])


@kernel
def shifted_slopes_pass(code, z, shift, y, c, delta):
    """Σ cᵢℓ′(zᵢ + shift), Σ cᵢ|ℓ′| and Σ cᵢℓ″."""
    slope, size, curvature = 0.0, 0.0, 0.0
    for i in range(z.size):
        term = c[i] * loss_slope(code, z[i] + shift, y[i], delta)
        slope += term
        size += abs(term)
        curvature += c[i] * loss_curvature(code, z[i] + shift, y[i], delta)
    return slope, size, curvature


@kernel
def class_slopes_pass(Z, labels, c):
    """Turn the scores `Z` into θᵢ = softmax(zᵢ) − e_yᵢ, in place; returns Σ cᵢℓᵢ."""
    value, low = 0.0, 0.0
    out = np.empty(Z.shape[1])
    for i in range(Z.shape[0]):
        loss = multinomial_value_and_slope(Z[i], labels[i], out)
        value, low = _plus(value, low, c[i] * loss)
        Z[i, :] = out
    return value + low


@kernel
def class_conjugates_pass(theta, labels, c):
    """Σ cᵢℓ*(θᵢ), and the sum of the terms' sizes."""
    total, low, size = 0.0, 0.0, 0.0
    for i in range(theta.shape[0]):
        if c[i] > 0.0:
            term = c[i] * multinomial_conjugate(theta[i], labels[i])
            total, low = _plus(total, low, term)
            size += abs(term)
    return total + low, size


@kernel
def class_shifted_slopes_pass(Z, shift, c, predicted, H):
    """Write Σ cᵢpᵢ and Σ cᵢ(diag(pᵢ) − pᵢpᵢᵀ) in place, with pᵢ = softmax(zᵢ + shift)."""
    classes = shift.size
    predicted[:] = 0.0
    H[:, :] = 0.0
    p = np.empty(classes)
    for i in range(Z.shape[0]):
        for k in range(classes):
            p[k] = Z[i, k] + shift[k]
        multinomial_probabilities(p, p)
        for k in range(classes):
            weighted = c[i] * p[k]
            predicted[k] += weighted
            for m in range(classes):
                H[k, m] -= weighted * p[m]
    for k in range(classes):
        H[k, k] += predicted[k]
