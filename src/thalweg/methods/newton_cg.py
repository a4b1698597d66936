"""Truncated Newton: solve for Newton's step by conjugate gradients, only as well as it is worth.

    minimise over ‖p‖ ≤ Δ   m(p) = ∇f(w)ᵀp + ½pᵀ∇²f(w)p

by conjugate gradients from p = 0, stopped as soon as (Steihaug)

    the residual is small enough    ‖∇f + ∇²f·p‖ ≤ η‖∇f‖,  η = min(½, √(‖∇f‖/‖∇f(w₀)‖)),
                                    at most 1/100 where f is a quadratic: m is f itself
    p would leave the region        go to its edge
    a curvature dᵀ∇²f·d ≤ 0 is met  go along d to the edge, downhill: it is used, not ignored

Then ρ = (f(w) − f(w+p))/(m(0) − m(p)) says how good the quadratic was. With ρ > 10⁻⁴ the step is
taken, and Δ shrinks or grows with ρ. Otherwise p, which descends, is shortened until f falls, and
Δ becomes the length that did. η falls with the gradient, so that the last steps are Newton's and
converge faster than linearly.

On a linear problem everything happens in the variables M^½p, with M near ∇²f (`preconditioner`):
conjugate gradients with M as preconditioner, the region ‖M^½p‖ ≤ Δ and the norms ‖M^−½∇f‖, so that
no feature counts more for its units. M is the diagonal of ∇²f, for one pass. Where p ≪ n it is made
of blocks of ∇²f, estimated from a few rows a feature: a dozen products are then a tight solution,
whatever the conditioning. Elsewhere M = I, or with a `memory` what L-BFGS makes of the last pairs
(d, ∇²f·d) of the conjugate gradients and (s, y) of the steps: a step then begins where the last one
left off, and takes a few products where it took dozens. `lengthen` doubles a step that went as well
as promised for as long as f falls, a value each time: far from a minimum, where a loss flattens out
towards infinity, Newton's step is always too short.

Cost: a gradient, one or more values and a few Hessian-vector products a step; memory O(dim), with
blocks 4p² bytes a class. On a linear problem scores are kept, n numbers or n·K: a product takes no
exponential, a step costs one pass besides the products and M, and one more if it had to be
shortened.
Nocedal & Wright, Numerical Optimization, 2nd ed., Algorithms 4.1 and 7.2; the shortening: Nocedal &
Yuan (1998); η after Eisenstat & Walker, SIAM J. Sci. Comput. 17 (1996); the memory after Morales &
Nocedal, SIAM J. Optim. 10 (2000).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.core.vector import dot
from thalweg.methods.expectation import Difficulty, Expected, Law
from thalweg.methods.lbfgs import learn, product
from thalweg.methods.line import Line, Trial
from thalweg.methods.method import Method
from thalweg.methods.newton import FLAT, LEAST_FLOOR, first_floor, has_kinks
from thalweg.methods.preconditioner import Precondition, pays, preconditioner
from thalweg.methods.problem import Point, Problem
from thalweg.methods.rounding import rounding_of
from thalweg.methods.wolfe import StrongWolfe
from thalweg.objectives.linear import LinearProblem

LOOSEST, AMONG_KINKS, QUADRATIC = 0.5, 0.1, 0.01  # η at most
SMALL = 100_000  # entries times classes
CHEAP = 1_000_000  # the same, up to which one more step is worth the digits that are missing,
MISSING = 1e-8  # where so much of F(w = 0, best b) is left
ACCEPT = 1e-4  # least ρ of a step that is taken
SHRINK, GROW = 0.25, 0.75  # ρ below which Δ shrinks, above which it may grow
ACCEPT_SLOPE = 1e-4  # a shortened step must gain this much of what its slope promises
REJECTIONS = 60  # halvings of a step at most: then it is lost in rounding
LAWS = {  # of passes; a loss that is not named has that of the logistic one
    "squared": Law(5.8, 0.54, 0.05),
    "logistic": Law(22.0, 0.38, 0.07),
    "squared-hinge": Law(23.0, 0.16, 0.09),
    "huber": Law(7.0, 0.9, 0.0),
    "multinomial": Law(22.0, 0.5, 0.19),
}


class NewtonCGState(NamedTuple):
    """All that truncated Newton carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    scores: np.ndarray  # of a linear problem at w, float64[n] or [n, K]; else empty
    radius: float  # Δ
    first_norm: float  # ‖M^−½∇f(w₀)‖; 0 before the first step
    rng: np.random.Generator  # draws the rows that M is made of
    S: np.ndarray  # of a memory: directions, float[memory, dim]
    Y: np.ndarray  # what ∇²f makes of them, float[memory, dim]
    rho: np.ndarray  # 1/sᵀy, float[memory]
    pairs: int  # learnt so far
    floor: float  # ν of a loss with kinks, as in `newton`; else 0


