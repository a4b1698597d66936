"""AdaGrad: each coordinate divided by the root of all its squared gradients so far.

    s_t = s_{t−1} + g_t²
    w_{t+1} = w_t − η g_t / (√s_t + ε)          ε outside the root (lecture C)
    w_{t+1} = w_t − η g_t / √(s_t + ε)          ε inside (lecture A, `eps_inside=True`)

Coordinates with small or rare gradients take long steps. s only grows, so every step shrinks, for
a constant gradient like η/√t: no schedule is needed, and a long run ends in steps of nothing.
`lr` (η) is the first step's length in every coordinate.

Cost: one gradient a step. Memory O(dim).
Duchi, Hazan & Singer, J. Mach. Learn. Res. 12 (2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_number
from thalweg.kernels.elementwise import adagrad_inside_pass, adagrad_pass
from thalweg.kernels.threads import in_threads
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.schedule import check_schedule, scheduled


class AdaGradState(NamedTuple):
    """All that AdaGrad carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    s: np.ndarray  # sum of squared gradients, float[dim]
    t: int  # steps taken


@dataclass(frozen=True)
class AdaGrad(Method):
    """Per-coordinate steps that shrink with the squared gradients seen."""

    name: ClassVar[str] = "adagrad"
    State: ClassVar[type] = AdaGradState
    lr: float = 0.5
    eps: float = 1e-10
    eps_inside: bool = False
    schedule: str = "constant"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("lr", self.lr, above=0.0)
        check_number("eps", self.eps, above=0.0)
        check_schedule(self.schedule)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> AdaGradState:
        """The state at w₀, nothing remembered."""
        value, gradient = problem.value_and_gradient(w0)
        return AdaGradState(w0, value, gradient, np.zeros_like(w0), 0)

    def advance(self, problem: Problem, state: AdaGradState) -> AdaGradState:
        """One step."""
        t = state.t + 1
        lr = scheduled(self.lr, self.schedule, t)
        step = adagrad_inside_pass if self.eps_inside else adagrad_pass
        w, s = state.w.copy(), state.s.copy()
        in_threads(step, (w, state.gradient, s), (lr, self.eps))
        value, gradient = problem.value_and_gradient(w)
        return AdaGradState(w, value, gradient, s, t)
