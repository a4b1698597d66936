"""Newton's method: jump to the minimum of the local quadratic.

    H = ∇²f(w)                         p = −H⁻¹∇f(w)
    w⁺ = w + αp                        α by a search, strong-Wolfe by default, first trial 1

by Cholesky factors of D^−½HD^−½, D the diagonal of H, so that a variable's units do not matter.
Where H is not safely positive definite, H = QΛQᵀ and p = −Q|Λ|⁻¹Qᵀ∇f(w): a negative curvature
enters with its absolute value, so that p runs away from the saddle along it instead of towards it;
curvatures nearly zero are raised to √ε·max|Λ|. A linear problem is convex, so D^−½HD^−½ + τI is
definite for any τ > 0, and a tiny one is added where that is not so without it.

A large linear problem is first solved on samples of its rows, n/64 and then n/8 of them. The
minimizer of a sample of m rows lies about dim/2m, in units of the loss, above the minimum of the
whole (half the variance of a maximum-likelihood estimate), so a stage ends when a step gains less.
Both stages are the first iteration, which ends with one look at the whole. Its last H, of a sample,
serves the next steps as well, and so does every later one: where rows are long, H costs several
gradients, and a step with an old H is as good as long as it takes nine tenths off the gradient.

Where a loss has kinks, its curvature is zero beside them, and a Hessian may show none at all.
There hᵢ = max(ℓ″ᵢ, νκᵢ), κ the curvature of a parabola that touches the loss from above: with ν = 1
the model lies above F, and its minimum is lower. ν falls tenfold after a step that was taken at
once, and grows until there is one. It begins at 1 for Huber's loss, nearly all of whose samples lie
beyond the kinks at w = 0, and at 1/1000 for the squared hinge, none of whose do.

Where a linear problem has fewer samples than features, and l2 alone, the system is one of samples
(`dual_step`), and H stands for its curvatures h.

With an l1 penalty, on a linear problem, the quadratic keeps the penalty (`prox_newton`), and of
several classes it is one of a few coefficients, however many there are (`set_step`). The squared
loss is its own quadratic: after one pass for its sums (`objectives.least_squares`), a step and the
gap that proves it take no other look at the data.

Small linear problems first try a short way (`short_way`), where the system of several classes is
solved by conjugate gradients.

Cost: a Hessian (dim products, or one pass of a linear problem) and O(dim³) a step; memory O(dim²),
and an eighth of X while sampling: use newton-cg for many variables. The absolute value: Dauphin et
al., NeurIPS 2014.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg

from thalweg.certificates.stationarity import norm
from thalweg.core.errors import InputError
from thalweg.methods.armijo import Armijo
from thalweg.methods.dual_step import dual_direction, has_fewer_samples
from thalweg.methods.exact_step import exact_point, exact_step, has_sums
from thalweg.methods.expectation import Difficulty, Expected, telling
from thalweg.methods.line import Line
from thalweg.methods.method import Method
from thalweg.methods.problem import Point, Problem
from thalweg.methods.prox_newton import inside, prox_newton_step, shortest_subgradient
from thalweg.methods.search import Search
from thalweg.methods.set_step import has_set, set_step
from thalweg.methods.wolfe import CURVATURE, StrongWolfe
from thalweg.objectives.linear import LinearProblem

MOST_VARIABLES = 2_000  # dim products and an O(dim³) factorisation at every step
SAFE = 100.0  # times dim·ε: least squared pivot of a matrix with ones on its diagonal
RIDGE = 1e-10  # τ
LARGE = 1_000_000  # entries of X from which samples are taken
# A sample has one of so many rows. Covtype then takes the work of 3.3 to 4.6 Hessians to a gap of
# 10⁻⁶, of 6 to 9 without samples, and of 3.7 to 5 with samples of n/64, n/16 and n/4.
SHARES = (64, 8)
ROWS_A_VARIABLE = 50  # that a sample has at least
TINY = float(np.finfo(np.float64).tiny)
STAGE = 10  # steps on a sample at most
LONG_ROW = 30  # entries of a row from which a Hessian costs several gradients
FLOOR, LEAST_FLOOR = 1e-3, 1e-8  # ν at first, and at least
FLAT = 0.1  # c₂ of a line search among kinks, where the quadratic is soon another one
WORKS = 0.1  # of the gradient norm before: what a step leaves whose H is used again


class NewtonState(NamedTuple):
    """All that Newton's method carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]; with l1 the shortest subgradient of F
    slope: np.ndarray  # ∇f(w), float[dim]
    scores: np.ndarray  # of a linear problem at w, float64[n] or [n, K]; else empty
    hessian: np.ndarray  # H of an earlier point, to be used again, float64[dim, dim]; or its h
    rng: np.random.Generator  # draws the samples
    steps: int  # taken
    floor: float  # ν; 0 for losses without kinks, unless over a set


