"""How large the columns of X are, in the units they came in.

    mⱼ = Σᵢ cᵢxᵢⱼ                              mean
    σⱼ² = Σᵢ cᵢ(xᵢⱼ − mⱼ)²                     deviation; 0 where the column is constant
    sⱼ² = Σᵢ cᵢxᵢⱼ²                            size
    uⱼ² = sⱼ² / Σᵢ cᵢ[xᵢⱼ ≠ 0]                 unit: the size of the entries that are not zero

Size is what curvature is made of. Unit tells why a column is small: a pixel that is seldom lit and
a word that is seldom used have a small size in the same unit as all others, and no scaling is
amiss; a length in kilometres beside one in millimetres differs in both.

Cost: three passes over X, a block of rows at a time; memory O(p). A sparse X stays as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.kernels.linear import transpose_pass
from thalweg.kernels.rows import CSR
from thalweg.objectives.linear import LinearProblem

BLOCK = 200_000  # entries of a block of rows
TINY = float(np.finfo(np.float64).tiny)  # a variance that underflows is not that of a constant
ROUNDING = 1e-14  # of s²: a variance below it, from a difference, is that of a constant


class Sizes(NamedTuple):
    """Of every column of X, float64[p]."""

    means: np.ndarray  # m
    deviations: np.ndarray  # σ, exactly 0 where constant
    sizes: np.ndarray  # s
    units: np.ndarray  # u, 0 where all entries are zero

    @property
    def constant(self) -> np.ndarray:
        """The columns that have one value, int64[k]."""
        return np.flatnonzero(self.deviations == 0.0)

    def seen(self, problem: LinearProblem) -> np.ndarray:
        """The sizes of the features as they enter the model, float64[p]."""
        features, off = problem.features, self.means
        if features.origin is not None:
            off = off - features.origin
        seen = self.sizes if off is self.means else np.hypot(self.deviations, off)
        return seen if features.scales is None else features.scales * seen


def sizes(problem: LinearProblem) -> Sizes:
    """The sizes of all columns, samples weighted as in the problem."""
    X, c = problem.matrix.rows, problem.weights
    squares = problem.rows.squares_about(None)
    means = np.zeros(problem.p)
    transpose_pass(X, c, 0, problem.n, means)
    if isinstance(X, CSR):
        variance, share = _sparse(X, c, problem.p, means, squares)
    else:
        variance, share = _dense(X, c, means)
    unit = np.sqrt(squares / np.where(share > 0.0, share, 1.0))
    return Sizes(means, np.sqrt(variance), np.sqrt(squares), unit)


def _sparse(
    X: CSR, c: np.ndarray, p: int, means: np.ndarray, squares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Variances, and the weight of the rows where a column is not zero."""
    share = np.zeros(p)
    rows = max(1, max(BLOCK, p) * len(c) // max(1, X.data.size))
    for start in range(0, len(c), rows):
        ends = X.indptr[start : start + rows + 1]
        entries = slice(ends[0], ends[-1])
        weights = np.repeat(c[start : start + rows], np.diff(ends)) * (X.data[entries] != 0.0)
        share += np.bincount(X.indices[entries], weights=weights, minlength=p)
    variance = np.maximum(squares - means**2, 0.0)
    return np.where(variance <= ROUNDING * squares, 0.0, variance), share


def _dense(X: np.ndarray, c: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same, centred first; a constant column is told by its ends, free of rounding."""
    p = X.shape[1]
    variance, share = np.zeros(p), np.zeros(p)
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    rows = max(1, BLOCK // p)
    for start in range(0, len(c), rows):
        here = slice(start, start + rows)
        block, weights = X[here], c[here]
        off = block - means
        variance += weights @ (off * off)
        share += weights @ (block != 0.0)
        counted = block[weights > 0.0]
        if len(counted):
            np.minimum(low, counted.min(axis=0), out=low)
            np.maximum(high, counted.max(axis=0), out=high)
    return np.where(low == high, 0.0, np.maximum(variance, TINY)), share
