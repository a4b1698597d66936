"""Penalties and bounds column by column: what l1 and l2 are to each, and where it stays.

    h(w) = Σⱼ πⱼ(l1|wⱼ| + (l2/2)wⱼ²)      and      lowⱼ ≤ wⱼ ≤ highⱼ

π ≥ 0 are the weights of the columns, 1 unless they are given: with πⱼ = 0 a column is left out of
the penalty, and with πⱼ = 1/|ŵⱼ|, ŵ from an earlier fit, it is the adaptive lasso. Non-negative
coefficients are those with the bounds 0 and ∞. A coefficient has a step of its own,

    prox(vⱼ, η) = [S(vⱼ, ηπⱼl1)/(1 + ηπⱼl2)] between lowⱼ and highⱼ        S the soft threshold

as the minimum of a convex function of one variable on an interval is the minimum everywhere, moved
to the nearer end. Of l2 the part that all columns share, min π, is left to the smooth part of F.

`ByColumn` is what users write; `ColumnPenalty` is that of the columns of one problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.checks import check_reals, describe
from thalweg.core.errors import InputError
from thalweg.core.vector import dot
from thalweg.objectives.own_penalty import Penalty
from thalweg.rules.soft_threshold import soft_threshold


class ByColumn:
    """How l1 and l2 act on single columns: `LinearProblem(..., l1=0.1, penalty=ByColumn(...))`.

    `bounds` is a pair (low, high) of numbers, of arrays with one number a column, or None where
    there is no bound; `weight` multiplies both penalties, one number ≥ 0 a column. With
    `standardize` they are of the standardized coefficients, as the penalties are.

    >>> import numpy as np, thalweg as tw
    >>> by_column = ByColumn(bounds=(0, None), weight=[1.0, 0.0])
    >>> problem = tw.LinearProblem(np.eye(2), [-1.0, 2.0], l1=0.5, penalty=by_column)
    >>> tw.minimize(problem, tol=1e-9).w[:2].round(6).tolist()
    [0.0, 3.0]
    """

    def __init__(self, bounds: Any = None, weight: Any = None) -> None:
        self.low, self.high = _pair(bounds)
        self.weight = None if weight is None else check_reals("penalty_weight", weight)

    @property
    def is_plain(self) -> bool:
        """Whether it says nothing: no bound, and all weights 1."""
        is_open = bool(np.all(self.low == -np.inf) and np.all(self.high == np.inf))
        return is_open and (self.weight is None or bool(np.all(self.weight == 1.0)))

    def of(self, p: int, dtype: np.dtype, l1: float, l2: float) -> ColumnPenalty | None:
        """The penalty of p columns, coefficients of this type; None where it says nothing."""
        weight = np.ones(p)
        if self.weight is not None:
            weight = _one_a_column("penalty_weight", self.weight, p)
            if not np.all(np.isfinite(weight) & (weight >= 0.0)):
                raise InputError(
                    f"penalty_weight must be finite and at least 0, got {describe(self.weight)}: "
                    "give 0 to leave a column out of the penalty"
                )
        low, high = (_one_a_column("bounds", end, p) for end in (self.low, self.high))
        bad = np.flatnonzero(~((low <= high) & (low < np.inf) & (high > -np.inf)))
        if bad.size:
            j = int(bad[0])
            raise InputError(
                f"bounds must be pairs low ≤ high, got ({low[j]:g}, {high[j]:g}) for column {j}: "
                "use None or infinity where there is none"
            )
        if self.is_plain:
            return None
        return ColumnPenalty(_inside(low, high, dtype), weight, l1, l2)


class ColumnPenalty(Penalty):
    """h of p columns. With several classes all coefficients of a column are held alike."""

    check = False

    def __init__(
        self, bounds: tuple[np.ndarray, np.ndarray], weight: np.ndarray, l1: float, l2: float
    ) -> None:
        self.low, self.high = bounds  # float64[p]
        self.weight = weight  # π, float64[p]
        self.strengths = l1, l2
        self.l1 = l1 * weight  # of each column, float64[p]
        self.common = l2 * float(weight.min())  # the l2 that is left to the smooth part
        self.l2 = l2 * weight - self.common  # what each column has besides, float64[p]

    @property
    def name(self) -> str:  # type: ignore[override]
        """In a few words."""
        l1, l2 = self.strengths
        told = [f"{key} = {value:g}" for key, value in (("l1", l1), ("l2", l2)) if value]
        if np.any(self.weight != 1.0):
            told.append("weighted by column")
        if np.all(self.low == 0.0) and np.all(self.high == np.inf):
            told.append("w ≥ 0")
        elif np.any(self.low > -np.inf) or np.any(self.high < np.inf):
            told.append("bounded")
        return ", ".join(told)

    @property
    def has_dual(self) -> bool:
        """It is not a norm."""
        return False

    @property
    def has_conjugate(self) -> bool:
        """Column by column (`certificates.column_dual`)."""
        return True

    @property
    def is_sign(self) -> bool:
        """Whether it asks for w ≥ 0, and all columns have the same penalties."""
        is_sign = np.all(self.low == 0.0) and np.all(self.high == np.inf)
        return bool(is_sign and np.all(self.weight == 1.0))

    @property
    def leaves_open(self) -> bool:
        """Whether there is a column that no penalty holds, on a side without a bound."""
        is_open = (self.low == -np.inf) | (self.high == np.inf)
        return bool(np.any(is_open & (self.weight * sum(self.strengths) == 0.0)))

    def replaced(self, l1: float | None = None, l2: float | None = None) -> ColumnPenalty:
        """The same columns with other strengths."""
        before = self.strengths
        strengths = before[0] if l1 is None else l1, before[1] if l2 is None else l2
        return ColumnPenalty((self.low, self.high), self.weight, *strengths)

    def value(self, w: np.ndarray) -> float:
        """h(w), without the common part of l2."""
        if np.any((w < _like(self.low, w)) | (w > _like(self.high, w))):
            return np.inf
        flat = w.astype(np.float64, copy=False)
        held = float(np.sum(_like(self.l1, w) * np.abs(flat)))
        return held + 0.5 * dot((_like(self.l2, w) * flat).ravel(), flat.ravel())

    def prox(self, v: np.ndarray, step: float) -> np.ndarray:
        """prox(v, η)."""
        v = v.astype(np.float64)
        u = soft_threshold(v, step * _like(self.l1, v)) / (1.0 + step * _like(self.l2, v))
        return self.nearest(u)

    def nearest(self, w: np.ndarray) -> np.ndarray:
        """The nearest point within the bounds."""
        return np.clip(w, _like(self.low, w), _like(self.high, w))

    def __repr__(self) -> str:
        return f"ColumnPenalty({self.name})"


def _like(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A number a column, for coefficients [p] or [p, K]."""
    return a if w.ndim == 1 else a[:, None]


