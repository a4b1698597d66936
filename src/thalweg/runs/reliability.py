"""Where answers err: confusion of classes, reliability of probabilities, residuals of numbers.

confusion      rows of each true class by the class that was told
calibration    of rows given a probability in each tenth of [0, 1], the share for which it came
               true, with Wilson's 95 % interval; the two agree where probabilities can be believed
residuals      truth less prediction, by rising prediction: median and the middle 80 %
"""

from __future__ import annotations

import math

import numpy as np

from thalweg.core.explanation import Bin

TENTHS = 10
Z = 1.959964  # of 95 %


def confusion(y: np.ndarray, told: np.ndarray, classes: int) -> tuple[tuple[int, ...], ...]:
    """Counts, a row a true class, a column a told one; rows of no known class are left out."""
    known = y >= 0
    counts = np.bincount(y[known] * classes + told[known], minlength=classes**2)
    return tuple(map(tuple, counts.reshape(classes, classes).tolist()))


def calibration(probability: np.ndarray, came_true: np.ndarray) -> tuple[Bin, ...]:
    """The tenths that have rows; `came_true` is bool[n]."""
    tenth = np.minimum((probability * TENTHS).astype(int), TENTHS - 1)
    found = []
    for k in range(TENTHS):
        here = tenth == k
        n = int(here.sum())
        if n:
            share = float(came_true[here].mean())
            found.append(Bin(n, float(probability[here].mean()), *wilson(share, n)))
    return tuple(found)


def wilson(share: float, n: int) -> tuple[float, float, float]:
    """95 % interval of a share of n, with the share in the middle."""
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return max(0.0, middle - half), share, min(1.0, middle + half)


def residuals(y: np.ndarray, told: np.ndarray, bins: int = 20) -> tuple[Bin, ...]:
    """About as many rows in each bin; at least ten, so that ends are more than two rows."""
    known = np.flatnonzero(~np.isnan(y))
    order = known[np.argsort(told[known], kind="stable")]
    count = max(1, min(bins, len(order) // 10))
    found = []
    for rows in np.array_split(order, count) if len(order) else []:
        low, middle, high = np.quantile(y[rows] - told[rows], [0.1, 0.5, 0.9])
        found.append(
            Bin(len(rows), float(told[rows].mean()), float(low), float(middle), float(high))
        )
    return tuple(found)
