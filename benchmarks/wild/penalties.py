"""Penalties, from next to none to strong, and the l1 above which every coefficient is zero.

With cᵢ = sᵢ/Σs, b₀ the best constant (0 without an intercept) and m, d the means and scales by
which features are centred and standardized, the slope of the mean loss in coefficient j at w = 0 is

    gⱼ = Σᵢ cᵢ ℓ′(b₀, yᵢ) (xᵢⱼ − mⱼ)/dⱼ        l1_max = max |gⱼ|

and w = 0 is a minimum exactly when l1 ≥ l1_max. For K classes the slopes are those of each class.
m drops out, as Σ cᵢℓ′(b₀, yᵢ) = 0, but for its rounding.

    l2   10^U(−3, 3)/n as people set C; or 10^U(−5, ½) of the curvature of a typical column
    l1   0.001 to 0.9 of l1_max, log-uniform
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from wild.columns import moments, slopes
from wild.sizes import power

L1_SHARES = (1e-3, 0.9)  # of l1_max
RATIOS = (0.1, 0.5, 0.9, 0.99)  # of l1 in both penalties together
CURVATURE = {
    "squared": 1.0,
    "huber": 1.0,
    "squared-hinge": 1.0,
    "logistic": 0.25,
    "multinomial": 0.5,
}


def shares(case: Any) -> np.ndarray:
    """cᵢ, float64[n]."""
    s = np.ones(len(case.y)) if case.sample_weight is None else case.sample_weight
    return s / np.sum(s)


def slopes_at_constant(case: Any, c: np.ndarray) -> np.ndarray:
    """ℓ′(b₀, yᵢ) of every sample and class, float64[n, K]."""
    y = case.y
    if case.loss == "squared":
        return ((c @ y if case.fit_intercept else 0.0) - y)[:, None]
    if case.loss == "huber":
        clipped = lambda b: np.clip(b - y, -case.delta, case.delta)  # noqa: E731
        b = 0.0
        if case.fit_intercept and np.ptp(y) > 0:
            b = brentq(lambda b: c @ clipped(b), np.min(y), np.max(y), xtol=1e-14 * np.ptp(y))
        return clipped(b)[:, None]
    own = np.eye(len(np.unique(y)))[np.unique(y, return_inverse=True)[1]]
    share = c @ own
    if case.loss == "multinomial":
        return (share if case.fit_intercept else np.full(own.shape[1], 1 / own.shape[1])) - own
    second = own[:, 1:]
    if case.loss == "logistic":
        return (share[1] if case.fit_intercept else 0.5) - second
    # Squared hinge: c₊(1 − b) = c₋(1 + b), both sides within their margins.
    sign = 2 * second - 1
    return sign * ((share[1] - share[0] if case.fit_intercept else 0.0) * sign - 1)


def scaled_moments(case: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """m, d and the spreads of the columns as they are."""
    means, spreads = moments(case.X, shares(case))
    scales = np.where(spreads > 0, spreads, 1.0) if case.standardize else np.ones(len(means))
    return (means if case.fit_intercept else 0 * means), scales, spreads


def l1_max(case: Any) -> float:
    """The least l1 for which w = 0 is a minimum."""
    c = shares(case)
    means, scales, _ = scaled_moments(case)
    g = slopes(case.X, means, c[:, None] * slopes_at_constant(case, c))
    return float(np.max(np.abs(g) / scales[:, None]))


def penalty(rng: np.random.Generator, case: Any) -> tuple[float, float, str]:
    """l1, l2 and what they are."""
    n, p = case.X.shape
    is_regression = case.loss in ("squared", "huber")
    kind = str(rng.choice(["l2", "l1", "elastic net", "none"], p=[0.48, 0.27, 0.2, 0.05]))
    if kind == "none" and is_regression and n > 2 * p:
        return 0.0, 0.0, "no penalty"
    if kind in ("l2", "none"):  # without a penalty, separable classes have no minimum
        return ridge(rng, case)
    top, share = l1_max(case), power(rng, *L1_SHARES)
    if top == 0.0:
        return ridge(rng, case)
    if kind == "l1":
        return share * top, 0.0, f"l1 {share:.2g} of its maximum"
    ratio = float(rng.choice(RATIOS))
    l2 = share * top * (1 - ratio) / ratio
    return share * top, l2, f"elastic net, l1 {share:.2g} of its maximum, ratio {ratio:g}"


def ridge(rng: np.random.Generator, case: Any) -> tuple[float, float, str]:
    """l2 alone."""
    n = len(case.y)
    if rng.random() < 0.6:
        times = power(rng, 1e-3, 1e3)
        return 0.0, times / n, f"l2 {times:.2g}/n"
    _, scales, spreads = scaled_moments(case)
    varying = (spreads / scales)[spreads > 0]
    typical = CURVATURE[case.loss] * float(np.median(varying**2)) if len(varying) else 1.0
    share = power(rng, 1e-5, 3.0)
    l2 = max(share * typical, 1e-3 / n)
    return 0.0, l2, f"l2 {l2 / typical:.2g} of the curvature"