@dataclass(frozen=True)
class Newton(Method):
    """Newton with the exact Hessian, for small problems."""

    name: ClassVar[str] = "newton"
    State: ClassVar[type] = NewtonState
    descends: ClassVar[bool] = True
    is_second_order: ClassVar[bool] = True
    factorises: ClassVar[bool] = True
    takes_linear_penalty: ClassVar[bool] = True
    takes_columns: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    searches: ClassVar[tuple[type[Search], ...]] = (StrongWolfe, Armijo)
    search: StrongWolfe | Armijo | None = None

    def check(self, problem: Problem) -> None:
        """The Hessian must fit, and its factorisation be affordable."""
        dim, data = problem.dim, problem.objective
        order = min(dim, data.n) if has_fewer_samples(data) else dim
        if not has_set(data) and order > MOST_VARIABLES:
            able = "cd" if problem.is_composite else "newton-cg"
            raise InputError(
                f"newton factorises a {order}×{order} Hessian, at most {MOST_VARIABLES} variables: "
                f'use method="{able}"'
            )

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> NewtonState:
        """The state at w₀."""
        floor = FLOOR if has_set(problem.objective) else first_floor(problem)
        w0 = inside(problem.objective, w0) if problem.is_composite else w0
        return _state(problem, _point(problem, w0), no_hessian(problem), rng, 0, floor)

    def advance(self, problem: Problem, state: NewtonState) -> NewtonState:
        """One factorisation and one line search; the first time on samples, where they pay."""
        value = state.value - problem.penalty(state.w)
        point, found = Point(state.w, value, state.slope, state.scores), None
        if has_set(problem.objective):
            return _advance_in_set(problem, state, point)
        H = state.hessian
        if not state.steps:
            found, H = solve_samples(problem, point, state.rng, self.search)
        if found is None and H.size:
            found = newton_step(problem, point, H, self.search)
        floor = state.floor
        if found is None:
            H = hessian(problem, point, floor)
            found = newton_step(problem, point, H, self.search)
        while found is None and 0.0 < floor < 1.0:
            floor = min(10.0 * floor, 1.0)
            H = hessian(problem, point, floor)
            found = newton_step(problem, point, H, self.search)
        if found is None:
            return state
        if floor == state.floor:
            floor = max(0.1 * floor, LEAST_FLOOR) if floor > 0.0 else 0.0
        after = _state(problem, found, H, state.rng, state.steps + 1, floor)
        is_good = state.steps == 0 or norm(after.gradient) <= WORKS * norm(state.gradient)
        if is_good and is_dear(problem.objective):
            return after
        return after._replace(hessian=no_hessian(problem))

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected:
        """r^0.07 (1.6 + 0.29 log(1/ε)) Hessians, 2 + 0.29 log(1/ε) of several classes.

        Of the squared loss 1, and 2 + 0.2 log(1/ε) of the squared hinge, which is a quadratic
        between its kinks, 0.8 times that of Huber's. Of samples 1 for all steps. With an l1 penalty
        4 + 1.5 log₁₀(1/s) at most, each of two systems. Over a set 5 + 2 log₁₀(1/s) of
        60 + 80 log₁₀(1/s) variables, s = l1/l1_max, or of as many as there are samples times
        classes.
        """
        dim, systems = problem.dim, 1.0 if problem.is_smooth else 2.0
        smaller = -math.log10(max(hard.share, 1e-4))
        if has_set(problem):
            size = min(60.0 + 80.0 * smaller, problem.n * problem.outputs)
            part = min(1.0, size / dim)
            passes = {"gradient": 3.0, "hessian": part**2, "factor": 3.0 * part**3, "call": 30.0}
            return Expected(None, 5.0 + 2.0 * smaller, passes, 4, 3.0 + 4.0 * dim * part**2)
        if has_sums(problem):
            passes = {"hessian": 0.0 if problem.is_summed else 1.0, "factor": systems, "call": 4.0}
            return Expected(None, 1.0, passes, 4, 3 * dim)
        count = 2.0 + 0.29 * hard.digits
        if problem.outputs == 1:
            count = (count - 0.4) * telling(hard.r) ** 0.07
        if problem.loss == "squared":
            count = 1.0
        elif problem.term.has_kinks:
            count = 2.0 + 0.2 * hard.digits
            count *= 0.8 if problem.loss == "huber" or problem.l1 else 1.0
        elif problem.l1:  # the fewer features are left, the sooner they are known
            count = min(count, 4.0 + 1.5 * smaller)
        passes = {"gradient": 2.5, "hessian": 1.0, "factor": systems, "call": 1.0}
        if is_dear(problem):  # begun on samples, and used again
            passes["hessian"] = 0.6
        if problem.l1 and problem.n < problem.p:  # once it is known which features are left
            passes["hessian"] *= 0.1
        if has_fewer_samples(problem):
            passes["row_products"] = 1.0 / count
        return Expected(None, count, passes, 4, 3 * dim)

    def has_cheap_step(self, problem: Problem, state: NewtonState, left: float) -> bool:
        """Where data are small, or H is at hand; from sums the first step is the last already."""
        data = problem.objective
        if has_sums(data):
            return False
        is_small = data.matrix.entries * data.outputs < LARGE
        return is_small or state.hessian.size > 0

    def last_step(self, problem: Problem, state: NewtonState) -> NewtonState:
        """By H at hand alone, where another would cost more than the digits that are missing."""
        if not is_dear(problem.objective):
            return self.advance(problem, state)
        value = state.value - problem.penalty(state.w)
        point = Point(state.w, value, state.slope, state.scores)
        found = newton_step(problem, point, state.hessian, self.search)
        if found is None:
            return state
        return _state(problem, found, state.hessian, state.rng, state.steps + 1, state.floor)


