"""Losses of targets y ≥ 0 whose mean is e^z: Poisson, gamma and Tweedie, half of a unit deviance.

With a power 1 ≤ p ≤ 2, the variance of y being proportional to (its mean)ᵖ, and k = 2 − p,
t = z − log y, φ(s) = eˢ − 1 − s ≥ 0,

                          ℓ(z, y) for y > 0                y = 0       ℓ′                    ℓ″
    Poisson, p = 1        y φ(t)                           e^z         e^z − y               e^z
    gamma, p = 2          φ(−t)                            none        1 − ye^(−z)           ye^(−z)
    Tweedie, 1 < p < 2    yᵏ(φ(kt)/k + φ((k−1)t)/(1−k))    e^(kz)/k    e^(kz) − ye^((k−1)z)

and ℓ″ = ke^(kz) + (1 − k)ye^((k−1)z). No loss is negative, and it is zero where e^z = y: where t is
small, φ is a series, so that nothing cancels. ℓ″ has no bound: there is no L.

    ℓ*(θ) = θ log y + yᵏ ψ(θ/yᵏ)        ψ(a) = sup_t at − ℓ(t, 1)

    Poisson   ψ(a) = (1 + a)log(1 + a) − a     a ≥ −1        y = 0: θ log θ − θ, θ ≥ 0
    gamma     ψ(a) = (1 − a)log(1 − a) + a     a ≤ 1
    Tweedie   by Newton's steps in t           all a         y = 0: (θ log θ − θ)/k, θ ≥ 0

An exposure eᵒ, z + o in place of z, is a weight e^(ko) and a target ye^(−o): ℓ(z + o, y) is
e^(ko) ℓ(z, ye^(−o)).

Jørgensen, The Theory of Dispersion Models (1997).
"""

import math

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.exponential import exp_of, log_of

NEAR = 0.5  # |s| below which φ is a series
STEPS = 100  # to the maximizer of ψ: Newton's, or half of a bracket
ARRIVED = 1e-15  # of a step, beside t: what is left of ψ is its square


@kernel(inline=True)
def _excess(s, e):
    """φ(s) = eˢ − 1 − s, from s and e = eˢ."""
    near = s if abs(s) < NEAR else 0.0
    r2 = near * near
    # s²(1/2! + s/3! + …), to s¹⁵/15!, in pairs.
    low = (1 / 2 + near * (1 / 6)) + r2 * (1 / 24 + near * (1 / 120))
    middle = (1 / 720 + near * (1 / 5040)) + r2 * (1 / 40320 + near * (1 / 362880))
    high = (1 / 3628800 + near * (1 / 39916800)) + r2 * (1 / 479001600 + near * (1 / 6227020800))
    r4 = r2 * r2
    series = r2 * (low + r4 * (middle + r4 * (high + r4 * (1 / 87178291200))))
    return series if abs(s) < NEAR else (e - 1.0) - s


@kernel(inline=True)
def poisson(z, y):
    """ℓ, ℓ′ and ℓ″ for p = 1."""
    mean = exp_of(z)
    if y <= 0.0:
        return mean, mean, mean
    t = z - log_of(y)
    return y * _excess(t, mean / y), mean - y, mean


@kernel(inline=True)
def gamma(z, y):
    """ℓ, ℓ′ and ℓ″ for p = 2."""
    ratio = y * exp_of(-z)
    return _excess(log_of(y) - z, ratio), 1.0 - ratio, ratio


@kernel(inline=True)
def tweedie(z, y, power):
    """ℓ, ℓ′ and ℓ″ for 1 < p < 2."""
    k = 2.0 - power
    up = exp_of(k * z)
    if y <= 0.0:
        return up / k, up, k * up
    down = y * exp_of((k - 1.0) * z)
    log_y = log_of(y)
    t, unit = z - log_y, exp_of(k * log_y)
    value = _excess(k * t, up / unit) / k + _excess((k - 1.0) * t, down / unit) / (1.0 - k)
    return unit * value, up - down, k * up + (1.0 - k) * down


@kernel(inline=True)
def poisson_conjugate(theta, y):
    """ℓ*(θ) for p = 1."""
    mean = y + theta
    if mean < 0.0:
        return math.inf
    if y <= 0.0:
        return mean * math.log(mean) - mean if mean > 0.0 else 0.0
    entropy = 0.0
    if mean > 0.0:
        entropy = mean * (math.log1p(theta / y) if theta < y else math.log(mean) - math.log(y))
    return theta * math.log(y) + (entropy - theta)


@kernel(inline=True)
def gamma_conjugate(theta, y):
    """ℓ*(θ) for p = 2."""
    if theta > 1.0:
        return math.inf
    entropy = (1.0 - theta) * math.log1p(-theta) if theta < 1.0 else 0.0
    return theta * math.log(y) + (entropy + theta)


@kernel(inline=True)
def tweedie_conjugate(theta, y, power):
    """ℓ*(θ) for 1 < p < 2."""
    k = 2.0 - power
    if y <= 0.0:
        if theta < 0.0:
            return math.inf
        return (theta * math.log(theta) - theta) / k if theta > 0.0 else 0.0
    unit = math.exp(k * math.log(y))
    a = theta / unit
    # The slope of ℓ(t, 1) is a somewhere between 0 and the edge where one of its terms alone is.
    low = 0.0 if a > 0.0 else -math.log1p(-a) / (1.0 - k)
    high = math.log1p(a) / k if a > 0.0 else 0.0
    t = 0.5 * (low + high)
    for _ in range(STEPS):
        up, down = math.exp(k * t), math.exp((k - 1.0) * t)
        miss = up - down - a
        if miss > 0.0:
            high = t
        else:
            low = t
        ahead = t - miss / (k * up + (1.0 - k) * down)
        ahead = ahead if low <= ahead <= high else 0.5 * (low + high)
        moved = abs(ahead - t)
        t = ahead
        if moved <= ARRIVED * abs(t):
            break
    value, _, _ = tweedie(t, 1.0, power)
    return theta * math.log(y) + unit * (a * t - value)


@kernel
def means_pass(z, y, c, power):
    """log(Σ cᵢyᵢe^((1−p)zᵢ) / Σ cᵢe^((2−p)zᵢ)): the shift of scores at which slopes cancel."""
    # Powers of e^z are taken of scores less a common one, so that none overflows.
    top = z[0]
    for i in range(1, z.size):
        top = max(top, z[i]) if power < 2.0 else min(top, z[i])
    weight, total = 0.0, 0.0
    for i in range(z.size):
        weight += c[i] * math.exp((2.0 - power) * (z[i] - top))
        total += c[i] * y[i] * math.exp((1.0 - power) * (z[i] - top))
    return np.log(total) - np.log(weight) - top
