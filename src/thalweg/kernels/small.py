"""Newton's steps on data that fit in cache, each one call: the whole step costs what it multiplies.

    F(w) = Σᵢ cᵢ ℓ(aᵢᵀw, yᵢ) + (l2/2)‖w₁…w_p‖²            aᵢ = (xᵢ, 1) with an intercept, else xᵢ
    H = Σᵢ cᵢℓ″ᵢaᵢaᵢᵀ + l2·I                             d = −H⁻¹∇F(w),   w⁺ = w + αd

H is factorised with ones on its diagonal, so that units do not matter. α is about where F is lowest
along d: φ′(α) = Σ cᵢℓ′(zᵢ + αtᵢ)tᵢ + …, with t = Ad, grows with α, and Newton's method on it, kept
within what is known of its zero, costs O(n) a trial. For a loss with kinks, whose curvature is zero
beside them, that search is what makes the steps descend; after finitely many the right pieces of
the loss are found, and the last step leads to their minimum (Mangasarian, Optim. Methods Softw. 17,
2002).

Where the step has left little, ½gᵀH⁻¹g ≤ `near`, further steps with the same factor take the rest:
each costs one look at A.

A is float64[n, q] by rows, of all kinds of data: a copy of small data costs nothing. Cost: n·q²/2
multiplications and q³/6. For K classes see `small_classes`.
"""

import math

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.losses import (
    loss_curvature,
    loss_slope,
    loss_value_and_slope,
)
from thalweg.kernels.rows import FAST_SUM

TRIALS = 40  # of a line search
FLAT = 0.1  # of |φ′(0)|: a slope that is as good as none
REFINEMENTS = 3  # with one factor
GAINS = 0.1  # of ½gᵀH⁻¹g, that a refinement leaves at most: another one is worth it
SAFE = 1e-9  # least squared pivot of a matrix with ones on its diagonal


@kernel(fastmath=FAST_SUM)
def weighted_gram(A, h, H):
    """Write the lower half of Σᵢ hᵢaᵢaᵢᵀ into `H`, float64[q, q], in place.

    Rows of hᵢ = 0 cost nothing. What is above the diagonal holds nothing of use.
    """
    n, q = A.shape
    kept, m = np.empty(n, np.int64), 0
    for i in range(n):
        if h[i] != 0.0:
            kept[m] = i
            m += 1
    H[:, :] = 0.0
    whole = m - m % 4
    # Four rows and two columns at a time: an entry of H is read and written once for four products,
    # and one of A is read once for two.
    for first in range(0, whole, 4):
        i0, i1, i2, i3 = kept[first], kept[first + 1], kept[first + 2], kept[first + 3]
        h0, h1, h2, h3 = h[i0], h[i1], h[i2], h[i3]
        for j in range(0, q - 1, 2):
            s0, s1, s2, s3 = h0 * A[i0, j], h1 * A[i1, j], h2 * A[i2, j], h3 * A[i3, j]
            t0, t1 = h0 * A[i0, j + 1], h1 * A[i1, j + 1]
            t2, t3 = h2 * A[i2, j + 1], h3 * A[i3, j + 1]
            for k in range(j + 2):
                a0, a1, a2, a3 = A[i0, k], A[i1, k], A[i2, k], A[i3, k]
                H[j, k] += s0 * a0 + s1 * a1 + s2 * a2 + s3 * a3
                H[j + 1, k] += t0 * a0 + t1 * a1 + t2 * a2 + t3 * a3
        for j in range(q - q % 2, q):
            s0, s1, s2, s3 = h0 * A[i0, j], h1 * A[i1, j], h2 * A[i2, j], h3 * A[i3, j]
            for k in range(j + 1):
                H[j, k] += s0 * A[i0, k] + s1 * A[i1, k] + s2 * A[i2, k] + s3 * A[i3, k]
    for first in range(whole, m):
        i0 = kept[first]
        for j in range(q):
            t0 = h[i0] * A[i0, j]
            for k in range(j + 1):
                H[j, k] += t0 * A[i0, k]


@kernel(fastmath=FAST_SUM)
def factorise(H, scale):
    """Turn the lower half of `H` into the factor L of D^−½HD^−½, and `scale` into D^−½, in place.

    Returns the least squared pivot; at most 0 where there is no factor.
    """
    q = H.shape[0]
    for j in range(q):
        if not H[j, j] > 0.0:
            return 0.0
        scale[j] = 1.0 / math.sqrt(H[j, j])
    least = math.inf
    for j in range(q):
        for k in range(j):
            total = 0.0
            for m in range(k):
                total += H[j, m] * H[k, m]
            H[j, k] = (H[j, k] * scale[j] * scale[k] - total) / H[k, k]
        total = 0.0
        for m in range(j):
            total += H[j, m] * H[j, m]
        pivot = 1.0 - total
        if not pivot > 0.0:
            return 0.0
        least = min(least, pivot)
        H[j, j] = math.sqrt(pivot)
    return least


