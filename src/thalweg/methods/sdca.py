"""SDCA: maximise the dual of a linear problem, one sample at a time.

    P(w, b) = Σᵢ cᵢ ℓᵢ(xᵢᵀw + b) + (l2/2)‖w‖² + l1‖w‖₁
    D(θ)    = −Σᵢ cᵢ ℓᵢ*(θᵢ) − Σⱼ max(0, |vⱼ| − l1)²/(2·l2)        v = Σᵢ cᵢθᵢxᵢ

Every θ stands for coefficients w = −S(v, l1)/l2, S the soft threshold. Visiting sample i moves its
dual to the best value while the others stay, for l1 > 0 that of a lower bound that touches D:

    θᵢ ← argmax over t of  −ℓᵢ*(t) + z(t − θᵢ) − (q/2)(t − θᵢ)²        z = xᵢᵀw + b
    v  ← v + (change of cᵢθᵢ) xᵢ                                      q = cᵢ‖xᵢ‖²/l2

which has a closed form or a few Newton steps (`kernels.sdca`), no step size, and never lowers D.

An intercept asks for Σ cᵢθᵢ = 0, which no move of a single dual can keep. So b is drawn to a centre
by a proximal term (κ/2)(b − b_k)², which makes it one more coefficient,

    b = b_k − σ/κ        σ = Σᵢ cᵢθᵢ        q = cᵢ(‖xᵢ‖²/l2 + 1/κ)

and after every pass the centre moves to where b is: the proximal point method in b alone. Where
neither passes nor centres move anything, θᵢ = ℓ′(zᵢ) for all i, w = −S(v, l1)/l2 and b = b_k, hence
σ = 0: the conditions of the optimum of P, whatever κ is. With Φ(b) = min P(·, b), a centre's
distance shrinks by κ/(κ + Φ″); and as w can take over the part of b by moving along a row,
Φ″ is of the order of l2/‖x‖² or of the mean ℓ″, whichever is smaller. A smaller κ stiffens q. Taken
is, anew for every pass,

    κ = min(10·l2/mean‖x‖², ¼·mean ℓ″)

and with it a problem takes about as many passes as without an intercept, or thrice as many where
features are far from 0.

Cost: a dot product and an addition of one row a step, and a value of P a pass. Memory O(n + p).
Shalev-Shwartz & Zhang, Math. Program. 155 (2016); Hsieh et al., ICML 2008; the logistic step: Yu,
Huang & Lin, Mach. Learn. 85 (2011); the intercept: Rockafellar, SIAM J. Control Optim. 14 (1976).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_choice, check_count
from thalweg.core.errors import InputError
from thalweg.kernels.duality import class_slopes_pass, slopes_pass
from thalweg.kernels.linear import class_transpose_pass, squares_pass, transpose_pass
from thalweg.kernels.sdca import (
    SMALLEST,
    Samples,
    class_dual_pass,
    class_dual_sums,
    dual_pass,
    dual_sums,
)
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.objectives.finite_sum import enter, leave
from thalweg.objectives.linear import LinearProblem
from thalweg.rules.soft_threshold import soft_threshold

SAMPLINGS = ("shuffled", "cyclic", "uniform")
STIFFEST = 10.0  # κ over l2/mean‖x‖²: from 3 to 30 passes are about as many
SHARE = 0.25  # κ over the mean ℓ″
LONGEST = 16  # rows of a block: longer ones are read no faster
MANY = 6_000  # blocks; with fewer to shuffle, passes grow, by as much as 4 times
NO_SLOPE = 1000.0  # a margin at which the logistic slope is zero
WEAK = 1e4  # r beyond which a penalty hardly holds classes apart from each other's rows


class SDCAState(NamedTuple):
    """All that SDCA carries from one pass to the next."""

    w: np.ndarray  # (w, b_k), float[dim]
    value: float  # P(w, b_k)
    gradient: np.ndarray  # the last pass's move of v, made as long as P − D says, and σ
    memory: np.ndarray  # sᵢ with θᵢ = ℓ′(sᵢ), float64[n], or θᵢ + e_y, float64[n, K]; first empty
    u: np.ndarray  # −v/l2, float64[p] or [p, K]; first empty
    b: np.ndarray  # b_k, float64[K]; first empty
    sigma: np.ndarray  # σ, float64[K]; first empty
    pull: float  # 1/κ of the next pass, 0 without an intercept
    floor: float  # D(θ) + bσ, about what θ proves that P* is at least; at first 0 or −inf
    rng: np.random.Generator


@dataclass(frozen=True)
class SDCA(Method):
    """Dual coordinate ascent over shuffled blocks of rows."""

    name: ClassVar[str] = "sdca"
    State: ClassVar[type] = SDCAState
    is_dual: ClassVar[bool] = True
    by_parts: ClassVar[bool] = True
    takes_penalty: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    only_linear: ClassVar[bool] = True
    needs_bound: ClassVar[bool] = True
    law: ClassVar[str] = "(1 + L_mean/(nμ)) log(1/ε) passes, in expectation"
    passes: int = 1
    sampling: str = "shuffled"
    block: int | None = None  # rows in a row; None: as many as leave MANY blocks to shuffle

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("passes", self.passes)
        check_choice("sampling", self.sampling, SAMPLINGS)
        if self.block is not None:
            check_count("block", self.block)

    def check(self, problem: Problem) -> None:
        """Without l2 there is no w for a dual point."""
        objective = problem.objective
        if not isinstance(objective, LinearProblem):
            raise InputError(f"sdca needs a LinearProblem, got {problem.name}: use method='lbfgs'")
        if objective.l2 == 0.0:
            raise InputError("SDCA needs l2 > 0 (got 0): add an l2 penalty, or use method='saga'.")

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> SDCAState:
        """The state at w₀, no dual made yet."""
        value, gradient = problem.value_and_gradient(w0)
        none = np.empty(0)
        value += problem.penalty(w0)
        floor = -math.inf if np.any(w0) else 0.0  # w₀ = 0 is not worth a gap
        return SDCAState(w0, value, gradient, none, none, none, none, 0.0, floor, rng)

    def advance(self, problem: Problem, state: SDCAState) -> SDCAState:
        """One pass, or several."""
        data: LinearProblem = problem.objective
        samples = problem.kept("samples", lambda: _samples(data))
        if not state.b.size:
            state = _begin(problem, samples, state)
        memory, u, b = state.memory.copy(), state.u, state.b
        sigma, pull = state.sigma, state.pull
        visit = class_dual_pass if data.outputs > 1 else dual_pass
        size = self._block(data.n)
        for _ in range(self.passes):
            b, before, u = b - pull * sigma, u, u.copy()
            visit(samples, pull, self._blocks(data.n, state.rng), size, memory, u, b)
            sigma, pull, dual = _dual(data, samples, memory, u)
            problem.gradients += 1
            problem.passes += 1
        w = leave(data, _join(data, _coefficients(samples, u), b))
        value = problem.value(w) + problem.penalty(w)
        # Where P is l2-strongly convex, a gradient g stands for a gap of at most ‖g‖²/(2·l2). With
        # this length that is P − D, which it is, and not what a move would make of it. With an
        # intercept, P − D − bσ is what falls to 0.
        gap = max(0.0, value - dual - float(b @ sigma))
        move = before - u
        move *= math.sqrt(2.0 * data.l2 * gap / max(_square(move), SMALLEST))
        gradient = _join(data, move, sigma).astype(w.dtype, copy=False)
        return SDCAState(w, value, gradient, memory, u, b, sigma, pull, value - gap, state.rng)

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected:
        """(0.6 + 3s) log(1/ε) passes, 0.7 + 1.5s of classes; (1 + r) log(1/ε) are guaranteed.

        (1 + 0.15q) log(1/ε) at most of classes, q the crowding, and 1 + q²/4 of numbers, or
        where r is large: rows that are nearly orthogonal, few for their features, are minimised
        over one by one. With l1 a third more, of numbers.
        """
        bound = (1.0 + hard.r) * hard.digits if hard.is_certain else None
        count = (0.6 + 3.0 * hard.s) * hard.digits
        if problem.outputs > 1:
            count = (0.7 + 1.5 * hard.s) * hard.digits
        q = hard.crowding
        more = 0.25 * q**2 if problem.classes is None or hard.r > WEAK else 0.15 * q
        count = min(count, (1.3 if problem.l1 else 1.0) * (1.0 + more) * hard.digits)
        return Expected(bound, count, {"dual": 1.0}, 8, 9)

    def lower_bound(self, state: SDCAState) -> float:
        """D(θ), as it was kept up; with an intercept, what it will be when σ is 0."""
        return state.floor

    def dual_point(self, problem: Problem, state: SDCAState) -> np.ndarray | None:
        """θ, where there is one."""
        data: LinearProblem = problem.objective
        if not state.memory.size:
            return None
        if data.outputs > 1:
            return state.memory - _one_hot(data)
        theta = np.empty(data.n)
        samples = problem.kept("samples", lambda: _samples(data))
        slopes_pass(samples.code, state.memory, samples.y, samples.c, samples.delta, theta)
        return theta

    def _block(self, n: int) -> int:
        """Rows of a block."""
        return self.block or min(LONGEST, max(1, n // MANY))

    def _blocks(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """The blocks of rows in the order to visit, int64."""
        count = -(-n // self._block(n))
        if self.sampling == "uniform":
            return rng.integers(count, size=count)
        return rng.permutation(count) if self.sampling == "shuffled" else np.arange(count)


def _samples(data: LinearProblem) -> Samples:
    """The rows of `data` and their norms."""
    X, y, c, squares, code, delta, _, has_intercept = data.samples
    if has_intercept:
        # Without the intercept's 1, and not by subtracting it: tiny rows would be lost.
        squares = np.empty(data.n)
        squares_pass(X, 0, data.n, squares)
    return Samples(X, y, c, squares, code, delta, data.l2, data.l1 / data.l2)


def _begin(problem: Problem, samples: Samples, state: SDCAState) -> SDCAState:
    """The state with duals: the slopes at w₀, or θ = 0 where w₀ = 0 or those are worse."""
    data: LinearProblem = problem.objective
    flat = enter(data, state.w)
    count = data.p * data.outputs
    b = flat[count:] if data.fit_intercept else np.zeros(data.outputs)
    if np.any(flat[:count]):
        problem.passes += 2
        memory, u = _slopes(data, samples, data.scores(state.w))
        sigma, pull, dual = _dual(data, samples, memory, u)
        if dual + float(b @ sigma) - 0.5 * pull * float(sigma @ sigma) >= 0.0:  # what θ = 0 has
            return state._replace(memory=memory, u=u, b=b, sigma=sigma, pull=pull)
    memory, u = samples.y.copy(), np.zeros(data.p)
    if data.loss == "logistic":
        memory *= NO_SLOPE
    if data.outputs > 1:
        memory, u = _one_hot(data), np.zeros((data.p, data.outputs))
    sigma, pull, _ = _dual(data, samples, memory, u)
    return state._replace(memory=memory, u=u, b=b, sigma=sigma, pull=pull)


def _slopes(data: LinearProblem, samples: Samples, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What samples remember whose duals are the slopes at scores `z`, and u = −v/l2."""
    theta = z.copy()
    if data.outputs > 1:
        U = np.zeros((data.p, data.outputs))
        class_slopes_pass(theta, data.y, samples.c)
        class_transpose_pass(samples.X, samples.c[:, None] * theta, 0, data.n, U)
        return np.maximum(theta + _one_hot(data), SMALLEST), U / -data.l2
    u = np.zeros(data.p)
    slopes_pass(samples.code, z, samples.y, samples.c, samples.delta, theta)
    transpose_pass(samples.X, samples.c * theta, 0, data.n, u)
    return z, u / -data.l2


