"""Nadam: Adam whose momentum looks ahead, as Nesterov's does.

    μ_t = β₁ (1 − ½·0.96^(tψ)),  π_t = μ₁···μ_t            m_t, v_t, v̂_t as in Adam
    w_t = w_{t−1} − η [ (1 − μ_t)/(1 − π_t) g_t + μ_{t+1}/(1 − π_{t+1}) m_t ] / (√v̂_t + ε)

The current gradient enters beside the momentum that the next step would use. The momentum grows
from β₁/2 towards β₁; ψ (`momentum_decay`) sets how fast, as in PyTorch.

Cost: one gradient a step. Memory O(dim).
Dozat, ICLR workshop 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_number
from thalweg.kernels.elementwise import nadam_pass
from thalweg.kernels.threads import in_threads
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.schedule import check_schedule, scheduled
from thalweg.rules.nadam import nadam_momentum


class NadamState(NamedTuple):
    """All that Nadam carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    m: np.ndarray  # first moment, float[dim]
    v: np.ndarray  # second moment, float[dim]
    mu_product: float  # π_t
    t: int  # steps taken


@dataclass(frozen=True)
class Nadam(Method):
    """Adam with Nesterov's look-ahead."""

    name: ClassVar[str] = "nadam"
    State: ClassVar[type] = NadamState
    lr: float = 0.03
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    momentum_decay: float = 0.004
    schedule: str = "constant"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("lr", self.lr, above=0.0)
        check_number("beta1", self.beta1, at_least=0.0, below=1.0)
        check_number("beta2", self.beta2, at_least=0.0, below=1.0)
        check_number("momentum_decay", self.momentum_decay, at_least=0.0)
        check_number("eps", self.eps, above=0.0)
        check_schedule(self.schedule)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> NadamState:
        """The state at w₀, nothing remembered."""
        value, gradient = problem.value_and_gradient(w0)
        return NadamState(w0, value, gradient, np.zeros_like(w0), np.zeros_like(w0), 1.0, 0)

    def advance(self, problem: Problem, state: NadamState) -> NadamState:
        """One step."""
        t = state.t + 1
        lr = scheduled(self.lr, self.schedule, t)
        mu = nadam_momentum(t, self.beta1, self.momentum_decay)
        mu_next = nadam_momentum(t + 1, self.beta1, self.momentum_decay)
        mu_product = state.mu_product * mu
        w, m, v = state.w.copy(), state.m.copy(), state.v.copy()
        constants = (t, mu, mu_next, mu_product, lr, self.beta1, self.beta2, self.eps)
        in_threads(nadam_pass, (w, state.gradient, m, v), constants)
        value, gradient = problem.value_and_gradient(w)
        return NadamState(w, value, gradient, m, v, mu_product, t)
