"""SGD: step down the gradient of a few samples, and return the average of the iterates.

    minimise  F(w, b) = (1/n) Σᵢ aᵢ ℓ(xᵢᵀw + b, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁

    w⁽ᵗ⁺¹⁾ = P(S(w⁽ᵗ⁾ − ηₜvₜ, ηₜ·l1))      vₜ = (1/m) Σᵢ (aᵢ/npᵢ) ℓ′ᵢ x̃ᵢ + l2·w⁽ᵗ⁾
    w̄ = the mean of w⁽¹⁾ … w⁽ᵗ⁾, or of the last half of them

The sum is over a batch of m samples, sample i being drawn with probability pᵢ, so that vₜ is right
on average; S is the soft threshold on the coefficients, P the projection on the ball ‖(w, b)‖ ≤ B
(`radius`); the intercept is in neither penalty. With t = 0, 1, … the steps ηₜ are

    constant    η
    1/sqrt(t)   η/√(1 + t/t₀)      t₀ = 300 K L_eff/L_mean, K the number of outputs
    1/t         η/(1 + t/t₀)       t₀ = 1/(η·l2), the pace of strong convexity
    theorem     B/(ρ√T)            T the steps of `horizon` passes

η itself, where it is not given, is 1/𝓛 from the smoothness that a step meets (`sampling`),

    𝓛 = (1 − 1/m) L + (L_eff + L_mean)/2m

which is 1/L for rows of one length and otherwise up to twice 1/L_eff: below 2/L_eff a step on one
sample does not take the iterate further from where that sample wants it, and the sum does not grow.

**The theorem** (lecture B, Theorem 14.8). From w⁽¹⁾ = 0, with a constant η, samples drawn with
replacement, ‖vₜ‖ ≤ ρ on the ball and w̄ the mean of all w⁽ᵗ⁾, after t steps and for every w* there

    E F(w̄) − F(w*) ≤ B²/2ηt + ηρ²/2        which is Bρ/√T at t = T

The projection only brings w⁽ᵗ⁺¹⁾ nearer to w*. Nor does l1 change the bound. P∘S is the proximal
step of h = l1‖·‖₁ within the ball (h grows in proportion along rays: Yu, NeurIPS 2013), which gives

    ⟨vₜ, w⁽ᵗ⁾ − w*⟩ + h(w⁽ᵗ⁺¹⁾) − h(w*) ≤ (‖w⁽ᵗ⁾ − w*‖² − ‖w⁽ᵗ⁺¹⁾ − w*‖²)/2η + η‖vₜ‖²/2

and in the sum over t each h(w⁽ᵗ⁺¹⁾) may be replaced by h(w⁽ᵗ⁾), since h(w⁽¹⁾) = 0. Without an
intercept B need not be given: F(w*) ≤ F(0) gives ‖w*‖² ≤ 2F(0)/l2 and ‖w*‖ ≤ ‖w*‖₁ ≤ F(0)/l1.

Where rows are sparse and centred, (w, b) are the variables of the rows before centring, B included.

Cost: O(p) a sample, O(nnz) where X is sparse, and one pass of another kind for F(w̄) and ∇F(w̄).
Shalev-Shwartz & Ben-David (2014), chapter 14; Duchi & Singer, J. Mach. Learn. Res. 10 (2009), for
l1; Gower et al., ICML 2019, for 𝓛; Rakhlin, Shamir & Sridharan, ICML 2012, for the last half.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.certificates.duality import constant_value
from thalweg.core.checks import check_choice, check_count, check_number
from thalweg.core.errors import InputError
from thalweg.kernels.rows import is_sparse
from thalweg.kernels.sgd import dense_pass, sparse_pass
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.sampling import SAMPLINGS, Sampler, sampler
from thalweg.methods.schedule import SCHEDULES
from thalweg.objectives.finite_sum import FiniteSum, enter, leave, sample_smoothness
from thalweg.objectives.linear import LinearProblem
from thalweg.rules.ball import project_ball
from thalweg.theory import sgd as theory

THEOREM = "theorem"
AVERAGES = ("tail", "all", "none")
# In t₀. A step that the longest row, or the worst case of K classes, made short for all others adds
# little noise, and may stay as it is for longer. On data of 400 to 100,000 samples, with 100 the
# slowest do not arrive, and with 1,000 noise keeps the fastest from it.
HOLD = 300.0
SETTLING = 1 / 16  # of a sparse pass may go into bringing untouched entries up to date


class SGDState(NamedTuple):
    """All that SGD carries from one pass to the next."""

    w: np.ndarray  # w̄ in the variables of the problem, float[dim]
    value: float  # F(w̄)
    gradient: np.ndarray  # at w̄, with l1 the gradient mapping of the step η, float[dim]
    iterate: np.ndarray  # w⁽ᵗ⁾ in the variables of the rows, float64[dim]. Changed in place.
    total: np.ndarray  # sum of the iterates of this window, float64[dim]. Likewise.
    older: np.ndarray  # of the window before it, float64[dim]. Likewise.
    averaged: int  # iterates in both
    averaged_older: int  # in the one before
    t: int  # steps taken
    step: float  # η
    hold: float  # t₀, infinite where steps do not shrink
    smoothness: float  # 2/smoothness is the largest stable step
    radius: float  # B, infinite where nothing is projected
    gradient_bound: float  # ρ, infinite where the theorem does not apply
    rng: np.random.Generator


@dataclass(frozen=True)
class SGD(Method):
    """Stochastic gradient descent with averaging; one iteration is one pass over the samples."""

    name: ClassVar[str] = "sgd"
    State: ClassVar[type] = SGDState
    takes_penalty: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    adds_noise: ClassVar[bool] = True
    only_linear: ClassVar[bool] = True
    needs_bound: ClassVar[bool] = True
    step: float | None = None
    schedule: str = "1/sqrt(t)"
    batch: int = 1
    sampling: str | None = None
    average: str | None = None
    radius: float | None = None
    horizon: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.schedule != "1/√t":
            check_choice("schedule", self.schedule, (*SCHEDULES, THEOREM))
        if self.step is not None:
            check_number("step", self.step, above=0.0, advice="leave it out to have it chosen")
        if self.step is not None and self.schedule == THEOREM:
            raise InputError(
                f"step must be left out with schedule='theorem', which sets it to B/(ρ√T), "
                f"got {self.step!r}: use schedule='constant' for a step of your own"
            )
        check_count("batch", self.batch)
        if self.sampling is not None:
            check_choice("sampling", self.sampling, SAMPLINGS)
        if self.average is not None:
            check_choice("average", self.average, AVERAGES)
        if self.radius is not None:
            check_number("radius", self.radius, above=0.0, advice="leave it out for no projection")
        check_count("horizon", self.horizon)

    def check(self, problem: Problem) -> None:
        """Samples are needed, and what the schedule takes its pace from."""
        data = problem.objective
        if not isinstance(data, LinearProblem):
            other = "fista" if problem.is_composite else "adam"
            raise InputError(
                f"sgd needs a LinearProblem, whose samples it visits, got {problem.name}: "
                f"use method={other!r}"
            )
        if self.schedule == "1/t" and not data.l2:
            raise InputError(
                "sgd's schedule='1/t' needs l2 > 0 (got 0), which sets its pace: "
                "add an l2 penalty, or use schedule='1/sqrt(t)'"
            )
        if self.step is not None and not self.step * data.l2 < 1.0:
            raise InputError(
                f"sgd's step must be below 1/l2 = {1.0 / data.l2:g}, where the penalty alone turns "
                f"a coefficient over, got {self.step:g}: leave it out to have it chosen"
            )
        if self.schedule == THEOREM and self.radius is None:
            _check_bounded(data)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> SGDState:
        """The state at w₀, or at the nearest point of the ball."""
        objective = problem.objective
        data = objective.samples
        draws = self._sampler(problem)
        radius = self._radius(objective)
        iterate = enter(objective, w0)
        w = w0
        if np.linalg.norm(iterate) > radius:
            iterate = project_ball(iterate, radius)
            w = leave(objective, iterate).astype(w0.dtype)
        rho = math.inf
        if radius < math.inf and not iterate.any() and self._meets_the_theorem():
            rho = gradient_bound(objective, data, draws, radius)
        L = sample_smoothness(objective) + objective.l2
        most, mean = draws.smoothness(L), float(L.mean())
        shared = 0.0 if self.batch == 1 else (1.0 - 1.0 / self.batch) * objective.smoothness
        if self.schedule == THEOREM:
            horizon = self.horizon * self._steps_a_pass(data)
            bound = gradient_bound(objective, data, draws, radius)
            step = float(theory.step(radius, bound, horizon))
        else:
            smoothness = shared + 0.5 * (most + mean) / self.batch
            step = self.step or 1.0 / max(smoothness, 2.0 * objective.l2)
        hold = math.inf
        if self.schedule == "1/t":
            hold = 1.0 / (step * objective.l2)
        elif self.schedule in ("1/sqrt(t)", "1/√t"):
            hold = HOLD * data.outputs * most / mean
        value, gradient = _measure(problem, w, step)
        total, older = np.zeros(iterate.size), np.zeros(iterate.size)
        return SGDState(
            w, value, gradient, iterate, total, older, 0, 0, 0,
            step, hold, shared + most / self.batch, radius, rho, rng,
        )  # fmt: skip

    def advance(self, problem: Problem, state: SGDState) -> SGDState:
        """Change `iterate` and the sums in place by one pass of n samples; look at the average."""
        objective = problem.objective
        data = objective.samples
        iterate, total, older = state.iterate, state.total, state.older
        averaged, averaged_older = state.averaged, state.averaged_older
        if self._average == "tail" and _is_power_of_two(state.t // self._steps_a_pass(data)):
            # Windows of 1, 1, 2, 4, … passes: the last two are from half to three quarters of all.
            older, total = total, older
            total[:] = 0.0
            averaged = averaged_older = averaged - averaged_older
        steps = self._steps(state, self._steps_a_pass(data))
        self._pass(problem, steps, state, total)
        problem.gradients += 1
        problem.passes += 1
        averaged += steps.size
        mean = iterate.copy() if self._average == "none" else total + older
        if self._average != "none":
            mean /= averaged
        w = leave(objective, mean).astype(problem.dtype, copy=False)
        value, gradient = _measure(problem, w, state.step)
        return state._replace(
            w=w, value=value, gradient=gradient, total=total, older=older,
            averaged=averaged, averaged_older=averaged_older, t=state.t + steps.size,
        )  # fmt: skip

    def stability(self, state: SGDState, smoothness: float) -> tuple[str, float, float]:
        """Below 2/L no sample, on average, takes the iterate away."""
        return "2/L", 2.0 / smoothness, state.step

    def steepest(self, state: SGDState) -> tuple[float, str]:
        """The curvature that a batch may meet."""
        return state.smoothness, "that of single samples, at worst"

    def guarantee(self, problem: Problem, state: SGDState) -> str:
        """Theorem 14.8, or Lemma 14.1 where t is not T, with the numbers of this run."""
        if not (state.gradient_bound < math.inf and state.t):
            return ""
        B, rho = state.radius, state.gradient_bound
        bound = theory.constant_step_bound(B, rho, step=state.step, iterations=state.t)
        return (
            f"E F(w̄) − F* ≤ {bound:.3g} over the draws of the samples, F* the minimum where "
            f"‖w‖ ≤ B (Theorem 14.8 with B = {B:.4g}, ρ = {rho:.4g}, T = {state.t:,} steps of "
            f"{state.step:.3g})"
        )

    @property
    def _sampling(self) -> str:
        return self.sampling or ("uniform" if self.schedule == THEOREM else "shuffled")

    @property
    def _average(self) -> str:
        return self.average or ("all" if self.schedule == THEOREM else "tail")

    def _meets_the_theorem(self) -> bool:
        """Whether steps, draws and average are those of Theorem 14.8."""
        return (
            self.schedule in ("constant", THEOREM)
            and self._sampling in ("uniform", "lipschitz")
            and self._average == "all"
        )

    def _sampler(self, problem: Problem) -> Sampler:
        """The sampler of a run, made once."""
        objective = problem.objective
        return problem.kept(
            "sampler",
            lambda: sampler(self._sampling, sample_smoothness(objective) + objective.l2),
        )

    def _steps_a_pass(self, data: FiniteSum) -> int:
        return -(-data.y.size // self.batch)

    def _radius(self, objective: LinearProblem) -> float:
        if self.radius is not None:
            return float(self.radius)
        return solution_bound(objective) if self.schedule == THEOREM else math.inf

    def _steps(self, state: SGDState, count: int) -> np.ndarray:
        """ηₜ of the next steps, float64[count]."""
        t = np.arange(state.t, state.t + count, dtype=np.float64)
        t /= state.hold
        t += 1.0
        if self.schedule != "1/t":
            np.sqrt(t, out=t)
        return np.divide(state.step, t, out=t)

    def _pass(
        self, problem: Problem, steps: np.ndarray, state: SGDState, total: np.ndarray
    ) -> None:
        """Change the iterate of `state`, and `total`, in place by one pass."""
        objective, draws = problem.objective, self._sampler(problem)
        data, n = objective.samples, objective.n
        order, pull = draws.order(n, state.rng), data.a
        pull /= draws.odds
        batch, l1, l2 = min(self.batch, n), float(objective.l1), float(objective.l2)
        penalties = (l1, l2, state.radius, state.iterate, total)
        if not is_sparse(data.X):
            dense_pass(data, pull, order, steps, batch, *penalties)
            return
        entries = max(1.0, data.X.data.size / n * batch)  # of one step
        block = math.ceil(objective.p / (SETTLING * entries))
        if state.radius < math.inf:
            block = 1  # the norm needs every entry
        sparse_pass(data, pull, order, steps, batch, min(block, steps.size), *penalties)


def gradient_bound(
    objective: LinearProblem, data: FiniteSum, draws: Sampler, radius: float
) -> float:
    """ρ: no vₜ is longer, on the ball of the given radius.

    |xᵢᵀw + b| ≤ B‖x̃ᵢ‖ bounds the slopes of sample i, those and ‖x̃ᵢ‖ its gradient, and the mean of a
    batch is no longer than the longest of all; the penalty adds l2·B.
    """
    lengths = np.sqrt(data.squares)
    reach = radius * lengths
    match objective.loss:
        case "logistic":
            slopes = 1.0 / (1.0 + np.exp(-reach))
        case "squared-hinge":
            slopes = 1.0 + reach
        case "multinomial":
            slopes = np.full(lengths.size, math.sqrt(2.0))  # the longest p − e_c
        case "huber":
            slopes = np.minimum(data.delta, reach + np.abs(data.y))
        case _:
            slopes = reach + np.abs(data.y)
    return float(np.max(data.a / draws.odds * slopes * lengths)) + objective.l2 * radius


def solution_bound(objective: LinearProblem) -> float:
    """B with ‖w*‖ ≤ B, from F(w*) ≤ F(0); for a problem with a penalty and no intercept."""
    start = constant_value(objective)  # F(0), where there is no intercept
    by_l2 = math.sqrt(2.0 * start / objective.l2) if objective.l2 else math.inf
    by_l1 = start / objective.l1 if objective.l1 else math.inf
    return min(by_l2, by_l1) or 1.0  # F(0) = 0: w* = 0, in any ball


def _check_bounded(objective: LinearProblem) -> None:
    """Raise unless a penalty bounds all variables."""
    if objective.fit_intercept or not (objective.l1 or objective.l2):
        what = "the intercept" if objective.fit_intercept else "the coefficients"
        way = "fit_intercept=False" if objective.fit_intercept else "an l2 or l1 penalty"
        raise InputError(
            f"sgd's schedule='theorem' needs radius, a bound B on ‖(w*, b*)‖, as no penalty holds "
            f"{what} (got None): give radius=..., or {way} on the problem"
        )


def _measure(problem: Problem, w: np.ndarray, step: float) -> tuple[float, np.ndarray]:
    """F(w) and ∇F(w), with l1 the gradient mapping (w − prox(w − η∇f(w), η))/η."""
    value, gradient = problem.value_and_gradient(w)
    return value + problem.penalty(w), problem.mapping(w, gradient, step)


def _is_power_of_two(passes: int) -> bool:
    return passes > 0 and passes & (passes - 1) == 0