class Model(NamedTuple):
    """A step of the quadratic model."""

    p: np.ndarray  # float[dim]
    decrease: float  # m(0) − m(p)
    length: float  # ‖M^½p‖
    on_edge: bool
    norm: float  # ‖M^−½∇f‖


@dataclass(frozen=True)
class NewtonCG(Method):
    """Truncated Newton with a trust region.

    `radius`: the first Δ, None for max(1, ‖w₀‖), on a linear problem for 10√(2f(w₀)).
    """

    name: ClassVar[str] = "newton-cg"
    State: ClassVar[type] = NewtonCGState
    descends: ClassVar[bool] = True
    is_second_order: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    radius: float | None = None
    max_cg: int | None = None  # conjugate-gradient steps at most; None: 2·dim, at most 500
    memory: int = 0  # pairs that M is made of, where the problem has no M of its own
    lengthen: bool = False  # whether a good step is doubled while f falls

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.radius is not None:
            check_number("radius", self.radius, above=0.0)
        if self.max_cg is not None:
            check_count("max_cg", self.max_cg)
        check_count("memory", self.memory, at_least=0)

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected:
        """4 + k/4 steps, at most 10, and in all c·kᵃ·rᵇ passes, by the loss.

        8 steps of 4 passes where blocks precondition. With k the steps of conjugate gradients to
        the tolerance itself, at w = 0.
        """
        if pays(problem):
            room = problem.p * (0.5 + 13.0 / problem.outputs)  # the blocks, and rows for one
            passes = {"gradient": 4.0, "blocks": 1.0, "call": 8.0}
            return Expected(None, 8.0, passes, 4, 8 + room)
        count = min(10.0, 4.0 + 0.25 * hard.steps)
        total = hard.passes(problem, LAWS)
        return Expected(None, count, {"gradient": total / count, "call": 4.0}, 4, 8)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> NewtonCGState:
        """The state at w₀."""
        point = problem.point(w0)
        # ‖M^½p‖² of a Newton step is about twice what it gains, and a loss cannot fall below 0.
        is_linear = point.scores.size > 0
        usual = 10.0 * (2.0 * point.value) ** 0.5 if is_linear else np.linalg.norm(w0)
        radius = self.radius or max(1.0, float(usual))
        S = np.zeros((0 if is_linear else self.memory, w0.size), dtype=w0.dtype)
        rho = np.zeros(len(S), dtype=w0.dtype)
        floor = first_floor(problem)
        return NewtonCGState(*point, radius, 0.0, rng, S, np.zeros_like(S), rho, 0, floor)

    def advance(self, problem: Problem, state: NewtonCGState) -> NewtonCGState:
        """Solve the model once, and shorten its step until f falls.

        With a memory, overwrites the oldest pairs of the state's S, Y and rho in place.
        """
        if has_kinks(problem):
            return self._among_kinks(problem, state)
        radius, first_norm, rng, S, Y, rho, pairs = state[4:11]
        point = Point(*state[:4])
        hessian = problem.hessian_at(point)
        seen: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=len(S))

        def products(d: np.ndarray) -> np.ndarray:
            Hd = hessian.vector(d)
            seen.append((d, Hd))
            return Hd

        precondition = preconditioner(problem, hessian, rng)
        if pairs:  # only learnt where that is the identity
            precondition = partial(product, S, Y, rho, np.ones_like(point.w), pairs)
        p, promised, length, on_edge, norm = steihaug(
            products if len(S) else hessian.vector,
            precondition,
            point.gradient,
            radius,
            # Norms by one M and by another cannot be compared: with a memory η = ½.
            0.0 if len(S) else first_norm,
            self.max_cg or min(2 * point.w.size, 500),
            QUADRATIC if is_quadratic(problem) else LOOSEST,
        )
        noise = rounding_of(point.value, point.w.dtype)
        line = Line(problem, point, p.astype(point.w.dtype, copy=False))
        step = 1.0
        for _ in range(REJECTIONS):
            if promised <= 0.0 or line.slope >= 0.0 or np.array_equal(line.at(step), point.w):
                return state
            trial = line.glance(step)
            actual = point.value - trial.value
            quality = (actual + noise) / (promised + noise) if np.isfinite(actual) else -np.inf
            if quality > ACCEPT:
                break
            # Solving again in a smaller region would cost products; going back along p costs a
            # value, and p descends.
            slope = step * line.slope
            t = _shorter(slope, actual)
            step, promised = t * step, ACCEPT_SLOPE * t * -slope
        else:
            return state
        if self.lengthen and step == 1.0 and quality > GROW:
            trial = _lengthened(line, trial)
        if step < 1.0:
            radius = step * length
        elif quality < SHRINK:
            radius = 0.25 * length
        elif quality > GROW and (on_edge or trial.step > 1.0):
            radius = max(2.0 * radius if on_edge else radius, trial.step * length)
        after = line.arrive(trial)
        if len(S):
            seen.append((after.w - point.w, after.gradient - point.gradient))
            for s, y in seen:
                pairs = learn(S, Y, rho, pairs, s, y)
        return NewtonCGState(*after, radius, first_norm or norm, rng, S, Y, rho, pairs, 0.0)

    def has_cheap_step(self, problem: Problem, state: NewtonCGState, left: float) -> bool:
        """Where its products take no time, or little and digits are missing."""
        data = problem.objective
        return data.matrix.entries * data.outputs < (CHEAP if left > MISSING else SMALL)

    def _among_kinks(self, problem: Problem, state: NewtonCGState) -> NewtonCGState:
        """Solve a model with some curvature everywhere, and go to the lowest point along its step.

        A quadratic that holds up to the next kink says nothing of a region where it can be trusted.
        """
        point, floor = Point(*state[:4]), state.floor
        most = self.max_cg or min(2 * point.w.size, 500)
        while True:
            hessian = problem.hessian_at(point, floor)
            M = preconditioner(problem, hessian, state.rng)
            p, _, _, _, norm = steihaug(
                hessian.vector, M, point.gradient, math.inf, state.first_norm, most, AMONG_KINKS
            )
            line = Line(problem, point, p.astype(point.w.dtype, copy=False))
            after = StrongWolfe(curvature=FLAT)(line, 1.0)
            if after is not None:
                break
            if floor >= 1.0:
                return state
            floor = min(10.0 * floor, 1.0)
        if floor == state.floor:
            floor = max(0.1 * floor, LEAST_FLOOR)
        first = state.first_norm or norm
        return state._replace(**after._asdict(), first_norm=first, floor=floor)


