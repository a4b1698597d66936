"""Features about their means, in float64 whatever they are stored in, without a copy of them all.

    scores  (X − 1mᵀ)W        slopes  (X − 1mᵀ)ᵀU

Dense rows are centred before they are multiplied, a chunk at a time: a timestamp times a slope
leaves no digit to subtract from. Sparse ones stay sparse, and are corrected afterwards.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

CHUNK = 4_000_000  # entries
CONSTANT = 1e-12  # of a column's largest number: a spread below is rounding


def chunks(X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows of X in float64, some at a time."""
    step = max(1, CHUNK // X.shape[1])
    for first in range(0, X.shape[0], step):
        rows = slice(first, min(first + step, X.shape[0]))
        yield rows, X[rows].astype(np.float64)


def moments(X: Any, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and spreads of the columns under weights that add up to 1; a constant one has 0."""
    if scipy.sparse.issparse(X):
        X = X.astype(np.float64)
        means = X.T @ c
        squares = X.multiply(X).T @ c
        variances = np.maximum(squares - means**2, 0.0)
        return means, np.sqrt(np.where(variances > CONSTANT * squares, variances, 0.0))
    means, largest, variances = (np.zeros(X.shape[1]) for _ in range(3))
    for rows, part in chunks(X):
        means += c[rows] @ part
        largest = np.maximum(largest, np.max(np.abs(part), axis=0))
    for rows, part in chunks(X):
        part -= means
        variances += c[rows] @ np.square(part, out=part)
    spreads = np.sqrt(variances)
    return means, np.where(spreads > CONSTANT * largest, spreads, 0.0)


def scores(X: Any, means: np.ndarray, W: np.ndarray) -> np.ndarray:
    """(X − 1mᵀ)W, float64[n, K]."""
    if scipy.sparse.issparse(X):
        return X.astype(np.float64) @ W - means @ W
    return np.concatenate([(part - means) @ W for _, part in chunks(X)])


def slopes(X: Any, means: np.ndarray, U: np.ndarray) -> np.ndarray:
    """(X − 1mᵀ)ᵀU, float64[p, K]."""
    if scipy.sparse.issparse(X):
        return X.astype(np.float64).T @ U - np.outer(means, np.sum(U, axis=0))
    found = np.zeros((X.shape[1], U.shape[1]))
    for rows, part in chunks(X):
        part -= means
        found += part.T @ U[rows]
    return found
