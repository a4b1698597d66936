"""Coordinate descent on a quadratic model of a linear problem, over gathered features.

    minimise over w, b   M(w, b) = Σᵢ uᵢ²/(2hᵢ) + (l2/2)‖w‖² + l1‖w‖₁,   u = u₀ + h∘(A(w − w₀) + b)

u₀ holds the slopes cᵢℓ′ at w₀ and h > 0 the curvatures: u is the gradient of the model in the
scores, and uᵢ²/(2hᵢ) its loss up to a constant (zero where hᵢ = 0, for a sample without weight).
The features aⱼ of A lie in the rows of an array float64[k, n] or of a `CSR` of that shape
("columns" below: they were columns of X), so that `kernels.rows` serves both. The best intercept
follows every step of a coordinate: with mⱼ = Σᵢ hᵢaᵢⱼ/Σh it moves by −mⱼ times the step, so that

    Gⱼ = aⱼᵀu + l2·wⱼ                              slope at the best b
    Lⱼ = Σᵢ hᵢaᵢⱼ² − mⱼ²Σh                         curvature, of the feature less its mean
    wⱼ ← S(Lⱼwⱼ − aⱼᵀu, l1)/(Lⱼ + l2)              S the soft threshold: the exact minimum in wⱼ
    u  ← u + h∘(aⱼ − mⱼ)·(change of wⱼ)

b itself is one number β beside u, u + βh being meant, until the sweep ends: a step costs the
entries of its feature, sparse ones too. Without an intercept mⱼ = 0 and β stays 0.
"""

import math

import numpy as np
from numba import types
from numba.extending import overload

from thalweg.kernels.compile import kernel
from thalweg.kernels.losses import loss_curvature, loss_slope
from thalweg.kernels.rows import FAST_SUM, row_axpy, row_dot

FLAT = 1e-13  # of Σha²: a curvature below this is the rounding of a constant feature
MEMORY = 5  # K, differences that an extrapolation combines
RIDGE = 1e-12  # of their mean square: they become dependent as the sweeps converge
NEARLY = 1e-8  # of Σ|cℓ′|: a slope in b from which one step of Newton's leaves rounding
MOST_ROUNDS = 100  # of 1 + K sweeps


def row_add_weighted(A, j, a, h, u):
    """u ← u + a·h∘aⱼ in place; only for use inside kernels."""
    raise NotImplementedError


def row_moments(A, j, h):
    """Σᵢ hᵢaᵢⱼ and Σᵢ hᵢaᵢⱼ²; only for use inside kernels."""
    raise NotImplementedError


@overload(row_add_weighted, jit_options={"fastmath": FAST_SUM})
def _row_add_weighted(A, j, a, h, u):
    if isinstance(A, types.Array):

        def dense(A, j, a, h, u):
            for i in range(A.shape[1]):
                u[i] += a * h[i] * A[j, i]

        return dense

    def csr(A, j, a, h, u):
        for e in range(A.indptr[j], A.indptr[j + 1]):
            i = A.indices[e]
            u[i] += a * h[i] * A.data[e]

    return csr


@overload(row_moments, jit_options={"fastmath": FAST_SUM})
def _row_moments(A, j, h):
    if isinstance(A, types.Array):

        def dense(A, j, h):
            first, second = 0.0, 0.0
            for i in range(A.shape[1]):
                first += h[i] * A[j, i]
                second += h[i] * A[j, i] * A[j, i]
            return first, second

        return dense

    def csr(A, j, h):
        first, second = 0.0, 0.0
        for e in range(A.indptr[j], A.indptr[j + 1]):
            term = h[A.indices[e]] * A.data[e]
            first += term
            second += term * A.data[e]
        return first, second

    return csr


@kernel(fastmath=FAST_SUM)
def add_scores(A, w, z):
    """Add Σⱼ wⱼaⱼ to `z` in place."""
    for j in range(w.size):
        if w[j] != 0.0:
            row_axpy(A, j, w[j], z)


@kernel
def model_pass(code, z, y, c, delta, floor, u, h):
    """Write slopes cᵢℓ′ᵢ into `u` and curvatures cᵢ·max(ℓ″ᵢ, floor) into `h`, in place."""
    for i in range(z.size):
        u[i] = c[i] * loss_slope(code, z[i], y[i], delta)
        h[i] = c[i] * max(loss_curvature(code, z[i], y[i], delta), floor)


@kernel
def best_shift(code, z, y, c, delta):
    """argmin over β of Σ cᵢℓ(zᵢ + β): Newton's steps, kept between points of either slope."""
    low, high, beta = -math.inf, math.inf, 0.0
    for _ in range(100):
        slope, size, curvature = 0.0, 0.0, 0.0
        for i in range(z.size):
            term = c[i] * loss_slope(code, z[i] + beta, y[i], delta)
            slope += term
            size += abs(term)
            curvature += c[i] * loss_curvature(code, z[i] + beta, y[i], delta)
        if slope == 0.0:
            return beta
        if slope > 0.0:
            high = beta
        else:
            low = beta
        ahead = beta - slope / curvature if curvature > 0.0 else math.nan
        is_inside = low <= ahead <= high
        if abs(slope) <= NEARLY * size or ahead == beta:
            return ahead if is_inside else beta  # Newton squares what is left
        if is_inside:
            beta = ahead
        elif low > -math.inf and high < math.inf:
            beta = 0.5 * (low + high)
        else:
            beta -= math.copysign(max(1.0, abs(beta)), slope)
    return beta