@kernel(fastmath=FAST_SUM)
def solve(L, scale, g, d):
    """Write −H⁻¹g into `d`, in place, by the factor of `factorise`; returns ½gᵀH⁻¹g."""
    q, squares = g.size, 0.0
    for j in range(q):
        total = scale[j] * g[j]
        for k in range(j):
            total -= L[j, k] * d[k]
        d[j] = total / L[j, j]
        squares += d[j] * d[j]
    for j in range(q - 1, -1, -1):
        d[j] /= L[j, j]
        for k in range(j):
            d[k] -= L[j, k] * d[j]
    for j in range(q):
        d[j] *= -scale[j]
    return 0.5 * squares


@kernel(fastmath=FAST_SUM)
def _scores(A, w, z):
    """Write Aw into `z`, float64[n], in place."""
    for i in range(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * w[j]
        z[i] = total


@kernel
def largest(g):
    """‖g‖∞ of a vector; not a number where an entry is not."""
    found = 0.0
    for j in range(g.size):
        if not abs(g[j]) <= found:
            found = abs(g[j])
    return found


@kernel(fastmath=FAST_SUM)
def look(code, A, y, c, delta, l2, p, w, z, g):
    """Write Aw into `z` and ∇F(w) into `g`, in place; returns F(w)."""
    value = 0.0
    g[:] = 0.0
    for i in range(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * w[j]
        z[i] = total
        loss, slope = loss_value_and_slope(code, total, y[i], delta)
        value += c[i] * loss
        slope *= c[i]
        if slope != 0.0:
            for j in range(A.shape[1]):  # while the row is at hand
                g[j] += slope * A[i, j]
    squares = 0.0
    for j in range(p):
        squares += w[j] * w[j]
        g[j] += l2 * w[j]
    return value + 0.5 * l2 * squares


@kernel
def l1_look(code, A, y, c, delta, l1, l2, p, w, z, g):
    """`look` with l1‖w₁…w_p‖₁: writes ∇f(w), without it; returns F(w) and how far 0 is from ∂F(w).

    The largest distance of a coordinate.
    """
    value = look(code, A, y, c, delta, l2, p, w, z, g)
    furthest = 0.0
    for j in range(w.size):
        held = l1 if j < p else 0.0
        value += held * abs(w[j])
        if w[j] == 0.0:
            far = max(abs(g[j]) - held, 0.0)
        else:
            far = abs(g[j] + math.copysign(held, w[j]))
        furthest = max(furthest, far)
    return value, furthest


@kernel
def quadratic(A, c, l2, p, H):
    """Write Σᵢ cᵢaᵢaᵢᵀ + l2·I into `H`, both halves, in place: the Hessian of the squared loss."""
    weighted_gram(A, c, H)
    for j in range(H.shape[0]):
        for k in range(j):
            H[k, j] = H[j, k]
        if j < p:
            H[j, j] += l2


@kernel
def newton_step(code, A, y, c, delta, l2, p, near, w, z, g, value):
    """Change `w`, its scores `z` and its gradient `g` in place by one step; `value` is F(w).

    Returns F, ½gᵀH⁻¹g and the looks at A: of the new point, or with a NaN where there is none, or
    H is nearly singular.
    """
    n, q = A.shape
    h, t, d, scale = np.empty(n), np.empty(n), np.empty(q), np.empty(q)
    L, spare, ahead = np.empty((q, q)), np.empty(q), np.empty(q)
    for i in range(n):
        h[i] = c[i] * loss_curvature(code, z[i], y[i], delta)
    weighted_gram(A, h, L)
    for j in range(p):
        L[j, j] += l2
    if not factorise(L, scale) > SAFE:
        return value, math.nan, 1.0
    left = solve(L, scale, g, d)
    _scores(A, d, t)
    step = _line(code, y, c, delta, l2, p, w, d, z, t, -2.0 * left)
    for j in range(q):
        w[j] += step * d[j]
    value = look(code, A, y, c, delta, l2, p, w, z, g)
    left = solve(L, scale, g, d)
    looks = 3.0
    for _ in range(REFINEMENTS):
        if not 0.0 < left <= near:
            break
        for j in range(q):
            ahead[j] = w[j] + d[j]
        after = look(code, A, y, c, delta, l2, p, ahead, t, spare)
        remains = solve(L, scale, spare, d)
        looks += 1.0
        if not remains < left:
            break
        is_worth_more = remains <= GAINS * left
        value, left = after, remains
        w[:], z[:], g[:] = ahead, t, spare
        if not is_worth_more:
            break
    return value, left, looks


@kernel(fastmath=FAST_SUM)
def _line(code, y, c, delta, l2, p, w, d, z, t, slope):
    """The α where F(w + αd) is about lowest, of this slope at 0; t = Ad."""
    along, length = 0.0, 0.0
    for j in range(p):
        along += w[j] * d[j]
        length += d[j] * d[j]
    low, high, step = 0.0, math.inf, 1.0
    for _ in range(TRIALS):
        here, bend = l2 * (along + step * length), l2 * length
        for i in range(z.size):
            at = z[i] + step * t[i]
            here += c[i] * loss_slope(code, at, y[i], delta) * t[i]
            bend += c[i] * loss_curvature(code, at, y[i], delta) * t[i] * t[i]
        if abs(here) <= -FLAT * slope:
            break
        if here < 0.0:
            low = step
        else:
            high = step
        guess = step - here / bend
        if not low < guess < high:
            guess = 0.5 * (low + high) if high < math.inf else 2.0 * step
        step = min(guess, 10.0 * step)
    return step
