"""R* of penalties and bounds column by column: what `dual_penalty` is of one l1 and one l2.

    R*(u) = Σⱼ sup over low ≤ t ≤ high of  uⱼt − l1ⱼ|t| − (l2ⱼ/2)t²        at u = −sv

The best t is S(uⱼ, l1ⱼ)/l2ⱼ, S the soft threshold, or the nearer end; where l2ⱼ = 0 it is an end
beyond |uⱼ| = l1ⱼ, and else 0 or the end nearest to that. With l2ⱼ = 0 and no end on a side, uⱼ may
not go beyond l1ⱼ on that side: the signs of the dual,

    −vⱼ ≤ l1ⱼ  where wⱼ ≥ 0 is asked for        |vⱼ| ≤ l1ⱼ  without bounds        none with both

so that with wⱼ ≥ 0 and no penalty v may have no negative entry, and a column that nothing holds has
vⱼ = 0, as an intercept has Σ cᵢθᵢ = 0 (`column_levels` brings that about).

Rounding. v is off by e, entry by entry. R* is convex, so that the larger of its values at u ± e is
known; a domain that ends at l1ⱼ > 0 costs the share e/l1ⱼ of D where u is so near to its end, as in
`dual_penalty`; and what is left of vⱼ in a column that nothing holds multiplies wⱼ.

Cost: O(p), or O(pK) for K classes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thalweg.objectives.linear import LinearProblem

EPS = float(np.finfo(np.float64).eps)
CONSTANT = 1e-26  # of Σcx²: a centred square below this is the rounding of a constant column
FAR = 1e3  # times the largest coefficient, from which a bound is as good as none
LEVEL = 4.0  # times e, up to which the v of a column that nothing holds is taken for zero


class ColumnDual(NamedTuple):
    """R*, column by column; all arrays are flat, float64[p] or [pK]."""

    l1: np.ndarray
    l2: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reach: np.ndarray  # |w|, for columns that nothing holds

    @property
    def is_free(self) -> np.ndarray:
        """Columns that nothing holds."""
        is_open = (self.low == -np.inf) & (self.high == np.inf)
        return is_open & (self.l1 == 0.0) & (self.l2 == 0.0)

    def at(self, some: np.ndarray) -> ColumnDual:
        """That of some of the columns."""
        return ColumnDual(*(a[some] for a in self))

    def relaxed(self, w: np.ndarray) -> ColumnDual:
        """R* without bounds that `w` is not at: of two the one further from zero, and all far ones.

        It is nowhere less, and does not multiply what is left of u by a bound that is far away.
        """
        is_inside = (self.low < w) & (w < self.high) & (self.l2 == 0.0)
        is_up, far = np.abs(self.high) >= np.abs(self.low), FAR * float(np.abs(w).max(initial=0.0))
        has_two = np.isfinite(self.low) & np.isfinite(self.high)
        is_low_off = is_inside & ((has_two & ~is_up) | (np.abs(self.low) > far))
        is_high_off = is_inside & ((has_two & is_up) | (np.abs(self.high) > far))
        low = np.where(is_low_off, -np.inf, self.low)
        return self._replace(low=low, high=np.where(is_high_off, np.inf, self.high))

    @property
    def domain(self) -> tuple[np.ndarray, np.ndarray]:
        """Between which u has a finite R*."""
        is_linear = self.l2 == 0.0
        least = np.where(is_linear & (self.low == -np.inf), -self.l1, -np.inf)
        return least, np.where(is_linear & (self.high == np.inf), self.l1, np.inf)

    def largest(self, v: np.ndarray) -> float:
        """The s up to which R*(−sv) is finite; 0 where none above is."""
        u = -v.ravel()
        least, most = self.domain
        seen = ~self.is_free
        with np.errstate(divide="ignore", invalid="ignore"):
            up = np.where(seen & (u > 0.0), most / (u * (1.0 + 4.0 * EPS)), np.inf)
            down = np.where(seen & (u < 0.0), least / (u * (1.0 + 4.0 * EPS)), np.inf)
        return float(min(up.min(initial=np.inf), down.min(initial=np.inf)))

    def value(self, v: np.ndarray, s: float) -> float:
        """R*(−sv) for an s within reach."""
        return float(self.each(-s * v.ravel()).sum())

    def with_rounding(
        self, v: np.ndarray, s: float, error: np.ndarray, gained: float
    ) -> tuple[float, float]:
        """The same, and what an `error` of v may do to D; `gained` is D without R*."""
        u, e = -s * v.ravel(), error.ravel()
        each, free = self.each(u), self.is_free
        least, most = self.domain
        if np.any(np.abs(u[free]) > LEVEL * e[free]):
            return math.inf, 0.0
        off = float(self.reach[free] @ (e[free] + np.abs(u[free])))
        may_leave = ~free & ((u + e > most) | (u - e < least))
        if np.any(may_leave):
            if not np.all(self.l1[may_leave] > 0.0):
                return math.inf, 0.0
            off += max(gained, 0.0) * float(np.max(e[may_leave] / self.l1[may_leave]))
        around = np.maximum(self.each(np.minimum(u + e, most)), self.each(np.maximum(u - e, least)))
        return float(each.sum()), off + float(np.maximum(around - each, 0.0).sum())

    def each(self, u: np.ndarray) -> np.ndarray:
        """The supremum of each column; 0 for those that nothing holds."""
        least, most = self.domain
        beyond = np.clip(u, least, most)
        beyond = beyond - np.clip(beyond, -self.l1, self.l1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(beyond == 0.0, 0.0, beyond / self.l2)
        t = np.clip(t, self.low, self.high)
        terms = u * t - self.l1 * np.abs(t) - 0.5 * self.l2 * t * t
        return np.where(self.is_free, 0.0, terms)


def column_dual(problem: LinearProblem, w: np.ndarray | None = None) -> ColumnDual:
    """R* of a problem with a penalty by column; `w` are the variables that a bound is for."""
    own, K = problem.by_column, problem.outputs
    assert own is not None
    l2 = own.l2 + problem.l2
    # Of a constant column that no penalty holds v is zero, whatever rounding says.
    is_idle = (own.l1 == 0.0) & (l2 == 0.0) & _is_constant(problem)
    low, high = (np.where(is_idle, 0.0, end) for end in (own.low, own.high))
    each = (own.l1, l2, low, high)
    reach = np.zeros(problem.p * K) if w is None else np.abs(w[: problem.p * K])
    l1, l2, low, high = (np.repeat(a, K) for a in each)
    return ColumnDual(l1, l2, low, high, reach)


def _is_constant(problem: LinearProblem) -> np.ndarray:
    """Whether a column is, beside an intercept, bool[p]."""
    if not problem.fit_intercept:
        return np.zeros(problem.p, dtype=bool)
    squares = problem.rows.squares_about(None)
    return problem.rows.squares_about(problem.rows.means) <= CONSTANT * squares
