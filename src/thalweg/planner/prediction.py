"""What to expect of each method on a problem: how hard it is, and what the methods make of it.

The methods know their own counts (`methods.expectation`); the geometry tells them

    κ = L/μ      r = L_mean/(nμ)      s = L/(nμ)      L_max/(nμ)

with μ the strong convexity that is certain or, with an intercept, l2: the intercept alone does not
slow a method down, but theorems do not know that.
"""

from __future__ import annotations

import math

from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.table import METHODS
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.geometry import Geometry


def difficulty(problem: LinearProblem, shape: Geometry, tol: float) -> Difficulty:
    """How hard the problem is to bring to `tol`."""
    mu = shape.mu.value or problem.l2
    kappa, r, s, worst = (
        smoothness / (count * mu) if mu else math.inf
        for smoothness, count in (
            (shape.L.value, 1),
            (shape.L_mean.value, shape.n),
            (shape.L.value, shape.n),
            (shape.L_max.value, shape.n),
        )
    )
    return Difficulty(tol, kappa, r, s, worst, is_certain=shape.mu.value > 0.0)


def candidates(problem: LinearProblem, hard: Difficulty) -> dict[str, Expected]:
    """What to expect of every method that says so, in the order of the table."""
    hopes = {name: method().expected(problem, hard) for name, method in METHODS.items()}
    return {name: hope for name, hope in hopes.items() if hope is not None}


def is_of_gradients(hope: Expected) -> bool:
    """Whether an iteration is made of gradients alone, which are cheap to time."""
    return hope.passes.keys() == {"gradient"}
