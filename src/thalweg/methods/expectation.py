"""What to expect of a method on a linear problem: iterations, and what one takes.

A method's `expected` says how many iterations theory guarantees and how many to expect, from the
problem and from how hard it is, with ε the tolerance relative to F at w = 0:

    κ = L/μ      r = L_mean/(nμ)      s = L/(nμ)      L_max/(nμ)      log(1/ε)

Each formula stands beside its method. Those of methods without a law are usual counts, found on
problems drawn by even seeds (`benchmarks/wild.py`); odd ones tell how good they are. The bounds of
single samples hold for the worst data, where all rows point one way; s, which they do not know,
tells how far the rows do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from thalweg.objectives.linear import LinearProblem

WIDE, STIFF = 2.5, ("squared", "huber", "squared-hinge")  # where features are more than samples
LEAST, MOST = 1e-2, 1e4  # r between which a weaker penalty takes more passes


def telling(r: float) -> float:
    """r, as far as it tells."""
    return min(max(r, LEAST), MOST)


class Law(NamedTuple):
    """A usual count of passes, c·kᵃ·rᵇ: found by regression on problems of even seeds."""

    c: float
    a: float  # less than 1 where steps are not those of a quadratic
    b: float


class Expected(NamedTuple):
    """Iterations of one method, and what one takes."""

    bound: float | None  # iterations, guaranteed
    iterations: float
    passes: Mapping[str, float]  # of an iteration, by the kinds that `planner.cost` has prices for
    vectors_n: float  # memory, in vectors of n·K numbers
    vectors_p: float  # and of dim numbers
    refusal: str = ""  # why a plan leaves it out here, though it could be run


class Difficulty(NamedTuple):
    """How hard a linear problem is, in the numbers that counts of iterations are made of."""

    tol: float  # ε
    kappa: float  # κ; this and the next three are ∞ where nothing is strongly convex
    r: float
    s: float
    worst: float  # L_max/(nμ)
    is_certain: bool  # whether μ is that of F itself, so that theorems apply
    crowding: float = math.inf  # n times the mean square of the cosine between two rows
    share: float = 1.0  # l1/l1_max, with l1_max the least that leaves w = 0
    steps: float = 10.0  # k, of conjugate gradients at w = 0 to ε
    crossing: float = math.inf  # p times the mean square of the cosine between two columns

    def passes(self, problem: LinearProblem, laws: Mapping[str, Law]) -> float:
        """c·kᵃ·rᵇ by the loss; `WIDE` times as many of few samples that no curvature ends."""
        law = laws.get(problem.loss, laws["logistic"])
        wide = WIDE if problem.n < problem.p and problem.loss in STIFF else 1.0
        return wide * law.c * self.steps**law.a * telling(self.r) ** law.b

    @property
    def digits(self) -> float:
        """log(1/ε)."""
        return math.log(1.0 / self.tol)

    @property
    def accelerated(self) -> float:
        """κ^0.4 log(1/ε)/2, at most 50/√ε: what momentum takes, and no plain gradient beats."""
        return min(0.5 * self.kappa**0.4 * self.digits, 50.0 / math.sqrt(self.tol))
