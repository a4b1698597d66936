"""The losses of linear models, with slopes, curvatures and conjugates, as functions of one score.

For the score z = xᵀw + b of a sample and its target y, with σ(t) = 1/(1 + e^(−t)) and r = z − y,

                   ℓ(z, y)                              ℓ′, the slope in z    ℓ″                L
    squared        ½r²                                  r                     1                 1
    logistic       log(1 + e^(−yz)),  y = ±1            −y σ(−yz)             σ(yz) σ(−yz)      ¼
    squared hinge  ½ max(0, 1 − yz)²,  y = ±1           −y max(0, 1 − yz)     1 where yz < 1    1
    Huber, δ > 0   ½r² if |r| ≤ δ, else δ|r| − ½δ²      r, clipped to ±δ      1 where |r| ≤ δ   1

and ℓ″ = 0 elsewhere (the last two have kinks in ℓ′; there ℓ″ is one of its two sides). L bounds ℓ″:
it is the Lipschitz constant of ℓ′. Those of a mean e^z (Poisson, gamma, Tweedie) are in `log_link`,
and have no L. The conjugates ℓ*(θ) = sup_z θz − ℓ(z, y), infinite outside
their domains, are

    squared        yθ + ½θ²                             all θ
    logistic       q log q + (1 − q) log(1 − q)         q = −yθ in [0, 1], 0 log 0 = 0
    squared hinge  yθ + ½θ²                             yθ ≤ 0
    Huber          yθ + ½θ²                             |θ| ≤ δ

so that ℓ(z) + ℓ*(θ) ≥ zθ, with equality at θ = ℓ′(z): what duality gaps are made of.

Several classes: for scores s in ℝᴷ, a label c and p = softmax(s),

    ℓ(s, c) = log Σₖ exp(sₖ) − s_c        ∇ℓ = p − e_c        ∇²ℓ = diag(p) − ppᵀ
    ℓ*(θ) = Σₖ qₖ log qₖ  with q = θ + e_c in the simplex

By Gershgorin's circles no eigenvalue of ∇²ℓ exceeds max 2pₖ(1 − pₖ) ≤ ½; p = (½, ½) attains it.

A kernel chooses its loss by an integer code: a compiled function as an argument would compile the
kernel again in every process. The arithmetic is float64 whatever the arguments are. No code, label
or target is checked; a NaN score gives a NaN value and slope.
"""

import math

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.exponential import exp_of_negative, log1p_of_unit
from thalweg.kernels.log_link import (
    gamma,
    gamma_conjugate,
    poisson,
    poisson_conjugate,
    tweedie,
    tweedie_conjugate,
)

SQUARED, LOGISTIC, SQUARED_HINGE, HUBER, MULTINOMIAL, POISSON, GAMMA, TWEEDIE = range(8)

# By the name that users type.
LOSSES: dict[str, int] = {
    "squared": SQUARED,
    "logistic": LOGISTIC,
    "squared-hinge": SQUARED_HINGE,
    "huber": HUBER,
    "multinomial": MULTINOMIAL,
    "poisson": POISSON,
    "gamma": GAMMA,
    "tweedie": TWEEDIE,
}

# How far from the simplex, per class, rounding may leave a point that is meant to be in it.
SIMPLEX_ROUNDING = 1e-12


def curvature_bound(code: int) -> float:
    """L, the largest value of ℓ″; for the multinomial loss of an eigenvalue of ∇²ℓ."""
    bounds = {SQUARED: 1.0, LOGISTIC: 0.25, SQUARED_HINGE: 1.0, HUBER: 1.0, MULTINOMIAL: 0.5}
    return bounds.get(code, math.inf)


# In all of these, np.float64 and not float: compiled, float() would leave a float32 as it is. The
# exponential is only taken of −|yz|, which cannot overflow.


@kernel(inline=True)
def loss_value(code, z, y, delta):
    """ℓ(z, y); `delta` is Huber's δ or Tweedie's p, which the other losses ignore."""
    z, y = np.float64(z), np.float64(y)
    if code >= POISSON:
        return _of_mean(code, z, y, delta)[0]
    if code == LOGISTIC:
        margin = y * z
        return max(-margin, 0.0) + log1p_of_unit(exp_of_negative(-abs(margin)))
    if code == SQUARED_HINGE:
        shortfall = _clip(1.0 - y * z, 0.0, math.inf)
        return 0.5 * shortfall * shortfall
    residual = z - y
    if code == HUBER:
        slope = _clip(residual, -delta, delta)
        return slope * (residual - 0.5 * slope)  # both of Huber's branches in one
    return 0.5 * residual * residual


@kernel(inline=True)
def loss_slope(code, z, y, delta):
    """ℓ′(z, y), the derivative in z."""
    z, y = np.float64(z), np.float64(y)
    if code >= POISSON:
        return _of_mean(code, z, y, delta)[1]
    if code == LOGISTIC:
        margin = y * z
        e = exp_of_negative(-abs(margin))
        # σ(−yz), without the cancellation of 1 − σ(yz): the tiny slopes keep all their digits.
        return -y * ((e if margin >= 0.0 else 1.0) / (1.0 + e))
    if code == SQUARED_HINGE:
        return -y * _clip(1.0 - y * z, 0.0, math.inf)
    if code == HUBER:
        return _clip(z - y, -delta, delta)
    return z - y


@kernel(inline=True)
def loss_curvature(code, z, y, delta):
    """ℓ″(z, y), the second derivative in z; at a kink 0 for squared hinge and 1 for Huber."""
    z, y = np.float64(z), np.float64(y)
    if code >= POISSON:
        return _of_mean(code, z, y, delta)[2]
    if code == LOGISTIC:
        e = exp_of_negative(-abs(y * z))
        return e / ((1.0 + e) * (1.0 + e))
    if code == SQUARED_HINGE:
        return 1.0 if y * z < 1.0 else 0.0
    if code == HUBER and abs(z - y) > delta:
        return 0.0
    return 1.0


