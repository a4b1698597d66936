"""Sums of products with twice the digits of float64: numbers as a pair, high and low.

    a + b = s + e exactly     s rounded, e what it lost (Knuth)
    a · b = p + e exactly     p rounded, e what it lost (Dekker, after Veltkamp's split)

A score is Σⱼ (xⱼ − aⱼ)wⱼ + b with w and b pairs, and a sum over the samples Σᵢ (xᵢ − a)rᵢ with r a
pair; x − a is a pair of its own. Each result is as if computed with twice the digits and rounded to
a pair (Ogita, Rump & Oishi, SIAM J. Sci. Comput. 26, 2005). No fast mathematics here: it would take
what is lost for zero.

Cost: some 30 operations an entry of a dense X.
"""

from thalweg.kernels.compile import kernel

SPLITTER = 2.0**27 + 1.0


@kernel(inline=True)
def two_sum(a, b):
    """a + b as a pair."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@kernel(inline=True)
def two_product(a, b):
    """a·b as a pair; beyond 10³⁰⁰ the low part is no number, and left out."""
    p = a * b
    c = SPLITTER * a
    a_high = c - (c - a)
    c = SPLITTER * b
    b_high = c - (c - b)
    a_low, b_low = a - a_high, b - b_high
    e = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    return p, e if e == e else 0.0


@kernel(inline=True)
def pair_product(a, a_low, b, b_low):
    """(a + a_low)(b + b_low) as a pair."""
    p, e = two_product(a, b)
    return p, e + (a * b_low + a_low * b)


@kernel
def scores_pass(X, origin, w, w_low, b, b_low, z, z_low):
    """Write Σⱼ (xᵢⱼ − aⱼ)wⱼ + b into `z` and `z_low`, in place."""
    for i in range(X.shape[0]):
        total, low = b, b_low
        for j in range(X.shape[1]):
            x, x_low = two_sum(X[i, j], -origin[j])
            p, e = pair_product(x, x_low, w[j], w_low[j])
            total, lost = two_sum(total, p)
            low += lost + e
        z[i], z_low[i] = two_sum(total, low)


@kernel
def transpose_pass(X, origin, r, r_low, v, v_low):
    """Write Σᵢ (xᵢⱼ − aⱼ)rᵢ into `v` and `v_low`, in place."""
    v[:] = 0.0
    v_low[:] = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x, x_low = two_sum(X[i, j], -origin[j])
            p, e = pair_product(x, x_low, r[i], r_low[i])
            v[j], lost = two_sum(v[j], p)
            v_low[j] += lost + e
    for j in range(X.shape[1]):
        v[j], v_low[j] = two_sum(v[j], v_low[j])


@kernel
def weighted_pass(c, theta, theta_low, r, r_low):
    """Write cᵢθᵢ into `r` and `r_low`, in place; returns Σ cᵢθᵢ as a pair."""
    total, low = 0.0, 0.0
    for i in range(r.size):
        r[i], r_low[i] = pair_product(c[i], 0.0, theta[i], theta_low[i])
        total, lost = two_sum(total, r[i])
        low += lost + r_low[i]
    return two_sum(total, low)
