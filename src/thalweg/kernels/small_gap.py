"""The duality gap of one score on data that fit in cache, in one call.

Formula by formula what `certificates.dual_point` does, which derives it: slopes at w, shifted and
balanced where there is an intercept, scaled where l2 = 0, and what rounding may have done to all of
it. A is float64[n, q], the features and, with an intercept, a column of ones.
"""

import math

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.duality import (
    conjugates_pass,
    shifted_slopes_pass,
    shrink_pass,
    sides_pass,
    slopes_pass,
)
from thalweg.kernels.losses import HUBER, LOGISTIC


@kernel
def gap_pass(code, A, y, c, delta, bend, l1, l2, p, w, limits):
    """P(w), its rounding, D of the slopes at w made feasible, and the rounding of that.

    `bend` bounds ℓ″; `limits` are ε, the ulps of a sum of few, Σ cθ that is left to balancing, the
    steps to a shift, what no shift goes beyond, and the largest scale.
    """
    eps, few, balanced, shifts, furthest, widest = limits
    n, q = A.shape
    z, theta, lengths, v = np.zeros(n), np.empty(n), np.zeros(p), np.zeros(p)
    for i in range(n):
        for j in range(q):
            z[i] += A[i, j] * w[j]
        for j in range(p):
            lengths[j] += c[i] * A[i, j] * A[i, j]
    losses = slopes_pass(code, z, y, c, delta, theta)
    sizes, ridge, absolute = 0.0, 0.0, 0.0
    for j in range(p):
        lengths[j] = math.sqrt(lengths[j])
        sizes += lengths[j] * abs(w[j])
        ridge += w[j] * w[j]
        absolute += abs(w[j])
    penalties = 0.5 * l2 * ridge + l1 * absolute
    b = w[p] if q > p else 0.0
    off = math.sqrt(2.0) * eps * (few + math.sqrt(p)) * (sizes + abs(b))
    rounding = off * _spread(theta, c) + 0.5 * bend * off * off
    rounding += eps * (few + 1.0) * abs(losses) + eps * (few + math.sqrt(p)) * penalties
    if q > p:
        b += _made_feasible(code, z, y, c, delta, theta, balanced, shifts, furthest)
    for i in range(n):
        weighted = c[i] * theta[i]
        for j in range(p):
            v[j] += weighted * A[i, j]
    steepest = 0.0
    for j in range(p):
        steepest = max(steepest, abs(v[j]))
    largest = math.inf
    if l2 == 0.0 and steepest > 0.0:
        # A hair inside: l1/‖v‖∞ may round to a factor that leaves v outside by an ulp.
        largest = l1 / (steepest * (1.0 + 4.0 * eps))
    share = min(1.0, largest)
    dual, error = _bound(code, y, c, delta, l1, l2, b, theta, v, lengths, share, eps, few)
    if l2 == 0.0 and 1.0 < largest < widest:
        share = min(largest, _edge(code, c, delta, theta) * (1.0 - 4.0 * eps))
        other, error_there = _bound(
            code, y, c, delta, l1, l2, b, theta, v, lengths, share, eps, few
        )
        if other > dual:
            dual, error = other, error_there
    if not dual - error > 0.0:  # no loss is negative
        dual, error = 0.0, 0.0
    return losses + penalties, rounding, dual, error


@kernel
def _spread(theta, c):
    """√Σ cᵢθᵢ²."""
    total = 0.0
    for i in range(theta.size):
        total += c[i] * theta[i] * theta[i]
    return math.sqrt(total)


@kernel
def _made_feasible(code, z, y, c, delta, theta, balanced, shifts, furthest):
    """Change `theta` so that Σ cθ = 0, and `z` by the shift that takes, in place; that shift."""
    up, down = sides_pass(theta, c)
    shift = 0.0
    if abs(up - down) > balanced * (up + down):
        reach, size = 0.0, 0.0
        for i in range(z.size):
            reach, size = max(reach, abs(z[i])), max(size, abs(y[i]))
        high = reach + size + furthest
        low = -high
        for _ in range(int(shifts)):
            slope, total, curvature = shifted_slopes_pass(code, z, shift, y, c, delta)
            if not abs(slope) > balanced * total:
                break
            if slope > 0.0:
                high = shift
            else:
                low = shift
            ahead = shift - slope / curvature if curvature > 0.0 else math.inf
            shift = ahead if low < ahead < high else 0.5 * (low + high)
        if shift != 0.0:
            for i in range(z.size):
                z[i] += shift
            slopes_pass(code, z, y, c, delta, theta)
            up, down = sides_pass(theta, c)
    if up != down:
        shrink_pass(theta, min(up, down) / max(up, down), 1.0 if up > down else -1.0)
    return shift


@kernel
def _edge(code, c, delta, theta):
    """The largest factor that leaves θ in the domain of ℓ*."""
    if code not in (LOGISTIC, HUBER):
        return math.inf
    longest = 0.0
    for i in range(theta.size):
        if c[i] > 0.0:
            longest = max(longest, abs(theta[i]))
    widest = delta if code == HUBER else 1.0
    return widest / longest if longest > 0.0 else math.inf


@kernel
def _bound(code, y, c, delta, l1, l2, b, theta, v, lengths, share, eps, few):
    """D(share·θ) and its rounding."""
    scaled = share * theta
    conjugates, size = conjugates_pass(code, scaled, y, c, delta)
    spread, unit = _spread(scaled, c), eps * (few + math.sqrt(theta.size))
    rounding = eps * (few + 1.0) * size + unit * abs(b) * spread
    if l2 == 0.0:
        # v may be outside by its error: a factor of 1 − error/l1 cures it, at that share of D.
        longest = 0.0
        for j in range(v.size):
            longest = max(longest, lengths[j])
        return -conjugates, rounding + max(-conjugates, 0.0) * unit * spread * longest / l1
    penalty, across, squares = 0.0, 0.0, 0.0
    for j in range(v.size):
        beyond = max(abs(share * v[j]) - l1, 0.0)
        error = unit * spread * lengths[j]
        penalty += beyond * beyond
        across += beyond * error
        squares += error * error
    penalty /= 2.0 * l2
    rounding += (across + 0.5 * squares) / l2 + eps * (few + 1.0) * penalty
    return -conjugates - penalty, rounding