@kernel(inline=True)
def loss_value_and_slope(code, z, y, delta):
    """ℓ(z, y) and ℓ′(z, y), for the price of one exponential."""
    if code == LOGISTIC:
        z, y = np.float64(z), np.float64(y)
        margin = y * z
        e = exp_of_negative(-abs(margin))
        value = max(-margin, 0.0) + log1p_of_unit(e)
        return value, -y * ((e if margin >= 0.0 else 1.0) / (1.0 + e))
    if code >= POISSON:
        value, slope, _ = _of_mean(code, np.float64(z), np.float64(y), delta)
        return value, slope
    return loss_value(code, z, y, delta), loss_slope(code, z, y, delta)


@kernel(inline=True)
def loss_conjugate(code, theta, y, delta):
    """ℓ*(θ), infinite outside its domain; at the domain's edge exact."""
    theta, y = np.float64(theta), np.float64(y)
    if code == LOGISTIC:
        q = -y * theta
        if q < 0.0 or q > 1.0:
            return math.inf
        if q == 0.0 or q == 1.0:
            return 0.0
        return q * math.log(q) + (1.0 - q) * math.log1p(-q)
    if code >= POISSON:
        if code == POISSON:
            return poisson_conjugate(theta, y)
        return gamma_conjugate(theta, y) if code == GAMMA else tweedie_conjugate(theta, y, delta)
    if code == SQUARED_HINGE and y * theta > 0.0:
        return math.inf
    if code == HUBER and abs(theta) > delta:
        return math.inf
    return theta * (y + 0.5 * theta)


@kernel(inline=True)
def _of_mean(code, z, y, power):
    """ℓ, ℓ′ and ℓ″ of a loss whose mean is e^z; what is not asked for costs nothing, inlined."""
    if code == POISSON:
        return poisson(z, y)
    return gamma(z, y) if code == GAMMA else tweedie(z, y, power)


@kernel(inline=True)
def _clip(x, low, high):
    """`x` moved into [low, high]; a NaN stays one, which min and max can hide."""
    # Compiles to no jump: early returns, mispredicted, made the two clipped losses 5 times slower.
    x = low if x < low else x
    return high if x > high else x


# The largest score is kept out of the sums below: it contributes exactly 1, and log1p of the others
# keeps the digits of a small loss. Likewise p_c − 1 is minus the other probabilities.


@kernel(inline=True)
def multinomial_value(scores, label):
    """ℓ(s, c) for `scores` float[K]."""
    best = index_of_largest(scores)
    top = np.float64(scores[best])
    rest = 0.0
    for k in range(scores.size):
        if k != best:
            rest += exp_of_negative(scores[k] - top)
    return (top - scores[label]) + math.log1p(rest)


@kernel(inline=True)
def multinomial_probabilities(scores, out):
    """Change `out`, float[K], in place to softmax(s); it may be `scores` itself."""
    top = np.float64(scores[index_of_largest(scores)])
    total = 0.0
    for k in range(scores.size):
        e = exp_of_negative(scores[k] - top)
        out[k] = e
        total += e
    for k in range(scores.size):
        out[k] /= total


@kernel(inline=True)
def multinomial_value_and_slope(scores, label, out):
    """Change `out` in place to softmax(s) − e_c, and return ℓ(s, c); it may be `scores` itself."""
    best = index_of_largest(scores)
    top = np.float64(scores[best])
    deficit = top - scores[label]
    rest = 0.0  # all but the largest
    others = 0.0  # all but the label
    for k in range(scores.size):
        e = exp_of_negative(scores[k] - top)
        out[k] = e
        if k != best:
            rest += e
        if k != label:
            others += e
    for k in range(scores.size):
        out[k] /= 1.0 + rest
    out[label] = -others / (1.0 + rest)
    return deficit + math.log1p(rest)


@kernel(inline=True)
def multinomial_conjugate(theta, label):
    """ℓ*(θ), infinite where q = θ + e_c is further than rounding, K·10⁻¹², from the simplex.

    That is the rounding of float64: a slope that was stored as float32 has left the simplex.
    """
    allowance = SIMPLEX_ROUNDING * theta.size
    total = 0.0
    entropy = 0.0
    for k in range(theta.size):
        t = np.float64(theta[k])
        total += t
        q = 1.0 + t if k == label else t
        if q < -allowance:
            return math.inf
        if not q <= 0.0:  # rather than q > 0, which would drop a NaN
            entropy += q * (math.log1p(t) if k == label else math.log(q))
    return math.inf if abs(total) > allowance else entropy


@kernel(inline=True)
def slopes_at(code, z, y, delta, out):
    """Change `out`, float64[K], in place to the slopes at the scores `z`; y a label if K > 1."""
    if code == MULTINOMIAL:
        multinomial_value_and_slope(z, int(y), out)
    else:
        out[0] = loss_slope(code, z[0], y, delta)


@kernel(inline=True)
def loss_at(code, z, y, delta):
    """ℓ at the scores `z`, float64[K]; y is a label for the multinomial loss."""
    if code == MULTINOMIAL:
        return multinomial_value(z, int(y))
    return loss_value(code, z[0], y, delta)


@kernel(inline=True)
def index_of_largest(scores):
    """The first index of the largest score."""
    best = 0
    for k in range(1, scores.size):
        if scores[k] > scores[best]:
            best = k
    return best
