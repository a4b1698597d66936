"""FISTA: the accelerated proximal gradient method, for a smooth part plus a simple penalty.

    minimise  F(w) = f(w) + h(w),  f L-smooth, h with a proximal step

    x_{t+1} = prox(y_t − η∇f(y_t), η)         prox(v, η) = argmin_u h(u) + ‖u − v‖²/(2η)
    y_{t+1} = x_{t+1} + β_t (x_{t+1} − x_t)

with β_t = (θ_t − 1)/θ_{t+1}, θ₁ = 1, θ_{t+1} = (1 + √(1 + 4θ_t²))/2. For convex F and a fixed η,

    F(x_T) − F* ≤ 2‖x₀ − x*‖²/(η(T+1)²)

The momentum begins anew (θ ← 1) whenever it points uphill, ⟨y_t − x_{t+1}, x_{t+1} − x_t⟩ > 0,
which gains the linear rate of strongly convex problems without knowing μ; `restart=False` turns it
off. `momentum=False` is plain proximal gradient. A searched η may grow where f becomes flatter,
which the bound does not cover.

The gradient mapping (y_t − x_{t+1})/η, zero exactly at the minimizers, is what the loop stops on.

Cost: one gradient, one or two values and one prox a step. Memory O(dim).
Beck & Teboulle, SIAM J. Imaging Sci. 2 (2009); restart: O'Donoghue & Candès, Found. Comput. Math.
15 (2015).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.methods.backtracking import Backtracking, Move, check_exact, first_step
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.gd import fixed_step
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.schedule import check_step
from thalweg.methods.search import Search
from thalweg.objectives.linear import LinearProblem
from thalweg.theory.accelerated import next_theta


class FISTAState(NamedTuple):
    """All that FISTA carries from one step to the next."""

    w: np.ndarray  # x, the iterate, float[dim]
    value: float  # F(x)
    gradient: np.ndarray  # gradient mapping of the step that led to x, float[dim]
    y: np.ndarray  # the look-ahead point, float[dim]
    theta: float  # θ
    step: float  # η of the step that led here, or the first trial
    t: int  # steps taken


@dataclass(frozen=True)
class FISTA(Method):
    """Accelerated proximal gradient. `step`: a number, or None for 1/L or a search."""

    name: ClassVar[str] = "fista"
    State: ClassVar[type] = FISTAState
    kappa_power: ClassVar[float | None] = 0.5
    law: ClassVar[str] = "√κ log(1/ε) iterations"
    searches: ClassVar[tuple[type[Search], ...]] = (Backtracking,)
    takes_penalty: ClassVar[bool] = True
    step: float | None = None
    momentum: bool = True
    restart: bool = True
    search: Backtracking | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_step(self.step, search=self.search)

    def check(self, problem: Problem) -> None:
        """A search needs exact gradients."""
        check_exact(self.name, self.step, problem, self.search)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> FISTAState:
        """The state at the nearest feasible point to w₀."""
        w = problem.prox(w0, 0.0) if problem.is_composite else w0
        value, gradient = problem.value_and_gradient(w)
        step = self._fixed(problem) or first_step(w, gradient)
        mapping = _mapping(problem, w, problem.prox(w - step * gradient, step), gradient, step)
        return FISTAState(w, value + problem.penalty(w), mapping, w, 1.0, step, 0)

    def advance(self, problem: Problem, state: FISTAState) -> FISTAState:
        """One proximal step from the look-ahead point."""
        t = state.t + 1
        value, gradient = problem.value_and_gradient(state.y)
        if not math.isfinite(value) and not np.array_equal(state.y, state.w):
            # The look-ahead left the domain of f: begin the momentum anew, at x.
            state = state._replace(y=state.w, theta=1.0)
            value, gradient = problem.value_and_gradient(state.y)
        fixed = self._fixed(problem)
        if fixed is None:
            search = self.search or Backtracking()
            trial = search.trial(state.step, t)
            move = search(problem, state.y, value, gradient, trial)
            if move is None:
                return state
        else:
            move = Move(problem.prox(state.y - fixed * gradient, fixed), np.nan, fixed)
        x, found, step = move
        if np.isnan(found):
            found = problem.value(x)

        theta = 1.0
        if self.momentum and not (self.restart and (state.y - x) @ (x - state.w) > 0.0):
            theta = next_theta(state.theta)
        beta = (state.theta - 1.0) / theta if theta > 1.0 else 0.0
        y = x + beta * (x - state.w)
        mapping = _mapping(problem, state.y, x, gradient, step)
        return FISTAState(x, found + problem.penalty(x), mapping, y, theta, step, t)

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected:
        """1.5 times κ^0.4 log(1/ε)/2, at most 50/√ε, where √κ log(1/ε) are guaranteed.

        With l1 and several classes at most 10 log(1/ε)/√s, s = l1/l1_max, as is usual there.
        """
        bound = math.sqrt(hard.kappa) * hard.digits if hard.is_certain else None
        count = 1.5 * hard.accelerated
        if problem.l1 and problem.outputs > 1:
            count = min(count, 10.0 * hard.digits / math.sqrt(max(hard.share, 1e-4)))
        return Expected(bound, count, {"gradient": 2.0, "call": 4.0}, 2, 5)

    def _fixed(self, problem: Problem) -> float | None:
        return fixed_step(self.step, self.search, problem)


def _mapping(
    problem: Problem, y: np.ndarray, x: np.ndarray, gradient: np.ndarray, step: float
) -> np.ndarray:
    """(y − x)/η; without a penalty that is ∇f(y), which the difference would round."""
    return (y - x) / step if problem.is_composite else gradient