def _advance_in_set(problem: Problem, state: NewtonState, point: Point) -> NewtonState:
    """One step over a set of coefficients; with ν = 1 where there is none with less."""
    floor = state.floor
    found = set_step(problem, point, floor)
    if found is None and floor < 1.0:
        floor = 1.0
        found = set_step(problem, point, floor)
    if found is None:
        return state
    ahead, step = found
    floor = max(0.1 * floor, LEAST_FLOOR) if step == 1.0 else min(10.0 * floor, 1.0)
    return _state(problem, ahead, no_hessian(problem), state.rng, state.steps + 1, floor)


def _point(problem: Problem, w: np.ndarray) -> Point:
    return exact_point(problem, w) if has_sums(problem.objective) else problem.point(w)


def is_dear(data: Any) -> bool:
    """Whether a Hessian costs several gradients, and those are worth a thought."""
    if not isinstance(data, LinearProblem) or has_sums(data):
        return False
    return data.matrix.entries >= max(LARGE, LONG_ROW * data.n)


def has_kinks(problem: Problem) -> bool:
    """Whether the loss has no curvature in places, where a parabola above it has to do."""
    data = problem.objective
    return isinstance(data, LinearProblem) and data.term.has_kinks


def first_floor(problem: Problem) -> float:
    """ν at first; 0 where there are no kinks."""
    if not has_kinks(problem):
        return 0.0
    return 1.0 if problem.objective.loss == "huber" else FLOOR


def _state(
    problem: Problem,
    point: Point,
    H: np.ndarray,
    rng: np.random.Generator,
    steps: int,
    floor: float,
) -> NewtonState:
    w, value, slope, scores = point
    gradient = slope
    if problem.is_composite:
        gradient = shortest_subgradient(problem, w, slope)
        value += problem.penalty(w)
    return NewtonState(w, value, gradient, slope, scores, H, rng, steps, floor)


def no_hessian(problem: Problem) -> np.ndarray:
    """None to be used again."""
    return np.empty((0, 0), dtype=problem.dtype)


def hessian(problem: Problem, point: Point, floor: float = 0.0) -> np.ndarray:
    """H at a point, float[dim, dim]; none is needed where the sums have it."""
    if has_sums(problem.objective):
        return no_hessian(problem)
    H = problem.hessian_at(point, floor)
    if has_fewer_samples(problem.objective):
        h = H.curvatures()
        assert h is not None
        return h
    return H.matrix()


