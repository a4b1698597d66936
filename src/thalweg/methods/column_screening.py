"""Which features are zero at every optimum, where penalties and bounds are told column by column.

As `screening`, with an interval of u = −v in place of |v|: by slopes that are shrunk to cancel, and
by their distance from the optimal ones,

    uⱼ* is within ρⱼ(moved + √(2γ·gap)) of −svⱼ

and a coefficient whose zero is no bound is zero if that interval is inside (−l1ⱼ, l1ⱼ); with 0 as
its lower bound if it is below l1ⱼ, with 0 as its upper one if it is above −l1ⱼ. With wⱼ ≥ 0 that
takes out all features whose v is clearly positive.

The scale s leads into the domain of R*. Where that ends at zero none does, and nothing is known.

Cost: O(n + p), no pass over X.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.certificates.column_dual import column_dual
from thalweg.kernels.duality import conjugates_pass
from thalweg.kernels.losses import LOSSES
from thalweg.methods.screening import MARGIN, balanced_slopes, dual_sphere, zero_features
from thalweg.objectives.linear import LinearProblem


class Interval(NamedTuple):
    """Between which the u of a dual point is, for features that are not out."""

    gap: float  # P − D(θ), its rounding added; ∞ where no θ is feasible
    low: np.ndarray  # float64[k]
    high: np.ndarray


def screened(
    data: LinearProblem,
    value: float,
    slopes: np.ndarray,
    v: np.ndarray,
    spread: np.ndarray,
    is_out: np.ndarray,
) -> tuple[float, np.ndarray]:
    """The gap of the slopes at a point, and what is out from now on, bool[p]."""
    # What is out has left the problem, and with it the dual's constraints.
    is_in, after = ~is_out, is_out.copy()
    if data.by_column is not None:
        found = column_interval(data, value, slopes, v, spread, is_in)
        after[is_in] = zero_columns(data, found, spread, is_in)
        return found.gap, after
    sphere = dual_sphere(data, value, slopes, v[is_in], spread[is_in])
    after[is_in] = zero_features(data, sphere, spread[is_in])
    return sphere.gap, after


def column_interval(
    data: LinearProblem,
    value: float,
    slopes: np.ndarray,
    v: np.ndarray,
    spread: np.ndarray,
    is_in: np.ndarray,
) -> Interval:
    """From P, the slopes ℓ′ᵢ and their Σᵢ cᵢℓ′ᵢxᵢ, all at the same point."""
    theta, moved = balanced_slopes(data, slopes)
    dual, v, moves = column_dual(data).at(is_in), v[is_in], moved * spread[is_in]
    low, high = -v - moves, -v + moves
    scale = min(dual.largest(-low), dual.largest(-high), 1.0)
    if dual.is_free.any() or scale == 0.0:
        return Interval(np.inf, low, high)
    low, high = scale * low, scale * high
    penalty = float(np.maximum(dual.each(low), dual.each(high)).sum())
    conjugates, size = conjugates_pass(
        LOSSES[data.loss], scale * theta, data.y, data.weights, data.delta
    )
    rounding = 1e-14 * (abs(value) + size + abs(penalty))
    return Interval(max(value + conjugates + penalty, 0.0) + rounding, low, high)


def zero_columns(
    data: LinearProblem, found: Interval, spread: np.ndarray, is_in: np.ndarray
) -> np.ndarray:
    """Which of the coefficients that are not out are zero at every optimum, bool[k]."""
    own = data.by_column
    if own is None or not np.isfinite(found.gap) or not data.has_bound:
        return np.zeros(found.low.size, dtype=bool)
    radius = spread[is_in] * np.sqrt(2.0 * data.curvature_bound * found.gap)
    l1, least, most = own.l1[is_in], own.low[is_in], own.high[is_in]
    edge = (1.0 - MARGIN) * l1 - MARGIN * radius
    is_below = (found.high + radius < edge) | (most == 0.0)
    is_above = (found.low - radius > -edge) | (least == 0.0)
    return is_below & is_above & (least <= 0.0) & (most >= 0.0)
