"""Heavy ball: the gradient pushes a ball that keeps its momentum.

    m_t = β m_{t−1} + ∇f(w_{t−1})
    w_t = w_{t−1} − η m_t

Steps along a lasting direction add up to η/(1−β) times the gradient; steps that change sign cancel.
On a quadratic with curvatures in [μ, L] the best pair is η = (2/(√L+√μ))², β = ((√L−√μ)/(√L+√μ))²,
and it is used where the objective knows L and μ > 0. Otherwise β = 0.9, with η = 1/L or, L unknown,
the longest step for which the descent lemma holds at w. Such an η grows by at most a tenth a step,
and m is rescaled where it does, so that the velocity ηm never grows with η alone.

Cost: one gradient a step; the search adds about two values. Memory O(dim).
Polyak, USSR Comput. Math. Math. Phys. 4 (1964).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_number
from thalweg.kernels.elementwise import heavy_ball_pass
from thalweg.kernels.threads import in_threads
from thalweg.methods.backtracking import Backtracking, check_exact, first_step
from thalweg.methods.gd import fixed_step
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.schedule import check_step, scheduled
from thalweg.methods.search import Search
from thalweg.theory.heavy_ball import optimal_momentum, optimal_step
from thalweg.theory.stability import heavy_ball_limit

MOMENTUM = 0.9  # where nothing better is known
# On a searched step before the next search. The lemma looks along the gradient, the ball moves
# along its velocity: a step that doubles where the gradient is flat is far too long where the ball
# arrives, and the run never settles, on log cosh for one.
GROWTH = 1.1


class HeavyBallState(NamedTuple):
    """All that the heavy ball carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    m: np.ndarray  # momentum, float[dim]
    beta: float  # β of the step that led here
    step: float  # η of the step that led here, or the first trial
    t: int  # steps taken


@dataclass(frozen=True)
class HeavyBall(Method):
    """Gradient descent with momentum. `step` and `momentum` as None are chosen as above."""

    name: ClassVar[str] = "heavy-ball"
    State: ClassVar[type] = HeavyBallState
    searches: ClassVar[tuple[type[Search], ...]] = (Backtracking,)
    kappa_power: ClassVar[float | None] = 0.5
    step: float | None = None
    momentum: float | None = None
    schedule: str = "constant"
    search: Backtracking | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_step(self.step, self.schedule, self.search)
        if self.momentum is not None:
            check_number("momentum", self.momentum, at_least=0.0, below=1.0)

    def check(self, problem: Problem) -> None:
        """A search needs exact gradients."""
        check_exact(self.name, self.step, problem, self.search)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> HeavyBallState:
        """The state at w₀, at rest."""
        value, gradient = problem.value_and_gradient(w0)
        return HeavyBallState(
            w0, value, gradient, np.zeros_like(w0), 0.0, first_step(w0, gradient), 0
        )

    def advance(self, problem: Problem, state: HeavyBallState) -> HeavyBallState:
        """One push and one move."""
        t = state.t + 1
        fixed, momentum = self._choose(problem)
        if fixed is not None:
            step = scheduled(fixed, self.schedule, t)
        else:
            search = self.search or Backtracking(growth=GROWTH)
            trial = search.trial(state.step, t)
            move = search(problem, state.w, state.value, state.gradient, trial)
            if move is None:
                return state
            step = move.step
        w, m = state.w.copy(), state.m.copy()
        if fixed is None:
            # A step that grows where f is flat must not blow up what was gathered where it was
            # steep, nor one that shrinks keep a velocity that is too fast for where it is now.
            m *= min(1.0, state.step / step)
        in_threads(heavy_ball_pass, (w, state.gradient, m), (step, momentum))
        value, gradient = problem.value_and_gradient(w)
        return HeavyBallState(w, value, gradient, m, momentum, step, t)

    def _choose(self, problem: Problem) -> tuple[float | None, float]:
        """η (None: search for it) and β, where the user left them open."""
        L, mu = problem.smoothness, problem.strong_convexity
        if L and mu and self.step is None and self.momentum is None and self.search is None:
            curvatures = {"smoothness": L, "strong_convexity": mu}
            return optimal_step(**curvatures), optimal_momentum(**curvatures)
        step = fixed_step(self.step, self.search, problem)
        return step, MOMENTUM if self.momentum is None else self.momentum

    def stability(self, state: Any, smoothness: float) -> tuple[str, float, float]:
        """On curvature L the iterates grow once η > 2(1+β)/L."""
        return "2(1+β)/L", heavy_ball_limit(smoothness, state.beta), state.step
