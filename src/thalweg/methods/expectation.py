"""What to expect of a method on a linear problem: iterations, and what one takes.

A method's `expected` says how many iterations theory guarantees and how many to expect, from the
problem and from how hard it is, with ε the tolerance relative to F at w = 0:

    κ = L/μ      r = L_mean/(nμ)      s = L/(nμ)      L_max/(nμ)      log(1/ε)

Each formula stands beside its method. Those of methods without a law are fits to runs on the
benchmark problems. The bounds of single samples hold for the worst data, where all rows point one
way; s, which they do not know, tells how far the rows do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from thalweg.objectives.linear import LinearProblem


class Expected(NamedTuple):
    """Iterations of one method, and what one takes."""

    bound: float | None  # iterations, guaranteed
    iterations: float
    passes: Mapping[str, float]  # of an iteration, by what `planner.cost` has prices for
    vectors_n: float  # memory, in vectors of n·K numbers
    vectors_p: float  # and of dim numbers
    work: float = math.inf  # multiplications of all of it, if they are worth counting
    refusal: str = ""  # why a plan leaves it out here, though it could be run


class Difficulty(NamedTuple):
    """How hard a linear problem is, in the numbers that counts of iterations are made of."""

    tol: float  # ε
    kappa: float  # κ; this and the next three are ∞ where nothing is strongly convex
    r: float
    s: float
    worst: float  # L_max/(nμ)
    is_certain: bool  # whether μ is that of F itself, so that theorems apply

    @property
    def digits(self) -> float:
        """log(1/ε)."""
        return math.log(1.0 / self.tol)

    @property
    def accelerated(self) -> float:
        """κ^0.4 log(1/ε)/2, at most 50/√ε: what momentum takes, and no plain gradient beats."""
        return min(0.5 * self.kappa**0.4 * self.digits, 50.0 / math.sqrt(self.tol))


def hessian_work(problem: LinearProblem) -> float:
    """Multiplications for a Hessian of all variables and its factors."""
    row = _width(problem) + problem.fit_intercept
    return problem.n * row**2 + problem.dim**3 / 3


def sample_work(problem: LinearProblem) -> float:
    """Multiplications for a system of samples and its factors."""
    return problem.n**2 * _width(problem) + problem.n**3 / 3


def _width(problem: LinearProblem) -> float:
    """Entries of a row, without zeros."""
    return problem.matrix.entries / problem.n * problem.outputs
