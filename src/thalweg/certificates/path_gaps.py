"""Duality gaps of the squared loss at many points with many penalties, all at once.

    P(wₖ) − D(tₖθₖ)        θₖ the residuals of a point uₖ near wₖ, the intercept the best for it

wₖ is what is returned, rounded to its dtype; uₖ is what it was before. Any dual point bounds P*
from below, and the slopes at uₖ are the better ones: D loses what they are off by, P(wₖ) its
square. With g = Σ cᵢθᵢxᵢ, A = Σ cᵢθᵢ² and B = Σ cᵢθᵢyᵢ (`certificates.least_squares`)

    D(tθ) = −½t²A − tB − R*(−tg)

and t is where that is largest if l2 = 0, which is in closed form; else the better of 1 and the
largest for which t|g| ≤ l1. Where w ≥ 0 is asked for, max(0, −gⱼ) stands for |gⱼ|. Either all of it
comes from the sums of the data, by one matrix product (`path_gaps`), or from the residuals of all
points (`residual_gaps`, where rounding is bounded as in `dual_point`). The returned intercept is
off its best value by a rounding δ, which costs ½δ²: the loss has curvature 1 along it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.certificates.dual_point import EPS, unit
from thalweg.certificates.duality import Gap
from thalweg.objectives.least_squares import LeastSquares
from thalweg.objectives.linear import LinearProblem

TINY = float(np.finfo(np.float64).tiny)


class Residuals(NamedTuple):
    """What is known of some points, each a column or an entry."""

    at_w: np.ndarray  # z − y at w, the intercept the best, float64[n, K]
    at_u: np.ndarray  # θ, likewise at u, float64[n, K]
    v: np.ndarray  # Σ cᵢθᵢxᵢ, float64[K, p]
    sizes: np.ndarray  # of the terms of a score: Σⱼ lengthⱼ|wⱼ| and the intercept, float64[K]
    b: np.ndarray  # intercepts, float64[K]


class Bound(NamedTuple):
    """The best D of each point."""

    t: np.ndarray
    value: np.ndarray
    is_whole: np.ndarray  # whether t = 1 and R* is not zero
    beyond: np.ndarray  # max(0, |g| − l1), float64[K, p]


def pulls(v: np.ndarray, *, is_positive: bool) -> np.ndarray:
    """How far slopes are from what the dual asks of them: |v|, or with w ≥ 0 max(0, −v)."""
    return np.maximum(-v, 0.0) if is_positive else np.abs(v)


def residual_gaps(
    problem: LinearProblem,
    found: Residuals,
    penalties: np.ndarray,
    l1s: np.ndarray,
    l2s: np.ndarray,
    delta: np.ndarray,
) -> list[Gap]:
    """The gap of each point; `penalties` are those at w. All l1 are positive."""
    c, n, p = problem.weights, problem.n, problem.p
    losses = 0.5 * np.einsum("i,ik,ik->k", c, found.at_w, found.at_w)
    spread = np.sqrt(2.0 * losses)
    off = 2.0**0.5 * unit(p) * found.sizes  # at least √Σ c·(what a score is off by)²
    rounding = off * spread + 0.5 * off**2 + unit(n) * losses + unit(p) * penalties
    A = np.einsum("i,ik,ik->k", c, found.at_u, found.at_u)
    B = np.einsum("i,ik,i->k", c, found.at_u, problem.y)
    at = _bound(A, B, pulls(found.v, is_positive=problem.is_positive), l1s, l2s)
    spread, size = np.sqrt(A), float(c @ problem.y**2) ** 0.5
    lengths = problem.features.lengths()
    lower = unit(n) * spread * (spread + size + np.abs(found.b))
    error = unit(n) * spread  # of g, in lengths of the features
    by_slopes = np.maximum(at.value, 0.0) * error * float(lengths.max(initial=0.0)) / l1s
    by_ridge = (at.beyond @ lengths) * error + 0.5 * error**2 * float(lengths @ lengths)
    lower += np.where(at.is_whole, by_ridge / np.where(at.is_whole, l2s, 1.0), by_slopes)
    primal, rounding = losses + penalties, rounding + lower + 0.5 * delta**2
    return _gaps(primal, at.value, rounding, 1.0)


def path_gaps(
    sums: LeastSquares,
    n: int,
    W: np.ndarray,
    U: np.ndarray,
    l1s: np.ndarray,
    l2s: np.ndarray,
    delta: np.ndarray,
    *,
    is_positive: bool = False,
) -> tuple[list[Gap], np.ndarray]:
    """The gap of each row of `W`, by the slopes at that of `U`, and those slopes, float64[K, p].

    All l1 are positive; `delta` is what each intercept may be off by.
    """
    H, q, s = sums.reduced()
    at_U = U @ H - q
    at_W = at_U if W is U else W @ H - q
    sizes, by_feature = _sizes(sums, W)
    penalties = l1s * np.abs(W).sum(axis=1) + 0.5 * l2s * np.einsum("kj,kj->k", W, W)
    losses = np.maximum(0.5 * (np.einsum("kj,kj->k", W, at_W - q) + s), 0.0)
    primal = losses + penalties
    rounding = unit(n) * (sizes + penalties) + 0.5 * delta**2
    A = np.maximum(np.einsum("kj,kj->k", U, at_U - q) + s, 0.0)
    along, g = np.einsum("kj,kj->k", U, at_U), np.abs(at_U)
    seen = pulls(at_U, is_positive=True) if is_positive else g
    if U is not W:
        sizes, by_feature = _sizes(sums, U)
    at = _bound(A, along - A, seen, l1s, l2s)
    by_slopes = np.maximum(at.value, 0.0) * by_feature.max(axis=1, initial=0.0) / l1s
    by_ridge = np.einsum("kj,kj->k", at.beyond, by_feature)
    by_ridge += 0.5 * unit(n) * np.einsum("kj,kj->k", by_feature, by_feature)
    terms = sizes + at.t * np.einsum("kj,kj->k", np.abs(U), g)
    terms += np.where(at.is_whole, by_ridge / np.where(at.is_whole, l2s, 1.0), by_slopes)
    return _gaps(primal, at.value, rounding + unit(n) * terms, 0.0), at_U


def _bound(A: np.ndarray, B: np.ndarray, g: np.ndarray, l1s: np.ndarray, l2s: np.ndarray) -> Bound:
    """D at the best multiple that is looked at; `g`, float64[K, p], are sizes."""
    steepest = g.max(axis=1, initial=0.0)
    largest = l1s / np.maximum(steepest * (1.0 + 4.0 * EPS), TINY)
    is_ridge = l2s > 0.0
    best = np.clip(-B / np.maximum(A, TINY), 0.0, largest)
    t = np.where(is_ridge, np.minimum(largest, 1.0), best)
    value = -0.5 * t * t * A - t * B
    beyond = np.maximum(g - l1s[:, None], 0.0)
    squares = np.einsum("kj,kj->k", beyond, beyond)
    whole = -0.5 * A - B - squares / (2.0 * np.where(is_ridge, l2s, 1.0))
    is_whole = is_ridge & (whole > value)
    return Bound(np.where(is_whole, 1.0, t), np.where(is_whole, whole, value), is_whole, beyond)


def _gaps(primal: np.ndarray, dual: np.ndarray, rounding: np.ndarray, passes: float) -> list[Gap]:
    rows = zip(primal.tolist(), dual.tolist(), rounding.tolist(), strict=True)
    return [Gap(P, max(D, 0.0), off, passes) for P, D, off in rows]


def _sizes(sums: LeastSquares, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sizes of all terms of the losses, float64[K], and of their slopes, float64[K, p]."""
    reach = np.abs(W * sums.d) @ sums.lengths + sums.s**0.5
    return reach * reach, np.multiply.outer(reach, sums.d * sums.lengths + np.abs(sums.e))