def _pair(bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    if bounds is None:
        bounds = (None, None)
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InputError(
            f"bounds must be a pair (low, high), got {describe(bounds)}: give numbers, arrays with "
            "one number a column, or None; of pairs by column tuple(np.transpose(pairs))"
        )
    ends = [
        np.float64(open_end) if end is None else check_reals("bounds", end).astype(np.float64)
        for end, open_end in zip(bounds, (-np.inf, np.inf), strict=True)
    ]
    return np.asarray(ends[0]), np.asarray(ends[1])


def _one_a_column(name: str, value: np.ndarray, p: int) -> np.ndarray:
    if value.ndim and value.shape != (p,):
        raise InputError(
            f"{name} must have one number for each of {p} columns, got shape {value.shape}"
        )
    return np.broadcast_to(value.astype(np.float64), p).copy()


def _inside(low: np.ndarray, high: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The bounds as numbers of the coefficients' type, none beyond what was asked for."""
    if dtype == np.float64:
        return low, high
    ends = []
    for end, away, way in ((low, np.less, np.inf), (high, np.greater, -np.inf)):
        near = end.astype(dtype)
        is_beyond = away(near.astype(np.float64), end)
        ends.append(np.where(is_beyond, np.nextafter(near, dtype.type(way)), near))
    if np.any(ends[0] > ends[1]):  # between two neighbours of that type: the nearest will do
        ends = [np.minimum(*ends), np.minimum(*ends)]
    return ends[0].astype(np.float64), ends[1].astype(np.float64)
