"""A fitted model as `sandwich` takes it: slopes and information of its rows, and φ."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from thalweg.inference.family import Family
from thalweg.inference.sandwich import CLASSICAL, Rows, Spread, spread


class Seen(NamedTuple):
    """The data of a summary, in float64."""

    X: Any  # float[n, p], rows without weight left out
    y: np.ndarray  # targets float64[n, T], or classes int[n]
    weights: np.ndarray  # float64[n]
    offset: np.ndarray  # float64[n]
    groups: np.ndarray | None  # clusters by number, int[n]


def centre_of(seen: Seen) -> np.ndarray:
    """The mean of the columns, float64[p]."""
    return np.asarray(seen.weights @ seen.X, dtype=np.float64).ravel() / seen.weights.sum()


def _scores(seen: Seen, rows: Rows, beta: np.ndarray) -> np.ndarray:
    """z with the offset, float64[n, K]."""
    p = seen.X.shape[1]
    about = beta.copy()
    if rows.has_intercept:
        about[p] += rows.centre @ beta[:p]
    z = np.empty((len(seen.weights), beta.shape[1]))
    for part, a in rows.blocks():
        z[part] = a @ about
    return z + seen.offset[:, None]


def of_one(
    seen: Seen,
    k: int,
    beta: np.ndarray,
    family: Family,
    centre: np.ndarray,
    has_intercept: bool,
    kind: str,
) -> tuple[Spread, float]:
    """The covariance of one target, and φ."""
    empty = np.empty(0)
    rows = Rows(seen.X, has_intercept, empty, empty, centre)
    z = _scores(seen, rows, beta[:, None])[:, 0]
    y = seen.y[:, k] if seen.y.ndim == 2 else seen.y.astype(np.float64)
    s, scale = seen.weights, 1.0
    if family.is_scaled:
        residuals = (y - family.mean(z)) ** 2 / family.variance(z)
        scale = float(s @ residuals) / (len(s) - len(beta))
    bends = family.information(z) if kind == CLASSICAL else family.curvature(z, y)
    rows = rows._replace(
        slopes=(s * family.slope(z, y))[:, None],
        information=(s * bends)[:, None, None],
    )
    return spread(rows, kind, scale, seen.groups), scale


def of_classes(
    seen: Seen, beta: np.ndarray, centre: np.ndarray, has_intercept: bool, kind: str
) -> Spread:
    """The covariance of K classes beside the first."""
    empty, s = np.empty(0), seen.weights
    rows = Rows(seen.X, has_intercept, empty, empty, centre)
    z = _scores(seen, rows, beta)
    P = softmax(np.column_stack([seen.offset, z]), axis=1)[:, 1:]
    drawn = np.zeros_like(P)
    others = seen.y > 0
    drawn[others, seen.y[others] - 1] = 1.0
    information = np.einsum("ik,km->ikm", P, np.eye(P.shape[1])) - P[:, :, None] * P[:, None, :]
    rows = rows._replace(
        slopes=s[:, None] * (P - drawn), information=s[:, None, None] * information
    )
    return spread(rows, kind, 1.0, seen.groups)
