"""Passes of dual coordinate ascent: visit rows, and give each the dual that is best for it alone.

A sample remembers s, the score at which it was last left; its dual is θ = ℓ′(s). With z its score
now, k = z + qℓ′(s) and q = c(‖x‖²/l2 + 1/κ), the best dual is θ⁺ = ℓ′(s⁺) where

    s⁺ + qℓ′(s⁺) = k        the proximal step of qℓ from k, and the score after the move

    squared         s⁺ = (k + qy)/(1 + q)
    squared hinge   k where yk ≥ 1, else the same
    Huber           k − qδ sign(k − y) where |k − y| > δ(1 + q), else the same
    logistic        by Newton's method on h(u) = u − yk − qσ(−u) = 0 for the margin u = ys⁺

h rises, is convex below 0 and concave above, so that Newton's steps, kept on the root's side of 0,
cannot cycle. As |h″| ≤ h′ whatever q is, a step of length ε leaves an error of ε²/2. A score keeps
all digits of its dual at either end of (0, 1), where θ or 1 − |θ| alone would lose them.

K classes remember probabilities q, θ = q − e_y. With Q for the q above, the best p minimises

    φ(p) = Σₖ pₖ log pₖ − zᵀp + (Q/2)‖p − q‖²        over the simplex

Newton's method is separable but for Σp = 1, and costs O(K) an iteration:

    gₖ = log pₖ − zₖ + Q(pₖ − qₖ)        dₖ = −(gₖ + ν) pₖ/(1 + Qpₖ)        p ← p + d/(1 + M)

with ν such that Σd = 0 and M = max(0, −dₖ/pₖ). Along d no curvature of φ grows by more than
1/(1 − tM), so that the step t = 1/(1 + M) always lowers φ, and it stays inside the simplex.

The coefficients are not stored: with U = −v/l2 and the threshold l1/l2 they are S(U), taken so
while a row reads them, at no measurable cost.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from thalweg.kernels.compile import kernel
from thalweg.kernels.losses import (
    HUBER,
    LOGISTIC,
    SQUARED_HINGE,
    loss_curvature,
    loss_slope,
    loss_value_and_slope,
)
from thalweg.kernels.rows import FAST_SUM, INLINE, columns, entry, row_add_outer, row_axpy, stored

MOST = 60  # Newton steps in a visit; two or three are usual
NEAR = 1e-3  # a step this long is the last one: it leaves an error of half its square
FIRST = 1e-3  # where p begins for a class that had no mass at all: log 0 has no slope
SMALLEST = 1e-300  # probability; below, its logarithm would be lost


class Samples(NamedTuple):
    """The rows, and what the dual asks of them."""

    X: Any
    y: np.ndarray  # float64[n]
    c: np.ndarray  # weights of sum 1, float64[n]
    squares: np.ndarray  # ‖xᵢ‖², float64[n]
    code: int  # of the loss
    delta: float  # of the Huber loss
    l2: float
    threshold: float  # l1/l2


@kernel(inline=True)
def soft(u, threshold):
    """S(u): moved towards 0 by the threshold, at most to 0."""
    return u - min(max(u, -threshold), threshold)


def row_soft_dot(X, i, u, threshold):
    """Σⱼ xᵢⱼS(uⱼ) in float64; only for use inside kernels."""
    raise NotImplementedError


def row_soft_scores(X, i, U, threshold, b, out):
    """out = S(U)ᵀxᵢ + b in place; only for use inside kernels."""
    raise NotImplementedError


def _is_sparse(X):
    return hasattr(X, "instance_class") and "indptr" in X.fields


@overload(row_soft_dot, jit_options=INLINE)
def _row_soft_dot(X, i, u, threshold):
    if _is_sparse(X):

        def csr(X, i, u, threshold):
            total = 0.0
            # Unsigned, an index cannot count from the end: without that test the loop is a vector
            # loop, and a whole pass over short rows takes 0.6 of the time.
            for k in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
                total += stored(X, k) * soft(u[np.uint64(X.indices[k])], threshold)
            return total

        return csr

    def dense(X, i, u, threshold):
        total = 0.0
        for j in range(columns(X)):
            total += entry(X, i, j) * soft(u[j], threshold)
        return total

    return dense


@overload(row_soft_scores, jit_options=INLINE)
def _row_soft_scores(X, i, U, threshold, b, out):
    if _is_sparse(X):

        def csr(X, i, U, threshold, b, out):
            for k in range(out.size):
                out[k] = b[k]
            for e in range(X.indptr[i], X.indptr[i + 1]):
                x, j = stored(X, e), X.indices[e]
                for k in range(out.size):
                    out[k] += x * soft(U[j, k], threshold)

        return csr

    def dense(X, i, U, threshold, b, out):
        for k in range(out.size):
            out[k] = b[k]
        for j in range(columns(X)):
            x = entry(X, i, j)
            for k in range(out.size):
                out[k] += x * soft(U[j, k], threshold)

    return dense


@kernel(inline=True)
def proximal_score(code, s, k, y, q, delta):
    """s⁺ with s⁺ + qℓ′(s⁺) = k; `s` is where a search begins."""
    if code == LOGISTIC:
        return y * _proximal_margin(y * s, y * k, q)
    if code == SQUARED_HINGE and y * k >= 1.0:
        return k
    if code == HUBER and abs(k - y) > delta * (1.0 + q):
        return k - q * math.copysign(delta, k - y)
    return (k + q * y) / (1.0 + q)


@kernel(inline=True)
def _proximal_margin(u, k, q):
    """The root of u − k − qσ(−u)."""
    is_positive = k + 0.5 * q > 0.0
    for _ in range(MOST):
        e = math.exp(-abs(u))
        less = e / (1.0 + e)
        share = less if u > 0.0 else 1.0 - less
        step = (u - k - q * share) / (1.0 + q * less / (1.0 + e))
        u -= step
        if (u > 0.0) != is_positive:
            u = 0.0
        elif abs(step) <= NEAR:
            break
    return u


@kernel(inline=True)
def proximal_shares(z, q, Q, p, d):
    """Change `p`, float64[K], in place to the minimizer of φ; `d` is room for a step."""
    total = 0.0
    for k in range(p.size):
        p[k] = q[k] if q[k] > 0.0 else FIRST
        total += p[k]
    for k in range(p.size):
        p[k] /= total
    for _ in range(MOST):
        inverse, mean = 0.0, 0.0
        for k in range(p.size):
            d[k] = math.log(p[k]) - z[k] + Q * (p[k] - q[k])
            inverse += p[k] / (1.0 + Q * p[k])
            mean += p[k] / (1.0 + Q * p[k]) * d[k]
        mean /= inverse
        shrinks, decrement = 0.0, 0.0
        for k in range(p.size):
            d[k] = (mean - d[k]) / (1.0 + Q * p[k])  # relative to pₖ
            shrinks = max(shrinks, -d[k])
            decrement += p[k] * (1.0 + Q * p[k]) * d[k] * d[k]
        for k in range(p.size):
            p[k] = max(p[k] + p[k] * d[k] / (1.0 + shrinks), SMALLEST)
        if decrement <= NEAR * NEAR:
            break


@kernel(fastmath=FAST_SUM)
def dual_pass(samples, pull, blocks, size, s, u, b):
    """Visit the rows of `blocks`, each of `size`, changing `s`, `u` and `b` in place.

    `pull` is 1/κ, zero where there is no intercept.
    """
    X, y, c, squares, code, delta, l2, threshold = samples
    for block in blocks:
        for i in range(block * size, min(s.size, (block + 1) * size)):
            if c[i] == 0.0:
                continue
            q = c[i] * (squares[i] / l2 + pull)
            theta = loss_slope(code, s[i], y[i], delta)
            z = row_soft_dot(X, i, u, threshold) + b[0]
            s[i] = proximal_score(code, s[i], z + q * theta, y[i], q, delta)
            change = c[i] * (loss_slope(code, s[i], y[i], delta) - theta)
            if change != 0.0:
                row_axpy(X, i, -change / l2, u)
                b[0] -= pull * change


@kernel(fastmath=FAST_SUM)
def class_dual_pass(samples, pull, blocks, size, shares, U, b):
    """The same for K classes, changing `shares`, float64[n, K], `U` and `b` in place."""
    X, _, c, squares, _, _, l2, threshold = samples
    z, p, r = np.empty(b.size), np.empty(b.size), np.empty(b.size)
    for block in blocks:
        for i in range(block * size, min(c.size, (block + 1) * size)):
            if c[i] == 0.0:
                continue
            row_soft_scores(X, i, U, threshold, b, z)
            proximal_shares(z, shares[i], c[i] * (squares[i] / l2 + pull), p, r)
            for k in range(b.size):
                change = c[i] * (p[k] - shares[i, k])
                shares[i, k] = p[k]
                b[k] -= pull * change
                r[k] = -change / l2
            row_add_outer(X, i, r, U)


@kernel
def dual_sums(y, c, code, delta, s):
    """Σ cᵢθᵢ, Σ cᵢℓ″(sᵢ) and Σ cᵢℓ*(θᵢ), the last by ℓ*(ℓ′(s)) = sℓ′(s) − ℓ(s)."""
    sigma, curvature, conjugate = 0.0, 0.0, 0.0
    for i in range(s.size):
        value, theta = loss_value_and_slope(code, s[i], y[i], delta)
        sigma += c[i] * theta
        curvature += c[i] * loss_curvature(code, s[i], y[i], delta)
        conjugate += c[i] * (s[i] * theta - value)
    return sigma, curvature, conjugate


@kernel
def class_dual_sums(labels, c, shares, sigma):
    """Write Σ cᵢθᵢ into `sigma` in place; the least Σ cᵢqₖ(1 − qₖ) of a class, and Σ cᵢℓ*(θᵢ)."""
    curvature, conjugate = np.zeros(sigma.size), 0.0
    for k in range(sigma.size):
        sigma[k] = 0.0
    for i in range(c.size):
        sigma[int(labels[i])] -= c[i]
        for k in range(sigma.size):
            q = shares[i, k]
            sigma[k] += c[i] * q
            curvature[k] += c[i] * q * (1.0 - q)
            if q > 0.0:
                conjugate += c[i] * q * math.log(q)
    return curvature.min(), conjugate