def _dual(
    data: LinearProblem, samples: Samples, memory: np.ndarray, u: np.ndarray
) -> tuple[np.ndarray, float, float]:
    """σ, float64[K], 1/κ, and D(θ) as if σ were 0."""
    sigma = np.zeros(data.outputs)
    if data.outputs > 1:
        curvature, conjugate = class_dual_sums(samples.y, samples.c, memory, sigma)
    else:
        sigma[0], curvature, conjugate = dual_sums(
            samples.y, samples.c, samples.code, samples.delta, memory
        )
    ridge = 0.5 * data.l2 * _square(_coefficients(samples, u))
    if not data.fit_intercept:
        return np.zeros(data.outputs), 0.0, -conjugate - ridge
    # At least the curvature of one sample; none at all is that of θ = 0, before the first pass.
    bound = data.curvature_bound
    curvature = max(curvature, bound / data.n) if curvature > 0.0 else bound
    length = float(samples.c @ samples.squares)
    pull = max(length / (STIFFEST * data.l2), 1.0 / (SHARE * curvature))
    return sigma, pull, -conjugate - ridge


def _coefficients(samples: Samples, u: np.ndarray) -> np.ndarray:
    return soft_threshold(u, samples.threshold) if samples.threshold else u


def _square(array: np.ndarray) -> float:
    """The sum of squares, on one thread and without a copy."""
    flat = array.ravel()
    return float(np.einsum("i,i", flat, flat))


def _one_hot(data: LinearProblem) -> np.ndarray:
    return (data.y[:, None] == np.arange(data.outputs)).astype(np.float64)


def _join(data: LinearProblem, coefficients: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
    """Both in a fresh vector."""
    flat = coefficients.ravel()
    return np.append(flat, intercepts) if data.fit_intercept else flat.copy()
