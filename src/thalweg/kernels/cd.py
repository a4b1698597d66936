"""Coordinate descent on a least-squares model with l1 and l2, over gathered features.

    minimise over w, b   M(w, b) = ½‖u‖² + Σⱼ hⱼ(wⱼ),    u = u₀ + Σⱼ (wⱼ − w₀ⱼ)aⱼ + b·r
    hⱼ(wⱼ) = (l2ⱼ/2)wⱼ² + l1ⱼ|wⱼ|                        for lowⱼ ≤ wⱼ ≤ highⱼ, else ∞

Of the loss Σ cᵢℓ(zᵢ) with slopes ℓ′ and curvatures hᵢ this is the second-order model, up to a
constant, for aⱼ = √(ch)∘xⱼ, r = √(ch), u₀ = √(c/h)∘ℓ′. The aⱼ are the rows of an array [k, n] or
of a `CSR` of that shape, which `kernels.rows` serves alike. The best intercept follows every step
of a coordinate: with mⱼ = aⱼᵀr/‖r‖² it moves by −mⱼ times the step, so that

    Lⱼ = ‖aⱼ‖² − mⱼ²‖r‖²                           the curvature, of a feature less its mean
    wⱼ ← S(Lⱼwⱼ − aⱼᵀu, l1ⱼ)/(Lⱼ + l2ⱼ)            S the soft threshold: the exact minimum in wⱼ,
                                                   or the bound that is nearer to it
    u  ← u + (aⱼ − mⱼr)·(change of wⱼ)

b is one number β beside u, u + βr being meant, until the end of a sweep: a step costs no more than
the entries of its feature, of a sparse one too. Without an intercept r = 0, and so are m and β.

Every K sweeps the point to which they lead is tried (Anderson's extrapolation).
"""

import math
from typing import NamedTuple

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.losses import HUBER, loss_curvature, loss_slope
from thalweg.kernels.rows import FAST_SUM, row_axpy, row_dot, row_square

FLAT = 1e-13  # of ‖a‖²: a curvature below this is the rounding of a constant feature
MEMORY = 5  # K, the differences that an extrapolation combines
RIDGE = 1e-12  # of their mean square: they become dependent as the sweeps converge
SETTLED = 0.3  # of the violation over all: the support is swept until it is below
MOST_TURNS = 10  # of K sweeps over the support, between two over all
MOST_ROUNDS = 100  # of sweeps over all
NEARLY = 1e-8  # of Σ|cℓ′|: a slope in b that one more step of Newton's leaves at rounding


class Held(NamedTuple):
    """What holds each of k coefficients, float64[k] each."""

    l1: np.ndarray
    l2: np.ndarray
    low: np.ndarray  # −∞ where there is no bound
    high: np.ndarray  # ∞ likewise


@kernel
def curvatures(code, z, y, delta, floor, out):
    """Write max(ℓ″ᵢ, floor·κᵢ) into `out`, in place; κ of Huber's loss is ℓ′/r, and otherwise 1.

    With floor = γ the parabola of curvature γκ that touches the loss lies above it.
    """
    for i in range(z.size):
        least = floor
        if code == HUBER and abs(z[i] - y[i]) > delta:
            least *= delta / abs(z[i] - y[i])
        out[i] = max(loss_curvature(code, z[i], y[i], delta), least)