@kernel(fastmath=FAST_SUM)
def sweep(A, h, total, L, m, order, l1, l2, w, u):
    """Minimise the model in the coordinates of `order` in turn, changing `w` and `u` in place.

    `total` is Σh. Returns the largest distance of a slope from optimality, each as its coordinate
    was met, and the change of b.
    """
    worst, beta = 0.0, 0.0
    for j in order:
        old = w[j]
        slope = row_dot(A, j, u) + beta * total * m[j]
        if old != 0.0:
            off = abs(slope + l2 * old + math.copysign(l1, old))
        else:
            off = max(abs(slope) - l1, 0.0)
        worst = max(worst, off)
        if L[j] + l2 > 0.0:
            pull = L[j] * old - slope
            new = (pull - min(max(pull, -l1), l1)) / (L[j] + l2)
        else:
            # The model is flat here, and the slope zero but for rounding: only l1 has a say.
            new = 0.0 if l1 > 0.0 else old
        if new != old:
            w[j] = new
            row_add_weighted(A, j, new - old, h, u)
            beta -= (new - old) * m[j]
    if beta != 0.0:
        for i in range(u.size):
            u[i] += beta * h[i]
    return worst, beta


@kernel
def descend(A, h, order, l1, l2, has_intercept, tight, loose, budget, extrapolates, w, u):
    """Lower the model over the features of `order`, changing `w` and `u` in place.

    A round is a sweep over `order`, K over its support, and an extrapolation of those. Rounds end
    when a slope was nowhere further than `tight` from optimality, or than `loose` after `budget`
    sweeps over `order`. Returns the change of b and the work, in sweeps over `order`.
    """
    k, n = w.size, u.size
    L, m, total = np.zeros(k), np.zeros(k), h.sum()
    for j in order:
        first, second = row_moments(A, j, h)
        if has_intercept and total > 0.0:
            m[j] = first / total
        curvature = second - m[j] * first
        if curvature > FLAT * second:
            L[j] = curvature
    b = 0.0
    if has_intercept and total > 0.0:
        b = -u.sum() / total
        u += b * h
    work = 0.0
    W, U, B = np.empty((MEMORY + 1, k)), np.empty((MEMORY + 1, n)), np.empty(MEMORY + 1)
    for _ in range(MOST_ROUNDS):
        worst, change = sweep(A, h, total, L, m, order, l1, l2, w, u)
        b += change
        work += 1.0
        if worst <= tight or (worst <= loose and work >= budget):
            break
        support = order[w[order] != 0.0]
        if support.size == 0:
            continue
        W[0], U[0], B[0] = w, u, b
        for s in range(1, MEMORY + 1):
            worst, change = sweep(A, h, total, L, m, support, l1, l2, w, u)
            b += change
            W[s], U[s], B[s] = w, u, b
            work += support.size / order.size
            if worst <= tight:
                break
        else:
            if extrapolates:
                b = _extrapolate(h, l1, l2, W, U, B, w, u)
    return b, work


@kernel(fastmath=FAST_SUM)
def model_value(h, l1, l2, w, u):
    """M, up to a constant."""
    value = 0.0
    for i in range(u.size):
        if h[i] > 0.0:
            value += 0.5 * u[i] * u[i] / h[i]
    for j in range(w.size):
        value += 0.5 * l2 * w[j] * w[j] + l1 * abs(w[j])
    return value


@kernel
def _extrapolate(h, l1, l2, W, U, B, w, u):
    """Move `w` and `u`, in place, to where the iterates in `W` and `U` lead if M is lower there.

    Anderson's step: with R the differences of successive iterates, the point Σ aₛW₍ₛ₊₁₎ whose
    weights minimise ‖Σ aₛRₛ‖² among those with Σa = 1. u and b are affine in w, so the same weights
    serve them. Returns b. Bertrand & Massias, AISTATS 2021.
    """
    R = W[1:] - W[:-1]
    a = _affine_weights(R @ R.T)
    extrapolated, slopes = a @ W[1:], a @ U[1:]
    if model_value(h, l1, l2, extrapolated, slopes) < model_value(h, l1, l2, w, u):
        w[:] = extrapolated
        u[:] = slopes
        return a @ B[1:]
    return B[-1]


@kernel
def _affine_weights(G):
    """argmin of aᵀGa with Σa = 1, for a Gram matrix `G`, which is used up: Ga ∝ 1."""
    K = G.shape[0]
    a = np.ones(K)
    ridge = RIDGE * np.trace(G) / K
    for s in range(K):
        G[s, s] += ridge
    for s in range(K):  # positive definite: elimination needs no pivots
        for r in range(s + 1, K):
            factor = G[r, s] / G[s, s] if G[s, s] > 0.0 else 0.0
            a[r] -= factor * a[s]
            for t in range(s, K):
                G[r, t] -= factor * G[s, t]
    for s in range(K - 1, -1, -1):
        for t in range(s + 1, K):
            a[s] -= G[s, t] * a[t]
        a[s] = a[s] / G[s, s] if G[s, s] > 0.0 else 0.0
    total = a.sum()
    return a / total if total != 0.0 else a
