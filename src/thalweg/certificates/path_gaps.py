"""Duality gaps of the squared loss at many points with many penalties, by one matrix product.

    P(wₖ) − D(tₖθₖ)        θₖ the residuals of a point uₖ near wₖ, the intercept the best for it

from the sums of the data (`certificates.least_squares`, where D and its rounding are derived). wₖ
is what is returned, rounded to its dtype; uₖ is what it was before. Any dual point bounds P* from
below, and the slopes at uₖ are the better ones: D loses what they are off by, P(wₖ) its square.

The returned intercept is off its best value by a rounding δ, which costs ½δ²: the loss has
curvature 1 along it.

t is where D is largest if l2 = 0, which is in closed form; else the better of 1 and the largest for
which t|g| ≤ l1, g the slopes.
"""

from __future__ import annotations

import numpy as np

from thalweg.certificates.dual_point import EPS, unit
from thalweg.certificates.duality import Gap
from thalweg.objectives.least_squares import LeastSquares

TINY = float(np.finfo(np.float64).tiny)


def path_gaps(
    sums: LeastSquares,
    n: int,
    W: np.ndarray,
    U: np.ndarray,
    l1s: np.ndarray,
    l2s: np.ndarray,
    delta: np.ndarray,
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
    along, sizes_U = np.einsum("kj,kj->k", U, at_U), sizes
    if U is not W:
        sizes_U, by_feature = _sizes(sums, U)
    g = np.abs(at_U)
    steepest = g.max(axis=1, initial=0.0)
    largest = l1s / np.maximum(steepest * (1.0 + 4.0 * EPS), TINY)
    t = np.minimum(largest, 1.0)
    is_ridge = l2s > 0.0
    best = np.clip((A - along) / np.maximum(A, TINY), 0.0, largest)
    t = np.where(is_ridge, t, best)
    D = -0.5 * t * t * A - t * (along - A)
    beyond = np.maximum(g - l1s[:, None], 0.0)
    ridge = np.where(is_ridge, l2s, 1.0)
    whole = 0.5 * A - along - np.einsum("kj,kj->k", beyond, beyond) / (2.0 * ridge)
    takes_whole = is_ridge & (whole > D)
    t, D = np.where(takes_whole, 1.0, t), np.where(takes_whole, whole, D)
    by_slopes = np.maximum(D, 0.0) * by_feature.max(axis=1, initial=0.0) / l1s
    by_ridge = np.einsum("kj,kj->k", beyond, by_feature) / ridge
    by_ridge += np.einsum("kj,kj->k", by_feature, by_feature) * unit(n) / (2.0 * ridge)
    terms = sizes_U + t * np.einsum("kj,kj->k", np.abs(U), g)
    terms += np.where(takes_whole, by_ridge, by_slopes)
    lower = unit(n) * terms
    rows = zip(primal.tolist(), D.tolist(), (rounding + lower).tolist(), strict=True)
    return [Gap(P, max(d, 0.0), r, 0.0) for P, d, r in rows], at_U


def _sizes(sums: LeastSquares, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sizes of all terms of the losses, float64[K], and of their slopes, float64[K, p]."""
    reach = np.abs(W * sums.d) @ sums.lengths + sums.s**0.5
    return reach * reach, np.multiply.outer(reach, sums.d * sums.lengths + np.abs(sums.e))