def is_quadratic(problem: Problem) -> bool:
    """Whether the model is f itself, so that a tight solution of it is never wasted."""
    data = problem.objective
    return isinstance(data, LinearProblem) and data.loss == "squared"


def _lengthened(line: Line, trial: Trial) -> Trial:
    """The last of ever longer steps, each twice the one before, that f falls along."""
    for _ in range(REJECTIONS):
        further = line.glance(2.0 * trial.step)
        if not further.value < trial.value:
            break
        trial = further
    return trial


def steihaug(
    product: Callable[[np.ndarray], np.ndarray],
    precondition: Precondition,
    gradient: np.ndarray,
    radius: float,
    first_norm: float,
    most: int,
    loosest: float = LOOSEST,
) -> Model:
    """Conjugate gradients on the quadratic model, inside the trust region; η ≤ `loosest`."""
    z = precondition(gradient)
    norm = max(dot(gradient, z), 0.0) ** 0.5
    if norm == 0.0:
        return Model(np.zeros_like(gradient), 0.0, 0.0, False, 0.0)
    forcing = min(loosest, (norm / first_norm) ** 0.5 if first_norm > 0 else 1.0)
    # p is proportional to ∇f: solved for ∇f/‖∇f‖, so that products stay in the range of float32.
    unit = _unit_steihaug(
        product, precondition, gradient / norm, z / norm, radius / norm, forcing, most
    )
    return Model(norm * unit.p, norm**2 * unit.decrease, norm * unit.length, unit.on_edge, norm)


def _unit_steihaug(
    product: Callable[[np.ndarray], np.ndarray],
    precondition: Precondition,
    r: np.ndarray,
    z: np.ndarray,
    radius: float,
    forcing: float,
    most: int,
) -> Model:
    """The same for a gradient `r` of length one, with z = M⁻¹r."""
    p, d = np.zeros_like(z), -z
    rz = dot(r, z)
    # pᵀMp, pᵀMd and dᵀMd: M itself is never applied, but Mz = r, and r is orthogonal to p.
    pp, pd, dd = 0.0, 0.0, rz
    decrease = 0.0
    for _ in range(most):
        Hd = product(d)
        curvature, slope = dot(d, Hd), dot(r, d)
        if not np.isfinite(curvature):
            break
        t = rz / curvature if curvature > 0.0 else np.inf
        if pp + t * (2.0 * pd + t * dd) >= radius * radius:
            t = (-pd + (pd * pd + dd * (radius * radius - pp)) ** 0.5) / dd  # to the edge
            decrease -= t * slope + 0.5 * t * t * curvature
            return Model(p + t * d, decrease, radius, True, 1.0)
        p = p + t * d
        decrease -= t * slope + 0.5 * t * t * curvature
        r = r + t * Hd
        z = precondition(r)
        rz, before = dot(r, z), rz
        pp += t * (2.0 * pd + t * dd)
        if rz <= forcing * forcing:
            break
        beta = rz / before
        d = -z + beta * d
        pd, dd = beta * (pd + t * dd), rz + beta * beta * dd
    return Model(p, decrease, pp**0.5, False, 1.0)


def _shorter(slope: float, actual: float) -> float:
    """By how much to shorten a step: to the minimizer of the parabola that it revealed."""
    if not np.isfinite(actual):
        return 0.1
    # f(w + tp) ≈ f(w) + t·slope + t²·(−actual − slope)
    bend = -actual - slope
    return min(0.5, max(0.1, -slope / (2.0 * bend))) if bend > 0.0 else 0.5
