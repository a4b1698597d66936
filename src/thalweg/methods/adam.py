"""Adam: a smoothed gradient divided by its smoothed root mean square.

    m_t = β₁ m_{t−1} + (1 − β₁) g_t          m̂_t = m_t / (1 − β₁ᵗ)
    v_t = β₂ v_{t−1} + (1 − β₂) g_t²         v̂_t = v_t / (1 − β₂ᵗ)
    w_t = w_{t−1} − η m̂_t / (√v̂_t + ε)

m and v begin at zero, and the hats undo that bias. The slides print the step without them:
`bias_correction=False`, whose first step is (1−β₁)/√(1−β₂) times as long (3.2 times by default).
`lr` (η) bounds, roughly, the move of each coordinate in a step.

Cost: one gradient a step. Memory O(dim).
Kingma & Ba, ICLR 2015, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_number
from thalweg.kernels.elementwise import adam_pass, adam_uncorrected_pass
from thalweg.kernels.threads import in_threads
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.schedule import check_schedule, scheduled


class AdamState(NamedTuple):
    """All that Adam carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    m: np.ndarray  # first moment, float[dim]
    v: np.ndarray  # second moment, float[dim]
    t: int  # steps taken


@dataclass(frozen=True)
class Adam(Method):
    """Adaptive moments: momentum with per-coordinate steps."""

    name: ClassVar[str] = "adam"
    State: ClassVar[type] = AdamState
    lr: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    bias_correction: bool = True
    schedule: str = "constant"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("lr", self.lr, above=0.0)
        check_number("beta1", self.beta1, at_least=0.0, below=1.0)
        check_number("beta2", self.beta2, at_least=0.0, below=1.0)
        check_number("eps", self.eps, above=0.0)
        check_schedule(self.schedule)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> AdamState:
        """The state at w₀, nothing remembered."""
        value, gradient = problem.value_and_gradient(w0)
        return AdamState(w0, value, gradient, np.zeros_like(w0), np.zeros_like(w0), 0)

    def advance(self, problem: Problem, state: AdamState) -> AdamState:
        """One step."""
        t = state.t + 1
        lr = scheduled(self.lr, self.schedule, t)
        w, m, v = state.w.copy(), state.m.copy(), state.v.copy()
        buffers, constants = (w, state.gradient, m, v), (lr, self.beta1, self.beta2, self.eps)
        if self.bias_correction:
            in_threads(adam_pass, buffers, (t, *constants))
        else:
            in_threads(adam_uncorrected_pass, buffers, constants)
        value, gradient = problem.value_and_gradient(w)
        return AdamState(w, value, gradient, m, v, t)
