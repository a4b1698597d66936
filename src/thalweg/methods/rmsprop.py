"""RMSProp: each coordinate divided by the root of a decaying mean of its squared gradients.

    s_t = β s_{t−1} + (1 − β) g_t²
    w_{t+1} = w_t − η g_t / (√s_t + ε)          ε outside the root (lecture C)
    w_{t+1} = w_t − η g_t / √(s_t + ε)          ε inside (lecture A, `eps_inside=True`)

AdaGrad with a memory that fades, so that steps do not shrink to nothing. For a steady gradient
every step has length η: with a constant `lr` the iterates may end up circling the minimum at about
that distance, closer with a schedule. `lagged=True` is lecture A's slide to the letter: s_t is made
of g_{t−1}, so the newest gradient is not in its own denominator, ε is inside the root whatever
`eps_inside` says, and the very first step is divided by √ε alone.

Cost: one gradient a step. Memory O(dim).
Tieleman & Hinton, Coursera lecture 6.5 (2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_number
from thalweg.kernels.elementwise import rmsprop_inside_pass, rmsprop_lagged_pass, rmsprop_pass
from thalweg.kernels.threads import in_threads
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.schedule import check_schedule, scheduled


class RMSPropState(NamedTuple):
    """All that RMSProp carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    s: np.ndarray  # decaying mean of squared gradients, float[dim]
    t: int  # steps taken


@dataclass(frozen=True)
class RMSProp(Method):
    """Per-coordinate steps of equal length, whatever the slope."""

    name: ClassVar[str] = "rmsprop"
    State: ClassVar[type] = RMSPropState
    lr: float = 0.01
    beta: float = 0.99
    eps: float = 1e-8
    eps_inside: bool = False
    lagged: bool = False
    schedule: str = "constant"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("lr", self.lr, above=0.0)
        check_number("beta", self.beta, at_least=0.0, below=1.0)
        check_number("eps", self.eps, above=0.0)
        check_schedule(self.schedule)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> RMSPropState:
        """The state at w₀, nothing remembered."""
        value, gradient = problem.value_and_gradient(w0)
        return RMSPropState(w0, value, gradient, np.zeros_like(w0), 0)

    def advance(self, problem: Problem, state: RMSPropState) -> RMSPropState:
        """One step."""
        t = state.t + 1
        lr = scheduled(self.lr, self.schedule, t)
        step = rmsprop_inside_pass if self.eps_inside else rmsprop_pass
        if self.lagged:
            step = rmsprop_lagged_pass
        w, s = state.w.copy(), state.s.copy()
        in_threads(step, (w, state.gradient, s), (lr, self.beta, self.eps))
        value, gradient = problem.value_and_gradient(w)
        return RMSPropState(w, value, gradient, s, t)
