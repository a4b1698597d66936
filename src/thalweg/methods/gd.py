"""Gradient descent: step down the gradient.

    minimise  f(w), f L-smooth
    w_{t+1} = w_t − η ∇f(w_t)

η is 1/L where the objective knows L. Otherwise each step is the longest of a halving sequence that
satisfies the descent lemma f(w_{t+1}) ≤ f(w_t) − (η/2)‖∇f(w_t)‖². A number is used as it is, or
shrunk by a schedule: η/t, η/√t. On a convex f with η ≤ 1/L, f(w_T) − f* ≤ ‖w₀ − w*‖²/(2ηT).

Cost: one gradient a step; the search adds about two values. Memory O(dim).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.methods.backtracking import Backtracking, check_exact, first_step
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.schedule import check_step, scheduled
from thalweg.methods.search import Search
from thalweg.objectives.linear import LinearProblem
from thalweg.rules.plain_step import plain_step
from thalweg.theory.stability import gd_limit


class GDState(NamedTuple):
    """All that gradient descent carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    step: float  # η of the step that led here, or the first trial
    t: int  # steps taken


@dataclass(frozen=True)
class GD(Method):
    """Gradient descent. `step`: a number, or None for 1/L where known and a search where not.

    A `search` is made even where L is known.
    """

    name: ClassVar[str] = "gd"
    State: ClassVar[type] = GDState
    kappa_power: ClassVar[float | None] = 1.0
    law: ClassVar[str] = "κ log(1/ε) iterations"
    searches: ClassVar[tuple[type[Search], ...]] = (Backtracking,)
    step: float | None = None
    schedule: str = "constant"
    search: Backtracking | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_step(self.step, self.schedule, self.search)

    def check(self, problem: Problem) -> None:
        """A search needs exact gradients."""
        check_exact(self.name, self.step, problem, self.search)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> GDState:
        """The state at w₀."""
        value, gradient = problem.value_and_gradient(w0)
        return GDState(w0, value, gradient, first_step(w0, gradient), 0)

    def advance(self, problem: Problem, state: GDState) -> GDState:
        """One step down the gradient."""
        t = state.t + 1
        fixed = fixed_step(self.step, self.search, problem)
        if fixed is not None:
            step = scheduled(fixed, self.schedule, t)
            w = plain_step(state.w, state.gradient, step)
        else:
            search = self.search or Backtracking()
            trial = search.trial(state.step, t)
            move = search(problem, state.w, state.value, state.gradient, trial)
            if move is None:
                return state
            w, step = move.x, move.step
        value, gradient = problem.value_and_gradient(w)
        return GDState(w, value, gradient, step, t)

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected:
        """A third of what is guaranteed, κ log(1/ε), at most 50/3ε."""
        count = max(hard.accelerated, min(hard.kappa * hard.digits, 50.0 / hard.tol) / 3.0)
        bound = hard.kappa * hard.digits if hard.is_certain else None
        return Expected(bound, count, {"gradient": 1.0, "call": 4.0}, 2, 4)

    def stability(self, state: Any, smoothness: float) -> tuple[str, float, float]:
        """On curvature L the iterates grow once η > 2/L."""
        return "2/L", gd_limit(smoothness), state.step


def fixed_step(step: float | None, search: Search | None, problem: Problem) -> float | None:
    """η as it was given, or 1/L; None where it is to be searched for."""
    if step is not None or search is not None:
        return step
    return inverse_smoothness(problem)


def inverse_smoothness(problem: Problem) -> float | None:
    """1/L where the objective knows L."""
    smoothness = problem.smoothness
    return 1.0 / smoothness if smoothness else None
