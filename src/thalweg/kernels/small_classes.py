"""Newton's steps for K classes on data that fit in cache, each one call.

    F(W) = Σᵢ cᵢ ℓ(Wᵀaᵢ, yᵢ) + (l2/2)‖W₁…W_p‖²          W float64[q, K], ℓ the multinomial loss
    ∇²F = Σᵢ cᵢ aᵢaᵢᵀ ⊗ (diag(pᵢ) − pᵢpᵢᵀ) + l2·I        pᵢ = softmax(Wᵀaᵢ)

The direction is found by conjugate gradients, which stop when they have taken a share 1 − η off
the residual, preconditioned by the K diagonal blocks

    M = Σᵢ cᵢpᵢₖ(1 − pᵢₖ) aᵢaᵢᵀ + l2·I        k = 1 … K

which see each class by itself, and with it the units of the columns and what they have in common:
about ten products a step, where the diagonal alone takes three times as many and a factor of all K²
blocks the time of hundreds. Rows of little curvature, most of them in the end, are left out of M.
η² is the decrement by F(0), within [`least`, 0.3²]: left to fall, it makes the steps converge
superlinearly.

Along one vector added to the intercepts of all classes F is flat, and along one added to all
coefficients nothing but l2 bends it. The gradient has no part there but for rounding.

Cost: K·n·q²/2 multiplications a step, and 2nqK a product.
Dembo, Eisenstat & Steihaug, SIAM J. Numer. Anal. 19 (1982), for η.
"""

import math

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.losses import multinomial_value_and_slope
from thalweg.kernels.rows import FAST_SUM
from thalweg.kernels.small import factorise, solve, weighted_gram

TRIALS = 40  # halvings of a step, about
DECREASE = 1e-4  # of what the slope at 0 promises
LOOSEST = 0.3  # η₀
PRODUCTS = 300  # a step, at most
ROUGH = 1e-2  # of the largest curvature: rows of less are left out of a preconditioner
LEAST_PIVOT = 1e-12  # of a preconditioner, which may be rough


@kernel
def look(A, labels, c, l2, p, W, P, G):
    """Write softmax(AW) into `P`, float64[n, K], and ∇F(W) into `G`, in place; returns F(W)."""
    K = W.shape[1]
    R, value = np.dot(A, W), 0.0
    for i in range(A.shape[0]):
        label = labels[i]
        value += c[i] * multinomial_value_and_slope(R[i], label, R[i])
        for k in range(K):
            P[i, k] = R[i, k]
            R[i, k] *= c[i]
        P[i, label] += 1.0
    np.dot(A.T, R, G)
    squares = 0.0
    for j in range(p):
        for k in range(K):
            squares += W[j, k] * W[j, k]
            G[j, k] += l2 * W[j, k]
    return value + 0.5 * l2 * squares


@kernel
def newton_step(A, labels, c, l2, p, null, least, W, P, G, value):
    """Change `W`, its probabilities `P` and its gradient `G` in place by one step, of this F.

    `null` is F(0). Returns F, ½gᵀM⁻¹g, which stands for ½gᵀH⁻¹g, the products and the looks at F:
    of the new point, or with a NaN where there is none.
    """
    n, q = A.shape
    K = W.shape[1]
    M, scales, h = np.empty((K, q, q)), np.empty((K, q)), np.empty(n)
    for k in range(K):
        largest = 0.0
        for i in range(n):
            h[i] = c[i] * P[i, k] * (1.0 - P[i, k])
            largest = max(largest, h[i])
        for i in range(n):
            if h[i] < ROUGH * largest:
                h[i] = 0.0
        weighted_gram(A, h, M[k])
        for j in range(q):
            M[k, j, j] = (M[k, j, j] + (l2 if j < p else 0.0)) * (1.0 + LEAST_PIVOT)
        if not factorise(M[k], scales[k]) > LEAST_PIVOT:
            return value, math.nan, 0.0, 0.0
    D, Z, R = np.zeros((q, K)), np.empty((q, K)), -G
    before = _preconditioned(M, scales, R, Z)
    share = min(LOOSEST * LOOSEST, max(before / null, least))
    S, now, products = Z.copy(), before, 0.0
    T, HS = np.empty((n, K)), np.empty((q, K))
    for _ in range(PRODUCTS):
        _times(A, c, P, l2, p, S, T, HS)
        products += 1.0
        bend = _inner(S, HS)
        if not bend > 0.0:
            break
        length = now / bend
        for j in range(q):
            for k in range(K):
                D[j, k] += length * S[j, k]
                R[j, k] -= length * HS[j, k]
        after = _preconditioned(M, scales, R, Z)
        if not after > share * before:
            break
        for j in range(q):
            for k in range(K):
                S[j, k] = Z[j, k] + after / now * S[j, k]
        now = after
    value, looks = _searched(A, labels, c, l2, p, W, P, G, D, value, _inner(G, D))
    if math.isnan(value):
        return value, math.nan, products, looks
    return value, 0.5 * _preconditioned(M, scales, G, Z), products, looks


@kernel
def _searched(A, labels, c, l2, p, W, P, G, D, value, slope):
    """Go from W along D, in place, to where F is lower, of this slope at 0; F there, and the looks.

    NaN, and W as it was, where there is no such place.
    """
    R, there, step = np.empty(P.shape), np.empty(G.shape), 1.0
    noise = 4.0 * np.finfo(np.float64).eps * abs(value)
    for trial in range(TRIALS):
        ahead = W + step * D
        found = look(A, labels, c, l2, p, ahead, R, there)
        if found <= value + DECREASE * step * slope + noise:
            W[:, :], P[:, :], G[:, :] = ahead, R, there
            return found, trial + 1.0
        # Where the slope would be zero if it were straight, kept off both ends.
        bent = slope - _inner(there, D)
        step *= min(max(slope / bent, 0.1), 0.5) if bent < 0.0 else 0.5
    return math.nan, float(TRIALS)


@kernel
def _times(A, c, P, l2, p, S, T, out):
    """Write ∇²F·S into `out`, float64[q, K], in place; T is room for n × K numbers."""
    np.dot(A, S, T)
    K = S.shape[1]
    for i in range(A.shape[0]):
        mean = 0.0
        for k in range(K):
            mean += P[i, k] * T[i, k]
        for k in range(K):
            T[i, k] = c[i] * P[i, k] * (T[i, k] - mean)
    np.dot(A.T, T, out)
    for j in range(p):
        for k in range(K):
            out[j, k] += l2 * S[j, k]


@kernel(fastmath=FAST_SUM)
def _inner(S, T):
    """Σ SⱼₖTⱼₖ."""
    total = 0.0
    for j in range(S.shape[0]):
        for k in range(S.shape[1]):
            total += S[j, k] * T[j, k]
    return total


@kernel
def _preconditioned(M, scales, R, Z):
    """Write M⁻¹R into `Z`, in place, class by class; returns Σ RⱼₖZⱼₖ."""
    q, K = R.shape
    g, d, total = np.empty(q), np.empty(q), 0.0
    for k in range(K):
        for j in range(q):
            g[j] = R[j, k]
        total += 2.0 * solve(M[k], scales[k], g, d)
        for j in range(q):
            Z[j, k] = -d[j]
    return total