@kernel
def best_shift(code, z, y, c, delta):
    """argmin over β of Σ cᵢℓ(zᵢ + β): Newton's steps, bisection where they do not halve."""
    low, high, beta, step = -math.inf, math.inf, 0.0, 1.0
    for _ in range(200):
        slope, size, curvature = 0.0, 0.0, 0.0
        for i in range(z.size):
            term = c[i] * loss_slope(code, z[i] + beta, y[i], delta)
            slope += term
            size += abs(term)
            curvature += c[i] * loss_curvature(code, z[i] + beta, y[i], delta)
        if slope > 0.0:
            high = beta
        else:
            low = beta
        newton = -slope / curvature if curvature > 0.0 else math.nan  # nan is inside of nothing
        if abs(slope) <= NEARLY * size:
            return beta + newton if low <= beta + newton <= high else beta
        if high - low == math.inf:  # no end on that side yet: go on with steps that may grow
            longest = 4.0 * abs(step)
            step = newton if abs(newton) < longest else math.copysign(longest, -slope)
        elif low < beta + newton < high and abs(newton) <= 0.5 * abs(step):
            step = newton
        else:
            step = 0.5 * (low + high) - beta
        if beta + step == beta:
            return beta
        beta += step
    return beta


@kernel(fastmath=FAST_SUM)
def add_scores(A, w, z):
    """Add Σⱼ wⱼaⱼ to `z` in place."""
    for j in range(w.size):
        if w[j] != 0.0:
            row_axpy(A, j, w[j], z)


@kernel(fastmath=FAST_SUM)
def products(A, u, out):
    """Write aⱼᵀu into `out`, in place."""
    for j in range(out.size):
        out[j] = row_dot(A, j, u)


@kernel(inline=True)
def _violation(slope, w, held, j):
    """How far 0 is from the subdifferential of slope·w + hⱼ(w): none pulls beyond a bound."""
    if w != 0.0:
        low = high = slope + held.l2[j] * w + math.copysign(held.l1[j], w)
    else:
        low, high = slope - held.l1[j], slope + held.l1[j]
    if w <= held.low[j]:
        low = -math.inf
    if w >= held.high[j]:
        high = math.inf
    return max(low, -high, 0.0)


@kernel(fastmath=FAST_SUM)
def worst_violation(A, order, held, w, u):
    """The largest distance of a slope from optimality over `order`."""
    worst = 0.0
    for j in order:
        worst = max(worst, _violation(row_dot(A, j, u), w[j], held, j))
    return worst


@kernel(fastmath=FAST_SUM)
def sweep(A, r, total, L, m, order, held, w, u):
    """Minimise M in the coordinates of `order` in turn, changing `w` and `u` in place.

    `total` is ‖r‖². Returns the largest distance of a slope from optimality, each as its coordinate
    was met, and the change of b.
    """
    worst, beta = 0.0, 0.0
    for j in order:
        old = w[j]
        slope = row_dot(A, j, u) + beta * total * m[j]
        worst = max(worst, _violation(slope, old, held, j))
        if L[j] > 0.0:
            pull, threshold = L[j] * old - slope, held.l1[j]
            new = (pull - min(max(pull, -threshold), threshold)) / (L[j] + held.l2[j])
        else:
            # A constant feature: its slope is rounding, and only the penalties have a say.
            new = 0.0 if held.l1[j] + held.l2[j] > 0.0 else old
        new = min(max(new, held.low[j]), held.high[j])
        if new != old:
            w[j] = new
            row_axpy(A, j, new - old, u)
            beta -= (new - old) * m[j]
    if beta != 0.0:
        for i in range(u.size):
            u[i] += beta * r[i]
    return worst, beta


