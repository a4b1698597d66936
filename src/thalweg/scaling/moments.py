"""Statistics of the columns of a matrix, dense or CSR, in double whatever the matrix is in.

    mean      μ = (1/n) Σᵢ xᵢ
    spread    σ = √((1/n) Σᵢ (xᵢ − μ)²)
    skewness  g = (1/n) Σᵢ ((xᵢ − μ)/σ)³

Deviations are taken in units of the range, max − min, so that squares neither over- nor underflow,
and after the mean is known, so that a large mean cancels nothing. A column is constant where its
maximum is its minimum, which rounding cannot blur; its mean is then that value, and σ = g = 0.

Cost: two or three passes over X, a block of rows at a time; zeros left out are not visited.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from thalweg.core.errors import InputError

BLOCK = 100_000  # entries at a time


def extremes(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Minimum and maximum of every column, float64[p] each; a zero that is left out counts."""
    if scipy.sparse.issparse(X):
        low, high = _sparse_extremes(X)
    else:
        low, high = X.min(axis=0), X.max(axis=0)
    low, high = low.astype(np.float64), high.astype(np.float64)
    with np.errstate(over="ignore"):
        too_wide = np.flatnonzero(~np.isfinite(high - low))
    if too_wide.size:
        j = too_wide[0]
        raise InputError(
            f"X must have ranges that a double can hold, got {low[j]:g} to {high[j]:g} in column "
            f"{j}: divide the column first"
        )
    return low, high


def mean_and_spread(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """μ and σ of every column, float64[p] each."""
    low, high = extremes(X)
    unit = positive(high - low)
    mean = low + unit * mean_power(X, low, unit, 1)
    return mean, unit * np.sqrt(mean_power(X, mean, unit, 2))


def skewness(X: Any) -> np.ndarray:
    """g of every column, float64[p]."""
    mean, spread = mean_and_spread(X)
    return mean_power(X, mean, positive(spread), 3) * (spread > 0.0)


def positive(spread: np.ndarray) -> np.ndarray:
    """What to divide by: `spread`, and 1 where it is zero."""
    return np.where(spread > 0.0, spread, 1.0)


def mean_power(X: Any, shift: np.ndarray, unit: np.ndarray, power: int) -> np.ndarray:
    """(1/n) Σᵢ ((xᵢ − shift)/unit)^power of every column, float64[p]."""
    n, p = X.shape
    if scipy.sparse.issparse(X):
        total = (n - np.bincount(X.indices, minlength=p)) * (-shift / unit) ** power
        for entries in _entries(X):
            column = X.indices[entries]
            stored = ((X.data[entries] - shift[column]) / unit[column]) ** power
            total += np.bincount(column, stored, minlength=p)
        return total / n
    total = np.zeros(p)
    for rows in blocks(X):
        total += (((X[rows] - shift) / unit) ** power).sum(axis=0)
    return total / n


def _sparse_extremes(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Without a copy by columns, which SciPy would make."""
    has_zero = np.bincount(X.indices, minlength=X.shape[1]) < X.shape[0]
    low, high = (np.where(has_zero, 0.0, edge) for edge in (np.inf, -np.inf))
    for entries in _entries(X):
        np.minimum.at(low, X.indices[entries], X.data[entries])
        np.maximum.at(high, X.indices[entries], X.data[entries])
    return low, high


def _entries(X: Any) -> Iterator[slice]:
    """The stored entries of X, at least as many at a time as there are columns."""
    step = max(BLOCK, X.shape[1])
    for start in range(0, X.data.size, step):
        yield slice(start, start + step)


def blocks(X: np.ndarray) -> Iterator[slice]:
    """The rows of X, a cache-full of entries at a time."""
    step = max(1, BLOCK // max(1, X[:1].size))
    for start in range(0, len(X), step):
        yield slice(start, start + step)
