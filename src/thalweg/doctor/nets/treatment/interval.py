"""The interval of a mean difference over pairs, by Student's t.

    d̄ ± t(n − 1)·s/√n          dᵢ = bᵢ − aᵢ, s² = Σ (dᵢ − d̄)²/(n − 1)

aᵢ and bᵢ are two arms of one seed: first weights, order of the rows and dropout are drawn alike, so
that what they share is in neither dᵢ nor s. If the dᵢ are normal, d̄'s true value lies inside in 95
of 100 experiments. One pair says nothing of s: the interval is everything. Pairs that all differ by
the same have s = 0 and an interval of no width.

Student, Biometrika 6 (1908).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from thalweg.core.errors import InputError

LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean difference, and where it lies."""

    mean: float
    low: float
    high: float
    differences: tuple[float, ...]  # dᵢ

    def __str__(self) -> str:
        pairs = len(self.differences)
        if pairs == 1:
            return f"{self.mean:+.3f} in 1 pair"
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}], {pairs} pairs"


def paired_interval(differences: Sequence[float], level: float = LEVEL) -> Interval:
    """The interval of the mean of `differences`.

    >>> print(paired_interval([0.1, 0.2, 0.3]))
    +0.200 [-0.048, +0.448], 3 pairs
    """
    d = np.asarray(differences, float)
    if d.ndim != 1 or d.size == 0 or not np.isfinite(d).all():
        raise InputError(
            f"differences must be finite numbers, at least one, got {differences!r}: "
            "give a training that came to nothing the worst score there is"
        )
    mean = float(d.mean())
    if d.size == 1:
        return Interval(mean, -math.inf, math.inf, tuple(d.tolist()))
    t = float(stats.t.ppf((1.0 + level) / 2.0, d.size - 1))
    half = t * float(d.std(ddof=1)) / math.sqrt(d.size)
    return Interval(mean, mean - half, mean + half, tuple(d.tolist()))
