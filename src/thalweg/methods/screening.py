"""Which features are zero at every optimum, provably: gap-safe screening.

    P(w, b) = Σᵢ cᵢ ℓᵢ(zᵢ) + (l2/2)‖w‖² + l1‖w‖₁
    D(θ)    = −Σᵢ cᵢ ℓᵢ*(θᵢ) − R*(−v),   v = Σᵢ cᵢθᵢxᵢ       (`certificates.duality`)

ℓ has curvature at most γ, so ℓ* has at least 1/γ, and D at least 1/γ in the norm
‖θ‖² = Σ cᵢθᵢ². A feasible θ is therefore near the optimal θ*, and v near v*:

    (1/2γ)‖θ − θ*‖² ≤ D(θ*) − D(θ) ≤ P(w, b) − D(θ) = gap
    |vⱼ − vⱼ*| = |Σᵢ cᵢxᵢⱼ(θᵢ − θᵢ*)| ≤ ρⱼ √(2γ·gap),        ρⱼ² = Σᵢ cᵢ(xᵢⱼ − mⱼ)²

where m is any shift without which Σ cᵢθᵢ = 0 = Σ cᵢθᵢ* with an intercept (the mean is best), and 0
otherwise. A coefficient that is not zero at the optimum has |vⱼ*| = l1 + l2|wⱼ| ≥ l1. So where

    |vⱼ| + ρⱼ √(2γ·gap) < l1

the coefficient is zero at every optimum, now and for good.

θ is made of the slopes sᵢ = ℓ′(zᵢ), whose v is at hand. With an intercept those of the heavier sign
are shrunk until Σ cᵢθᵢ = 0; the v of the result is not at hand, but no further than ρⱼ‖θ − s‖ from
that of s. Where l2 = 0, θ is then scaled to ‖v‖∞ ≤ l1.

Cost: O(n + p), no pass over X.
Ndiaye, Fercoq, Gramfort & Salmon, J. Mach. Learn. Res. 18 (2017), Theorem 6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.kernels.duality import conjugates_pass
from thalweg.kernels.losses import LOSSES
from thalweg.objectives.gram import weighted_means
from thalweg.objectives.linear import LinearProblem

MARGIN = 1e-9  # of l1, for rounding


def feature_spread(data: LinearProblem) -> tuple[np.ndarray, np.ndarray]:
    """The means m in the units of X, zero without an intercept, and ρ, float64[p]."""
    means = weighted_means(data)
    spread = np.sqrt(data.rows.squares_about(means if data.fit_intercept else None))
    return means, data.features.units * spread


class Sphere(NamedTuple):
    """Where the optimal v is: within ρ√(2γ·gap) of this one, feature by feature."""

    gap: float  # P − D(θ), its rounding added
    reach: np.ndarray  # at least |v| of θ, float64 as v


def dual_sphere(
    data: LinearProblem, value: float, slopes: np.ndarray, v: np.ndarray, spread: np.ndarray
) -> Sphere:
    """From P, the slopes ℓ′ᵢ and their Σᵢ cᵢℓ′ᵢxᵢ, all at the same point.

    Features that are known to be zero can be left out of `v` and `spread`: the problem without them
    is the same.
    """
    theta, moved = balanced_slopes(data, slopes)
    reach = np.abs(v) + moved * spread
    steepest = float(reach.max(initial=0.0))
    scale, penalty = 1.0, 0.0
    if data.l2:
        penalty = float(np.sum(np.maximum(reach - data.l1, 0.0) ** 2)) / (2.0 * data.l2)
    elif steepest > data.l1:
        scale = data.l1 / steepest
    conjugates, size = conjugates_pass(
        LOSSES[data.loss], scale * theta, data.y, data.weights, data.delta
    )
    rounding = 1e-14 * (abs(value) + size + penalty)
    return Sphere(max(value + conjugates + penalty, 0.0) + rounding, scale * reach)


def balanced_slopes(data: LinearProblem, slopes: np.ndarray) -> tuple[np.ndarray, float]:
    """The slopes, with an intercept shrunk until they cancel, and how far they moved."""
    if not data.fit_intercept:
        return slopes, 0.0
    up = float(data.weights @ np.maximum(slopes, 0.0))
    down = float(data.weights @ np.maximum(-slopes, 0.0))
    heavier = slopes > 0 if up > down else slopes < 0
    factor = min(up, down) / max(up, down) if max(up, down) > 0 else 1.0
    theta = np.where(heavier, factor * slopes, slopes)
    return theta, float(np.sqrt(data.weights @ (theta - slopes) ** 2))


def zero_features(data: LinearProblem, sphere: Sphere, spread: np.ndarray) -> np.ndarray:
    """Which coefficients are zero at every optimum, bool as `spread`."""
    # Of a point too far away to say anything; or D is not strongly concave, and has no sphere.
    if not data.l1 or not np.isfinite(sphere.gap) or not data.has_bound:
        return np.zeros(spread.size, dtype=bool)
    radius = np.sqrt(2.0 * data.curvature_bound * sphere.gap)
    return sphere.reach + spread * radius < (1.0 - MARGIN) * data.l1