def newton_step(
    problem: Problem, point: Point, H: np.ndarray, search: StrongWolfe | Armijo | None = None
) -> Point | None:
    """The point that one step with H, of this point or one nearby, leads to, if any."""
    if has_sums(problem.objective):
        return exact_step(problem, point, lambda H, g: solve(H, g, RIDGE))
    if not np.all(np.isfinite(H)):
        return None
    if problem.is_composite:
        return prox_newton_step(problem, point, H)
    p: np.ndarray | None
    if has_fewer_samples(problem.objective):
        p = dual_direction(problem, point, H)
    else:
        p = -solve(H, point.gradient, RIDGE if point.scores.size else 0.0)
    if p is None:
        return None
    line = Line(problem, point, p.astype(point.w.dtype, copy=False))
    if search is None:
        search = StrongWolfe(curvature=FLAT if has_kinks(problem) else CURVATURE)
    return search(line, 1.0)


def solve(H: np.ndarray, g: np.ndarray, ridge: float) -> np.ndarray:
    """H⁻¹g where H, with `ridge` on its scaled diagonal, is safely definite; else Q|Λ|⁻¹Qᵀg."""
    H = 0.5 * (H + H.T)
    (potrf,) = scipy.linalg.get_lapack_funcs(("potrf",), (H,))
    D, eps = np.diag(H), float(np.finfo(H.dtype).eps)
    if ridge:
        D = np.where(D > 0.0, D, 1.0)  # a feature that never occurs, and no penalty
    if np.all(D > 0.0):
        scale = 1.0 / np.sqrt(D)
        S = H * np.outer(scale, scale)
        for added in (0.0, ridge) if ridge else (0.0,):
            factor, info = potrf(S + added * np.eye(D.size, dtype=H.dtype), lower=1)
            if info == 0 and float(np.diag(factor).min()) ** 2 > SAFE * D.size * eps:
                return scale * scipy.linalg.cho_solve((factor, True), scale * g)
    curvatures, Q = np.linalg.eigh(H)
    sizes = np.abs(curvatures)
    largest = float(sizes.max()) or 1.0  # none at all: down the gradient
    return Q @ ((Q.T @ g) / np.maximum(sizes, eps**0.5 * largest))


def solve_samples(
    problem: Problem,
    start: Point,
    rng: np.random.Generator,
    search: StrongWolfe | Armijo | None = None,
) -> tuple[Point | None, np.ndarray]:
    """Where growing samples have their minimum, if it is lower on the whole, and the last H."""
    data, w, H = problem.objective, start.w, no_hessian(problem)
    if not start.scores.size or data.loss == "squared" or data.matrix.entries < LARGE:
        return None, H
    for share in SHARES:
        rows = data.n // share
        if rows < ROWS_A_VARIABLE * problem.dim:
            continue
        chosen, chances = draw_rows(data, rows, rng)
        sample = Problem(data.sample(chosen, chances), problem.dim, problem.dtype)
        point = sample.point(w)
        for _ in range(STAGE):
            H = hessian(sample, point, FLOOR if has_kinks(sample) else 0.0)
            ahead = newton_step(sample, point, H, search)
            if ahead is None:
                break
            gain = point.value + sample.penalty(point.w) - ahead.value - sample.penalty(ahead.w)
            point = ahead
            if gain <= problem.dim / (2 * rows) * point.value:
                break
        w = point.w
        problem.passes += sample.passes / share
    if w is start.w:
        return None, H
    found = problem.point(w)
    fallen = found.value + problem.penalty(w) < start.value + problem.penalty(start.w)
    return (found, H) if fallen else (None, no_hessian(problem))


def draw_rows(
    data: LinearProblem, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """About `count` rows, int64, in the order of memory, and the chance that each of them had.

    Half by chance and half by ‖xᵢ‖²: a long row is one with rare or extreme features, and where a
    sample has missed those, its minimizer is far off.
    """
    squares = data.row_squares
    chances = 0.5 * count * (1.0 / data.n + squares / max(float(squares.sum()), TINY))
    chosen = np.flatnonzero(rng.random(data.n) < chances)
    return chosen, np.minimum(chances[chosen], 1.0)
