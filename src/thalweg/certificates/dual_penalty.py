"""What the penalty costs a dual point, and how far it lets one go: the conjugate of R.

    R*(u) = sup over w of uᵀw − R(w)             asked for at u = −sv, for multiples s of one v

With R(w) = (l2/2)‖w‖² + l1‖w‖₁ it is Σⱼ max(0, |uⱼ| − l1)²/(2·l2); for l2 = 0 it is 0 where
‖u‖∞ ≤ l1 and infinite elsewhere.

With a penalty h of a user's own in place of l1, and l2 > 0, the best w is a proximal step away,

    R*(u) = uᵀw̄ − R(w̄)        w̄ = prox(u/l2, 1/l2)

and for l2 = 0 it is h*: 0 where the dual norm of u is at most 1, or the conjugate that was given.

Penalties and bounds column by column have an R* of their own (`column_dual`).

Rounding. v is off by e, entry by entry; R* is then off by ∇R*·e + ‖e‖²/(2·l2), or, where l2 = 0, θ
must shrink by 1 − e/l1 (a user's own: by the dual norm of e), which costs that share of D by
concavity and D(0) ≥ 0.

Cost: O(p), or O(pK) for K classes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thalweg.certificates.column_dual import ColumnDual, column_dual
from thalweg.core.bisection import last_inside
from thalweg.core.vector import dot
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.own_penalty import Penalty

EPS = float(np.finfo(np.float64).eps)
WIDEST = 4.0  # the largest multiple that is tried


class DualPenalty(NamedTuple):
    """R* of the penalties l1 and l2, one of which is above 0."""

    l1: float
    l2: float

    def largest(self, v: np.ndarray) -> float:
        """The s up to which R*(−sv) is finite."""
        steepest = max(float(v.max()), -float(v.min()))
        if self.l2 > 0.0 or steepest == 0.0:
            return math.inf
        # A hair inside: l1/‖v‖∞ may round to a factor that leaves v outside by an ulp.
        return self.l1 / (steepest * (1.0 + 4.0 * EPS))

    def value(self, v: np.ndarray, s: float) -> float:
        """R*(−sv) for an s within reach."""
        if self.l2 == 0.0:
            return 0.0
        if self.l1 == 0.0:
            return s * s * dot(v.ravel(), v.ravel()) / (2.0 * self.l2)
        beyond = self._beyond(v, s)
        return dot(beyond, beyond) / (2.0 * self.l2)

    def with_rounding(
        self, v: np.ndarray, s: float, error: np.ndarray, gained: float
    ) -> tuple[float, float]:
        """The same, and what an `error` of v may do to D; `gained` is D without R*."""
        if self.l2 == 0.0:
            return 0.0, max(gained, 0.0) * float(error.max()) / self.l1
        beyond, flat = self._beyond(v, s), error.ravel()
        penalty = dot(beyond, beyond) / (2.0 * self.l2)
        return penalty, (dot(beyond, flat) + 0.5 * dot(flat, flat)) / self.l2

    def _beyond(self, v: np.ndarray, s: float) -> np.ndarray:
        """max(0, |svⱼ| − l1), a fresh float64[p] or [pK]."""
        out = np.abs(v.ravel())
        out *= s
        out -= self.l1
        return np.maximum(out, 0.0, out=out)


class OwnDualPenalty(NamedTuple):
    """R* of a penalty of a user's own and l2, as far as it is known."""

    own: Penalty
    l2: float

    def largest(self, v: np.ndarray) -> float:
        """The s up to which R*(−sv) is finite; of a conjugate, infinite where it is beyond 4."""
        if self.l2 > 0.0:
            return math.inf
        if self.own.has_dual:
            norm = self.own.dual(-v)
            return 1.0 / (norm * (1.0 + 4.0 * EPS)) if norm > 0.0 else math.inf
        found = last_inside(lambda s: math.isfinite(self.own.conjugate(-s * v)), WIDEST)
        return math.inf if found == WIDEST else found

    def value(self, v: np.ndarray, s: float) -> float:
        """R*(−sv) for an s within reach."""
        if self.l2 == 0.0:
            return 0.0 if self.own.has_dual else self.own.conjugate(-s * v)
        return self._reached(v, s)[0]

    def with_rounding(
        self, v: np.ndarray, s: float, error: np.ndarray, gained: float
    ) -> tuple[float, float]:
        """The same, and what an `error` of v may do to D; `gained` is D without R*."""
        if self.l2 > 0.0:
            penalty, w = self._reached(v, s)
            flat = error.ravel()
            return penalty, dot(np.abs(w).ravel(), flat) + 0.5 * dot(flat, flat) / self.l2
        if self.own.has_dual:
            return 0.0, max(gained, 0.0) * self.own.dual(error)
        penalty = self.own.conjugate(-s * v)
        # Away from zero, where h* rises if it does anywhere.
        rise = self.own.conjugate(-s * v - np.sign(v) * error) - penalty
        return penalty, max(rise, 0.0) if math.isfinite(rise) else EPS * abs(penalty)

    def _reached(self, v: np.ndarray, s: float) -> tuple[float, np.ndarray]:
        """R*(−sv) and the w̄ that attains it."""
        u = -s * v
        w = self.own.prox(u / self.l2, 1.0 / self.l2)
        flat = w.ravel()
        return dot(u.ravel(), flat) - 0.5 * self.l2 * dot(flat, flat) - self.own.value(w), w


def dual_penalty(
    problem: LinearProblem, w: np.ndarray | None = None
) -> DualPenalty | OwnDualPenalty | ColumnDual:
    """R* of the problem, which has a penalty; `w` are the variables that a bound is for, if any."""
    if problem.by_column is not None:
        return column_dual(problem, w)
    if problem.own_penalty is not None:
        return OwnDualPenalty(problem.own_penalty, problem.l2)
    return DualPenalty(problem.l1, problem.l2)