@kernel
def descend(A, r, order, held, tight, loose, budget, most, extrapolates, w, u):
    """Lower M over the features of `order`, changing `w` and `u` in place.

    Sweeps over `order` alternate with sweeps over its support, until no slope is further than
    `tight` from optimality, or than `loose` after `budget` sweeps, or for `most` sweeps. Returns
    the change of b and the work, in sweeps over `order`.
    """
    k, n = w.size, u.size
    L, m, total, b = np.zeros(k), np.zeros(k), np.sum(r * r), 0.0
    if total > 0.0:
        b = -np.sum(r * u) / total
        for i in range(n):
            u[i] += b * r[i]
    for j in order:
        square = row_square(A, j)
        if total > 0.0:
            m[j] = row_dot(A, j, r) / total
        curvature = square - m[j] * m[j] * total
        if curvature > FLAT * square:
            L[j] = curvature
    W, U, B = np.empty((MEMORY + 1, k)), np.empty((MEMORY + 1, n)), np.empty(MEMORY + 1)
    work = 0.0
    for _ in range(MOST_ROUNDS):
        met, change = sweep(A, r, total, L, m, order, held, w, u)
        b += change
        work += 1.0
        goal = loose if work >= budget else tight
        if met <= goal:
            # Features that are alike undo each other's steps: each may be near its optimum as it is
            # met, and far from it at the end of the sweep.
            work += 0.5
            if worst_violation(A, order, held, w, u) <= goal:
                break
        if work >= most:
            break
        support = order[w[order] != 0.0]
        goal = SETTLED * met
        for _ in range(MOST_TURNS):
            W[0], U[0], B[0] = w, u, b
            for s in range(1, MEMORY + 1):
                met, change = sweep(A, r, total, L, m, support, held, w, u)
                b += change
                W[s], U[s], B[s] = w, u, b
                work += support.size / order.size
                if met <= goal:
                    break
            if met <= goal or work >= most:
                break
            if extrapolates:
                b = _extrapolate(held, W, U, B, w, u)
    return b, work


@kernel(fastmath=FAST_SUM)
def model_value(held, w, u):
    """M."""
    value = 0.0
    for i in range(u.size):
        value += 0.5 * u[i] * u[i]
    for j in range(w.size):
        value += 0.5 * held.l2[j] * w[j] * w[j] + held.l1[j] * abs(w[j])
    for j in range(w.size):
        if w[j] < held.low[j] or w[j] > held.high[j]:
            return math.inf
    return value


@kernel(fastmath=FAST_SUM)
def _extrapolate(held, W, U, B, w, u):
    """Move `w` and `u`, in place, to where the iterates in `W` and `U` lead, if M is lower there.

    With Rₛ = Wₛ₊₁ − Wₛ it is the point Σₛ aₛWₛ₊₁ whose weights minimise ‖Σ aₛRₛ‖² among those with
    Σa = 1. u and b are affine in w, so the same weights serve them. Returns b.
    Bertrand & Massias, AISTATS 2021.
    """
    G = np.empty((MEMORY, MEMORY))
    for s in range(MEMORY):
        for t in range(s + 1):
            G[s, t] = 0.0
            for j in range(w.size):
                G[s, t] += (W[s + 1, j] - W[s, j]) * (W[t + 1, j] - W[t, j])
            G[t, s] = G[s, t]
    a = affine_weights(G)
    x, y, b = np.zeros(w.size), np.zeros(u.size), 0.0
    for s in range(MEMORY):
        b += a[s] * B[s + 1]
        for j in range(w.size):
            x[j] += a[s] * W[s + 1, j]
        for i in range(u.size):
            y[i] += a[s] * U[s + 1, i]
    if not model_value(held, x, y) < model_value(held, w, u):
        return B[MEMORY]
    w[:] = x
    u[:] = y
    return b


@kernel
def affine_weights(G):
    """argmin of aᵀGa with Σa = 1 for a Gram matrix `G`, which is used up: Ga ∝ 1, a little ridge.

    NaN where G = 0.
    """
    K = G.shape[0]
    a = np.ones(K)
    ridge = RIDGE * np.trace(G) / K
    for s in range(K):
        G[s, s] += ridge
    for s in range(K):  # positive definite: elimination needs no pivots
        for t in range(s + 1, K):
            factor = G[t, s] / G[s, s]
            a[t] -= factor * a[s]
            for q in range(s, K):
                G[t, q] -= factor * G[s, q]
    for s in range(K - 1, -1, -1):
        for t in range(s + 1, K):
            a[s] -= G[s, t] * a[t]
        a[s] /= G[s, s]
    return a / a.sum()
