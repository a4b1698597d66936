"""Missing values of a matrix of numbers: NaN, counted and filled in place by columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from thalweg.scaling.moments import blocks, extremes
from thalweg.tables.column import MEAN, MEDIAN
from thalweg.tables.problem import Problem, Unsettled, leave_out


def count_missing(X: Any, names: Sequence[str]) -> dict[str, int]:
    """How many NaN each column has, those that have any; infinities are refused."""
    p = X.shape[1]
    counts = np.zeros(p, dtype=np.int64)
    if scipy.sparse.issparse(X):
        bad = np.flatnonzero(~np.isfinite(X.data))
        places, values = X.indices[bad], X.data[bad]
        counts += np.bincount(places[np.isnan(values)], minlength=p)
        infinite = places[np.isinf(values)]
    else:
        infinite = np.zeros(0, dtype=np.int64)
        for rows in blocks(X):
            part = X[rows]
            # A sum is finite unless an entry is not, or it overflows: one pass where all is well.
            with np.errstate(over="ignore", invalid="ignore"):
                if np.isfinite(part.sum()):
                    continue
            counts += np.isnan(part).sum(axis=0)
            infinite = np.append(infinite, np.flatnonzero(np.isinf(part).any(axis=0)))
    if infinite.size:
        raise Unsettled(
            Problem(
                name,
                f"column {name!r} must be finite, got an infinite value: replace it, or leave the "
                f"column out, with drop=[{name!r}]",
                {"drop": [name]},
            )
            for name in (names[int(j)] for j in np.unique(infinite))
        )
    return {names[int(j)]: int(counts[j]) for j in np.flatnonzero(counts)}


def fills(X: np.ndarray, names: Sequence[str], impute: str) -> list[float]:
    """What stands for a missing value in each column of a dense matrix."""
    found: list[float] = []
    problems: list[Problem] = []
    for j in range(X.shape[1]):
        try:
            found.append(_fill(X[:, j], names[j], impute))
        except Unsettled as problem:
            problems.extend(problem.problems)
    if problems:
        raise Unsettled(problems)
    return found


def fill_missing(X: np.ndarray, fills: Sequence[float]) -> None:
    """Put `fills` where `X` is NaN, in place."""
    standing = np.asarray(fills, dtype=X.dtype)
    for rows in blocks(X):
        part = X[rows]
        row, column = np.nonzero(np.isnan(part))
        part[row, column] = standing[column]


def constants(X: Any, names: Sequence[str]) -> list[str]:
    """Names of the columns with one value."""
    if not scipy.sparse.issparse(X):
        # Few columns look constant after some rows: the others are not looked at again.
        same = np.arange(X.shape[1])
        for rows in blocks(X):
            same = same[(X[rows, same] == X[0, same]).all(axis=0)]
        return [names[int(j)] for j in same]
    counts = np.bincount(X.indices, minlength=X.shape[1])
    full = np.flatnonzero(counts == X.shape[0])
    if full.size:
        low, high = extremes(X[:, full])
        full = full[low == high]
    return [names[int(j)] for j in np.sort(np.append(np.flatnonzero(counts == 0), full))]


def _fill(values: np.ndarray, name: str, impute: str) -> float:
    there = values[~np.isnan(values)]
    if not there.size:
        raise leave_out(
            name,
            f"column {name!r} must hold a value, got {len(values):,} missing ones: leave it out",
        )
    if impute == MEAN:
        return float(there.mean(dtype=np.float64))
    if impute == MEDIAN:
        return float(np.median(there))
    found, counts = np.unique(there, return_counts=True)
    return float(found[counts.argmax()])
