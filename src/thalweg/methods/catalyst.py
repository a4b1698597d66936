"""Catalyst: an incremental method inside an accelerated proximal point method.

    minimise  F(w)  by a sequence of easier problems  Fₖ(w) = F(w) + (κ/2)‖w − yₖ‖²

    wₖ ≈ argmin Fₖ                                 one iteration of `inner`, begun at wₖ₋₁
    αₖ² = (1 − αₖ)αₖ₋₁² + qαₖ,  q = l2/(l2 + κ)     α₀ = √q, or 1 where l2 = 0
    yₖ₊₁ = wₖ + βₖ(wₖ − wₖ₋₁),  βₖ = αₖ₋₁(1 − αₖ₋₁)/(αₖ₋₁² + αₖ)

An incremental method takes about n + L/μ samples to a given accuracy. With κ of the order of L/n
the problems Fₖ take about n, and their number grows like √(L/(nμ)). So it pays where L/n > μ, L
the mean of the Lᵢ and μ = l2; otherwise κ = 0, which leaves the inner method as it is. The slopes
that `inner` remembers belong to F and are carried from problem to problem.

A pass of steps η contracts the error of Fₖ by about exp(−nηκ). One iteration of `inner`, of P
passes, is all that each problem gets, so κ is what makes it e⁻⁶: κ = 6/(nPη) − l2.

Cost: that of `inner` and O(p) an iteration.
Lin, Mairal & Harchaoui, J. Mach. Learn. Res. 18 (2018), one iteration a problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_choice, check_number
from thalweg.methods.incremental import (
    Incremental,
    IncrementalState,
    Pull,
    batch_smoothness,
    check_samples,
    check_step,
)
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.sag import SAG
from thalweg.methods.saga import SAGA
from thalweg.methods.svrg import SVRG
from thalweg.objectives.finite_sum import sample_smoothness

CONTRACTION = 6.0  # a problem's error falls by e to the minus this in one iteration

INNER: dict[str, type[Incremental]] = {"sag": SAG, "saga": SAGA, "svrg": SVRG}


class CatalystState(NamedTuple):
    """All that Catalyst carries from one iteration to the next; the first nine are `inner`'s."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # F(w)
    gradient: np.ndarray  # as of `inner`, float[dim]
    v: np.ndarray  # iterate for the rows as they are stored, float64[dim]
    g: np.ndarray  # Σ sᵢx̃ᵢ, float64[dim]
    slopes: np.ndarray  # s, float64[n·K]. Changed in place.
    tree: np.ndarray  # of the Lᵢ that are estimated, or empty. Changed in place.
    numbers: np.ndarray  # m, L, largest Lᵢ: float64[3]
    rng: np.random.Generator
    y: np.ndarray  # yₖ, the next centre, float64[dim]
    alpha: float  # αₖ


@dataclass(frozen=True)
class Catalyst(Method):
    """Acceleration of sag, saga or svrg. `kappa`: None to have it chosen."""

    name: ClassVar[str] = "catalyst"
    State: ClassVar[type] = CatalystState
    takes_penalty: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    only_linear: ClassVar[bool] = True
    inner: str = "svrg"
    kappa: float | None = None
    step: float | str | None = None
    sampling: str = "lipschitz"
    batch: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("inner", self.inner, tuple(INNER))
        if self.kappa is not None:
            check_number("kappa", self.kappa, at_least=0.0, advice="leave it out to have it chosen")
        check_step(self.step)
        self.method()

    def check(self, problem: Problem) -> None:
        """As the inner method does."""
        check_samples(self, problem)

    def method(self) -> Incremental:
        """The inner method, which begins with the slopes at w₀."""
        return INNER[self.inner](self.step, self.sampling, self.batch, "full")

    def kappa_of(self, problem: Problem) -> float:
        """κ: above zero where acceleration pays."""
        if self.kappa is not None:
            return self.kappa
        return problem.kept("kappa", lambda: self._chosen_kappa(problem))

    def _chosen_kappa(self, problem: Problem) -> float:
        data, method = problem.objective, self.method()
        if float(sample_smoothness(data).mean()) / data.n <= data.l2:
            return 0.0
        step = method.fixed_step(problem, data.l2)
        step = step or method.factor / (batch_smoothness(method, problem) + data.l2)
        steps = data.n * getattr(method, "inner", 1.0) / self.batch
        return max(0.0, CONTRACTION / (steps * step) - data.l2)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> CatalystState:
        """The state at w₀, which is the first centre."""
        begun = self.method().init(problem, w0, rng)
        return CatalystState(
            **begun._asdict(), y=begun.v.copy(), alpha=self._q(problem) ** 0.5 or 1.0
        )

    def advance(self, problem: Problem, state: CatalystState) -> CatalystState:
        """One iteration of the inner method, and the next centre. Changes slopes in place."""
        kappa, q = self.kappa_of(problem), self._q(problem)
        pull = Pull(kappa, state.y) if kappa else None
        found = self.method().travel(problem, IncrementalState(*state[:9]), pull)
        # α² = (1 − α)α₀² + qα, its positive root.
        gain = state.alpha**2 - q
        alpha = 0.5 * (-gain + (gain * gain + 4.0 * state.alpha**2) ** 0.5)
        beta = state.alpha * (1.0 - state.alpha) / (state.alpha**2 + alpha)
        y = found.v + beta * (found.v - state.v)
        return CatalystState(**found._asdict(), y=y, alpha=alpha)

    def _q(self, problem: Problem) -> float:
        """q: 1 where nothing is added."""
        l2, kappa = problem.objective.l2, self.kappa_of(problem)
        return l2 / (l2 + kappa) if l2 + kappa > 0 else 1.0
