"""Catalyst: an incremental method inside an accelerated proximal point method.

    minimise  F(w)  by a sequence of easier problems  Fₖ(w) = F(w) + (κ/2)‖w − yₖ‖²

    wₖ ≈ argmin Fₖ                                 one iteration of `inner`, of SAG three, from yₖ
    αₖ² = (1 − αₖ)αₖ₋₁² + qαₖ,  q = l2/(l2 + κ)     α₀ = √q, or 1 where l2 = 0
    yₖ₊₁ = wₖ + βₖ(wₖ − wₖ₋₁),  βₖ = αₖ₋₁(1 − αₖ₋₁)/(αₖ₋₁² + αₖ)

An incremental method takes about n + L/μ samples to a given accuracy. With κ the condition of Fₖ is
(L + κ)/(μ + κ), which κ = L/n − μ makes about n: each problem is solved by a few passes, and the
number of problems grows like √((μ + κ)/μ) = √(L/(nμ)), instead of L/(nμ). So it pays exactly where
L/n > μ; otherwise κ = 0, which leaves the inner method as it is. The slopes that `inner` remembers
belong to F and are carried from problem to problem.

So few iterations leave wₖ near where they began. Begun at wₖ₋₁ they would go only part of the way
to yₖ, and the momentum would be lost; begun at yₖ, they are a step of Nesterov's method. SAG first
goes on along slopes that are older than yₖ, and swings: over T passes the swing falls to
e^(−(1 + r)T/2), r = nηκ, and the momentum makes up to 1 + 2β of it, so that T > 2 log 3 is stable
for every r.

L here is the mean of the Lᵢ, as the draws in proportion to Lᵢ have it.

Cost: that of `inner` and O(p) an iteration.
Lin, Mairal & Harchaoui, J. Mach. Learn. Res. 18 (2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_choice, check_number
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.incremental import (
    Incremental,
    IncrementalState,
    Pull,
    check_samples,
    check_step,
)
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.sag import SAG
from thalweg.methods.saga import SAGA
from thalweg.methods.svrg import SVRG
from thalweg.objectives.finite_sum import sample_smoothness
from thalweg.objectives.linear import LinearProblem

INNER: dict[str, type[Incremental]] = {"sag": SAG, "saga": SAGA, "svrg": SVRG}
ITERATIONS = {"sag": 3, "saga": 1, "svrg": 1}  # of each problem


class CatalystState(NamedTuple):
    """All that Catalyst carries from one iteration to the next; the first nine are `inner`'s."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # F(w)
    gradient: np.ndarray  # as of `inner`, float[dim]
    v: np.ndarray  # iterate for the rows as they are stored, float64[dim]
    g: np.ndarray  # Σ sᵢx̃ᵢ, float64[dim]. Changed in place.
    slopes: np.ndarray  # s, float64[n·K]. Changed in place.
    tree: np.ndarray  # of the Lᵢ that are estimated, or empty. Changed in place.
    numbers: np.ndarray  # m, L, largest Lᵢ: float64[3]
    rng: np.random.Generator
    y: np.ndarray  # yₖ, the next centre, float64[dim]
    alpha: float  # αₖ


@dataclass(frozen=True)
class Catalyst(Method):
    """Acceleration of sag, saga or svrg. `kappa`: None for L_mean/n − l2, or 0 if that is less."""

    name: ClassVar[str] = "catalyst"
    State: ClassVar[type] = CatalystState
    takes_penalty: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    only_linear: ClassVar[bool] = True
    needs_bound: ClassVar[bool] = True
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
        data = problem.objective
        return max(0.0, float(sample_smoothness(data).mean()) / data.n - data.l2)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> CatalystState:
        """The state at w₀, which is the first centre."""
        begun = self.method().init(problem, w0, rng)
        return CatalystState(**begun._asdict(), y=begun.v, alpha=self._q(problem) ** 0.5 or 1.0)

    def advance(self, problem: Problem, state: CatalystState) -> CatalystState:
        """One problem, and the next centre. Slopes, g and the tree of `state` change in place."""
        kappa, q = self.kappa_of(problem), self._q(problem)
        pull = Pull(kappa, state.y) if kappa else None
        found = IncrementalState(*state[:9])._replace(v=state.y if pull else state.v)
        for _ in range(ITERATIONS[self.inner] if pull else 1):
            found = self.method().travel(problem, found, pull)
        # α² = (1 − α)α₀² + qα, its positive root.
        gain = state.alpha**2 - q
        alpha = 0.5 * (-gain + (gain * gain + 4.0 * state.alpha**2) ** 0.5)
        beta = state.alpha * (1.0 - state.alpha) / (state.alpha**2 + alpha)
        y = found.v - state.v
        y *= beta
        y += found.v
        return CatalystState(**found._asdict(), y=y, alpha=alpha)

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected:
        """(1 + 2√r) log(1/ε) passes, at least 10; the theorem has constants that nobody uses."""
        count = max(10.0, (1.0 + 2.0 * math.sqrt(hard.r)) * hard.digits)
        return Expected(None, count, {"visits": 1.0}, 8, 12)

    def _q(self, problem: Problem) -> float:
        """q: 1 where nothing is added."""
        l2, kappa = problem.objective.l2, self.kappa_of(problem)
        return l2 / (l2 + kappa) if l2 + kappa > 0 else 1.0
