"""What the penalty costs a dual point, and how far it lets one go: the conjugate of R.

    R*(u) = sup over w of uᵀw − R(w)             asked for at u = −sv, for multiples s of one v

With R(w) = (l2/2)‖w‖² + l1‖w‖₁ it is Σⱼ max(0, |uⱼ| − l1)²/(2·l2); for l2 = 0 it is 0 where
‖u‖∞ ≤ l1 and infinite elsewhere.

Rounding. v is off by e, entry by entry; R* is then off by ∇R*·e + ‖e‖²/(2·l2), or, where l2 = 0, θ
must shrink by 1 − e/l1, which costs that share of D by concavity and D(0) ≥ 0.

Cost: O(p), or O(pK) for K classes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thalweg.core.vector import dot
from thalweg.objectives.linear import LinearProblem

EPS = float(np.finfo(np.float64).eps)


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


def dual_penalty(problem: LinearProblem) -> DualPenalty:
    """R* of the problem, which has a penalty."""
    return DualPenalty(problem.l1, problem.l2)
