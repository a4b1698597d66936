"""Linear models with twice the digits: scores, slopes, sums over samples, a matrix and its factor.

All of a name and its `_low` are pairs (`kernels.twofold`). With A the features, of n rows and q
columns, and K scores a sample,

    Z = AW            T = ∇ℓ(Z)            V = Σᵢ cᵢaᵢtᵢᵀ            G = Σᵢ hᵢaᵢaᵢᵀ = LLᵀ

Each sum is as if computed with twice the digits, and rounded to a pair (Ogita, Rump & Oishi, SIAM
J. Sci. Comput. 26, 2005). Slopes are pairs too. Values are float64, each term right to some units
in the last place: nothing cancels in a loss, nor in the entropy −ℓ* of the probabilities.

Cost: some 30 operations an entry of A and score, and of A and column for G; 500 an exponential.
"""

import math

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.losses import HUBER, SQUARED_HINGE, index_of_largest
from thalweg.kernels.twofold import (
    pair_exp,
    pair_product,
    pair_quotient,
    pair_root,
    pair_sum,
    two_sum,
)


@kernel
def features_pass(values, origin, scales, A, A_low):
    """Write (xᵢⱼ − aⱼ)dⱼ into the first columns of `A` and `A_low`, in place."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            x, x_low = two_sum(values[i, j], -origin[j])
            p, e = pair_product(x, x_low, scales[j], 0.0)
            A[i, j], A_low[i, j] = two_sum(p, e)


@kernel
def scores_pass(A, A_low, W, W_low, Z, Z_low):
    """Write AW into `Z` and `Z_low`, in place."""
    for i in range(A.shape[0]):
        for k in range(W.shape[1]):
            total, low = 0.0, 0.0
            for j in range(A.shape[1]):
                p, e = pair_product(A[i, j], A_low[i, j], W[j, k], W_low[j, k])
                total, lost = two_sum(total, p)
                low += lost + e
            Z[i, k], Z_low[i, k] = two_sum(total, low)


@kernel
def transpose_pass(A, A_low, c, T, T_low, V, V_low):
    """Write Σᵢ cᵢaᵢtᵢᵀ into `V` and `V_low`, in place."""
    V[:, :] = 0.0
    V_low[:, :] = 0.0
    for i in range(A.shape[0]):
        for k in range(T.shape[1]):
            r, r_low = pair_product(T[i, k], T_low[i, k], c[i], 0.0)
            for j in range(A.shape[1]):
                p, e = pair_product(A[i, j], A_low[i, j], r, r_low)
                V[j, k], lost = two_sum(V[j, k], p)
                V_low[j, k] += lost + e
    for j in range(V.shape[0]):
        for k in range(V.shape[1]):
            V[j, k], V_low[j, k] = two_sum(V[j, k], V_low[j, k])


@kernel
def softmax_pass(Z, Z_low, labels, c, T, T_low, P):
    """Write tᵢ = pᵢ − e_yᵢ into `T` and `T_low`, pᵢ = softmax(zᵢ) into `P`, in place.

    Returns Σ cᵢℓᵢ.
    """
    value, low = 0.0, 0.0
    for i in range(Z.shape[0]):
        label, best = labels[i], index_of_largest(Z[i])
        rest, rest_low = 0.0, 0.0
        for k in range(Z.shape[1]):
            d, d_low = pair_sum(Z[i, k], Z_low[i, k], -Z[i, best], -Z_low[i, best])
            T[i, k], T_low[i, k] = pair_exp(d, d_low)
            if k != best:
                rest, rest_low = pair_sum(rest, rest_low, T[i, k], T_low[i, k])
        total, total_low = pair_sum(1.0, 0.0, rest, rest_low)
        # p_c − 1 is minus the other probabilities: each row of T sums to zero.
        others, others_low = 0.0, 0.0
        for k in range(Z.shape[1]):
            T[i, k], T_low[i, k] = pair_quotient(T[i, k], T_low[i, k], total, total_low)
            P[i, k] = T[i, k]
            if k != label:
                others, others_low = pair_sum(others, others_low, T[i, k], T_low[i, k])
        T[i, label], T_low[i, label] = -others, -others_low
        deficit = (Z[i, best] - Z[i, label]) + (Z_low[i, best] - Z_low[i, label])
        value, low = pair_sum(value, low, c[i] * (deficit + math.log1p(rest)), 0.0)
    return value + low


@kernel
def entropies_pass(Z, Z_low, labels, c, scale):
    """−Σ cᵢℓ*(s·tᵢ) at the slopes tᵢ of softmax, for s = `scale` in [0, 1]."""
    total, low = 0.0, 0.0
    e = np.empty(Z.shape[1])
    for i in range(Z.shape[0]):
        best = index_of_largest(Z[i])
        rest = 0.0
        for k in range(e.size):
            d, d_low = pair_sum(Z[i, k], Z_low[i, k], -Z[i, best], -Z_low[i, best])
            e[k], _ = pair_exp(d, d_low)
            rest += e[k] if k != best else 0.0
        entropy = 0.0
        for k in range(e.size):
            # q = sp, and 1 − s more at the label; 1 − q without taking it from 1.
            others = rest if k == best else 1.0 + rest - e[k]
            lift = 1.0 - scale if k == labels[i] else 0.0
            q = scale * e[k] / (1.0 + rest) + lift
            complement = scale * others / (1.0 + rest) + (1.0 - scale - lift)
            if not q <= 0.0:  # rather than q > 0, which would drop a NaN
                entropy -= q * (math.log1p(-complement) if complement < 0.5 else math.log(q))
        total, low = pair_sum(total, low, c[i] * entropy, 0.0)
    return total + low


@kernel
def residuals_pass(code, z, z_low, y, c, delta, theta, theta_low, bends):
    """Write slopes and cᵢℓ″ᵢ of losses that are quadratic in pieces, in place; returns Σ cᵢℓᵢ."""
    value, low = 0.0, 0.0
    for i in range(z.size):
        r, r_low = pair_sum(z[i], z_low[i], -y[i], 0.0)
        t, t_low, bend = r, r_low, 1.0
        if code == SQUARED_HINGE and not (y[i] * r < 0.0):
            t, t_low, bend = 0.0, 0.0, 0.0
        elif code == HUBER:
            side = 1.0 if r > 0.0 else -1.0
            if side * r > delta or (side * r == delta and side * r_low > 0.0):
                t, t_low, bend = side * delta, 0.0, 0.0
        theta[i], theta_low[i], bends[i] = t, t_low, bend * c[i]
        # A slope that is not clipped is the residual, and Huber's branches are one.
        value, low = pair_sum(value, low, c[i] * t * (r - 0.5 * t), 0.0)
    return value + low


@kernel
def conjugates_pass(theta, theta_low, y, c, scale):
    """Σ cᵢℓ*(sθᵢ) of the same losses, ℓ*(θ) = θ(y + ½θ), and the size of what is summed."""
    total, low, size = 0.0, 0.0, 0.0
    for i in range(theta.size):
        t, t_low = pair_product(theta[i], theta_low[i], scale, 0.0)
        u, u_low = pair_sum(y[i], 0.0, 0.5 * t, 0.5 * t_low)
        u, u_low = pair_product(u, u_low, t, t_low)
        u, u_low = pair_product(u, u_low, c[i], 0.0)
        total, low = pair_sum(total, low, u, u_low)
        size += c[i] * abs(t) * (abs(y[i]) + 0.5 * abs(t))
    return total + low, size


@kernel
def gram_pass(A, A_low, h, G, G_low):
    """Write Σᵢ hᵢaᵢaᵢᵀ into `G` and `G_low`, in place."""
    q = A.shape[1]
    G[:, :] = 0.0
    G_low[:, :] = 0.0
    for i in range(A.shape[0]):
        for j in range(q):
            r, r_low = pair_product(A[i, j], A_low[i, j], h[i], 0.0)
            if r != 0.0:
                for k in range(j + 1):
                    p, e = pair_product(A[i, k], A_low[i, k], r, r_low)
                    G[j, k], lost = two_sum(G[j, k], p)
                    G_low[j, k] += lost + e
    for j in range(q):
        for k in range(j + 1):
            G[j, k], G_low[j, k] = two_sum(G[j, k], G_low[j, k])
            G[k, j], G_low[k, j] = G[j, k], G_low[j, k]


@kernel
def factor_pass(L, L_low):
    """Change the lower half of a matrix to its Cholesky factor, in place; whether there is one."""
    for i in range(L.shape[0]):
        for j in range(i + 1):
            total, low = L[i, j], L_low[i, j]
            for k in range(j):
                p, e = pair_product(L[i, k], L_low[i, k], L[j, k], L_low[j, k])
                total, lost = two_sum(total, -p)
                low += lost - e
            total, low = two_sum(total, low)
            if i > j:
                L[i, j], L_low[i, j] = pair_quotient(total, low, L[j, j], L_low[j, j])
            elif total > 0.0:
                L[i, i], L_low[i, i] = pair_root(total, low)
            else:
                return False
    return True


@kernel
def solve_pass(L, L_low, x, x_low):
    """Change the right-hand side `x` to the solution of LLᵀx = it, in place."""
    for i in range(x.size):
        total, low = x[i], x_low[i]
        for k in range(i):
            p, e = pair_product(L[i, k], L_low[i, k], x[k], x_low[k])
            total, lost = two_sum(total, -p)
            low += lost - e
        total, low = two_sum(total, low)
        x[i], x_low[i] = pair_quotient(total, low, L[i, i], L_low[i, i])
    for i in range(x.size - 1, -1, -1):
        x[i], x_low[i] = pair_quotient(x[i], x_low[i], L[i, i], L_low[i, i])
        for k in range(i):
            p, e = pair_product(L[i, k], L_low[i, k], x[i], x_low[i])
            x[k], x_low[k] = pair_sum(x[k], x_low[k], -p, -e)
