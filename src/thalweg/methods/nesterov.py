"""Nesterov's accelerated gradient: look ahead along the momentum, then correct.

    x_{t+1} = w_t − η ∇f(w_t)
    w_{t+1} = x_{t+1} + β_t (x_{t+1} − x_t)

The iterate w is the look-ahead point, where the gradient is taken. With η = 1/L:

    strongly convex form  β = (√L − √μ)/(√L + √μ)          f − f* falls by 1 − √(μ/L) a step
    convex form           β_t = (θ_t − 1)/θ_{t+1}          f(x_T) − f* ≤ 2L‖x₀ − x*‖²/(T+1)²

where θ₁ = 1, θ_{t+1} = (1 + √(1 + 4θ_t²))/2. The convex form begins its momentum anew when the
gradient at w points along the way just taken (adaptive restart), which `restart=False` turns off.
With a constant β this is the rule `thalweg.rules.nesterov`, written in positions, so that η may
change on the way. A searched η may grow where the surface becomes flatter: the bounds, for a fixed
η or one that only shrinks, do not cover that.

Cost: one gradient a step; the search adds about two values. Memory O(dim).
Nesterov, Soviet Math. Dokl. 27 (1983); restart: O'Donoghue & Candès, Found. Comput. Math. 15
(2015).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_choice, check_number
from thalweg.core.errors import InputError
from thalweg.methods.backtracking import Backtracking, check_exact, first_step
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.gd import fixed_step
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.schedule import check_step
from thalweg.methods.search import Search
from thalweg.objectives.linear import LinearProblem
from thalweg.rules.plain_step import plain_step
from thalweg.theory.accelerated import momentum as best_momentum
from thalweg.theory.accelerated import next_theta
from thalweg.theory.stability import nesterov_limit

FORMS = ("convex", "strongly-convex")


class NesterovState(NamedTuple):
    """All that the accelerated method carries from one step to the next."""

    w: np.ndarray  # look-ahead point, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    x: np.ndarray  # the point before the look ahead, float[dim]
    theta: float  # θ; 1 at the start and after a restart
    beta: float  # β of the step that led here
    step: float  # η of the step that led here, or the first trial
    t: int  # steps taken


@dataclass(frozen=True)
class Nesterov(Method):
    """Accelerated gradient. `momentum`: a number, a form above, or None for the form that fits."""

    name: ClassVar[str] = "nesterov"
    State: ClassVar[type] = NesterovState
    kappa_power: ClassVar[float | None] = 0.5
    law: ClassVar[str] = "√κ log(1/ε) iterations"
    searches: ClassVar[tuple[type[Search], ...]] = (Backtracking,)
    step: float | None = None
    momentum: float | str | None = None
    restart: bool = True
    search: Backtracking | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_step(self.step, search=self.search)
        if isinstance(self.momentum, str):
            check_choice("momentum", self.momentum, FORMS)
        elif self.momentum is not None:
            check_number("momentum", self.momentum, at_least=0.0, below=1.0)

    def check(self, problem: Problem) -> None:
        """The strongly convex form needs L and μ, and a search exact gradients."""
        check_exact(self.name, self.step, problem, self.search)
        if self.momentum == "strongly-convex" and not (
            problem.smoothness and problem.strong_convexity
        ):
            raise InputError(
                f"momentum 'strongly-convex' needs L and μ > 0, which {problem.name} does not "
                "state: use momentum='convex', or give a number"
            )

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> NesterovState:
        """The state at w₀, at rest."""
        value, gradient = problem.value_and_gradient(w0)
        return NesterovState(w0, value, gradient, w0, 1.0, 0.0, first_step(w0, gradient), 0)

    def advance(self, problem: Problem, state: NesterovState) -> NesterovState:
        """One gradient step from the look-ahead point, and the next look ahead."""
        t = state.t + 1
        step = fixed_step(self.step, self.search, problem)
        if step is not None:
            x = plain_step(state.w, state.gradient, step)
        else:
            search = self.search or Backtracking()
            trial = search.trial(state.step, t)
            move = search(problem, state.w, state.value, state.gradient, trial)
            if move is None:
                return state
            x, step = move.x, move.step
        beta, theta = self._momentum(problem, state, x)
        w = x + beta * (x - state.x)
        value, gradient = problem.value_and_gradient(w)
        if beta > 0.0 and not math.isfinite(value):
            # The look-ahead left the domain of f: begin the momentum anew, at x.
            w, beta, theta = x, 0.0, 1.0
            value, gradient = problem.value_and_gradient(w)
        return NesterovState(w, value, gradient, x, theta, beta, step, t)

    def _momentum(
        self, problem: Problem, state: NesterovState, x: np.ndarray
    ) -> tuple[float, float]:
        """β_t and the next θ."""
        if isinstance(self.momentum, float | int):
            return float(self.momentum), 1.0
        L, mu = problem.smoothness, problem.strong_convexity
        if L and mu and self.momentum != "convex":
            return best_momentum(smoothness=L, strong_convexity=mu), 1.0
        if self.restart and float(state.gradient @ (x - state.x)) > 0.0:
            return 0.0, 1.0
        theta = next_theta(state.theta)
        return (state.theta - 1.0) / theta, theta

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected:
        """1.5 times κ^0.4 log(1/ε)/2, at most 50/√ε, where √κ log(1/ε) are guaranteed."""
        bound = math.sqrt(hard.kappa) * hard.digits if hard.is_certain else None
        return Expected(bound, 1.5 * hard.accelerated, {"gradient": 2.0, "call": 4.0}, 2, 5)

    def stability(self, state: Any, smoothness: float) -> tuple[str, float, float]:
        """On curvature L the iterates grow once η > 2(1+β)/((1+2β)L)."""
        return "2(1+β)/((1+2β)L)", nesterov_limit(smoothness, state.beta), state.step
