"""Interior point: through the middle of all constraints to the corner where the optimum lies.

    minimise  Σᵢ cᵢ ℓ(tᵢ) + (l2/2)‖w‖² + l1‖w‖₁       t = Xw + b − y, ℓ a tube (`objectives.tube`)

ℓ and l1|wⱼ| are lines and hinges: κ max(0, g) with g = st − e, or 2·l1·max(0, wⱼ) − l1·wⱼ. A hinge
is g = p − q with p, q ≥ 0, and at its optimum a share λ of κ that fits:

    λq = 0        (κ − λ)p = 0        0 ≤ λ ≤ κ

Newton's method for these with μ in place of 0, followed as μ falls, has Δλ = D(Δg + h) with the D
and h of `hinges`, and takes in every step

    (Σᵢ cᵢDᵢx̃ᵢx̃ᵢᵀ + diag(l2 + Dⱼ)) Δ = −(Σᵢ cᵢθᵢx̃ᵢ + l2·w + η) − Σᵢ cᵢsDᵢhᵢx̃ᵢ − Dⱼhⱼ

with x̃ = (x, 1), θ = base + Σ sλ, which is the dual point of the certificate, and η the same of l1.
Two systems with one matrix a step: the first aims at μ = 0, and how far it gets says which μ the
second aims at, which makes good the products of the first one's moves (Mehrotra). Steps stop a hair
before a boundary; without l2 those of (w, b, p, q) and of λ have lengths of their own.

When μ is small, it shows which hinges are at neither end (`corner`): the equations of these alone
give w, b and θ to rounding, and that is taken if its gap is smaller.

Cost: a weighted Gram matrix and five passes a step, some 15 to 30 steps, whatever the conditioning.
Memory: eight vectors of n numbers, and a matrix of min(n, p)², for which p or n is to be thousands.
Mehrotra, SIAM J. Optim. 2 (1992); Portnoy & Koenker, Statist. Sci. 12 (1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.certificates.dual_penalty import dual_penalty
from thalweg.certificates.duality import best_constant, constant_value
from thalweg.certificates.unheld import is_unheld, usual_sizes
from thalweg.core.errors import InputError
from thalweg.core.vector import dot
from thalweg.methods.corner import corner
from thalweg.methods.hinge_system import HingeSystem
from thalweg.methods.hinges import Hinges, Moves
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.own_score import OwnScore
from thalweg.objectives.tube import Tube

INSIDE = 0.995  # of the way to the boundary
SHORT = 1e-8  # steps of this length get nowhere
NEAR = 1e-3  # of F(w = 0, best b): a gap from which on the corner may show
LAST = 1e-5  # likewise: few steps are left
EXACT = 1e-11  # likewise: the corner is the right one
GAIN = 0.5  # of the gap: what one of the last steps is to leave at most
IDLE = 3  # of them that leave more, and rounding is what is left


class InteriorPointState(NamedTuple):
    """All that a step hands on to the next."""

    w: np.ndarray  # (w, b), float[dim]
    value: float  # F(w, b)
    gradient: np.ndarray  # what θ and η lack of balance, float[dim]
    rows: np.ndarray  # λ, κ − λ, p and q of the samples' hinges, float64[4, hinges, n]
    columns: np.ndarray  # those of l1, float64[4, p], or [4, 0]
    theta: np.ndarray  # θ, float64[n]
    floor: float  # D(θ), made feasible, nearly
    is_corner: bool  # whether there is nowhere left to go

    @property
    def gap(self) -> float:
        """F − D(θ), nearly; what rounding makes negative is 0."""
        return max(0.0, self.value - self.floor)


@dataclass(frozen=True)
class InteriorPoint(Method):
    """Newton steps along the central path of a loss with corners."""

    name: ClassVar[str] = "interior-point"
    State: ClassVar[type] = InteriorPointState
    takes_penalty: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    takes_corners: ClassVar[bool] = True
    only_linear: ClassVar[bool] = True
    factorises: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        """Only tubes are made of hinges."""
        term = getattr(problem.objective, "term", None)
        if not (isinstance(term, OwnScore) and isinstance(term.loss, Tube)):
            raise InputError(
                f"interior-point needs a loss with corners, got {problem.name}: use method='auto'"
            )

    def init(
        self, problem: Problem, w0: np.ndarray, rng: np.random.Generator
    ) -> InteriorPointState:
        """In the middle, about w₀; about the best constant where that is 0."""
        data: LinearProblem = problem.objective
        w = about(data, w0)
        t = data.scores(w) - data.y
        size = dot(data.weights, np.abs(t)) or 1.0
        s, e, kappa = _corners(data)
        coefficients, columns = data.split(w)[0], np.empty((4, 0))
        if data.l1 > 0.0:
            wide = 0.5 * float(kappa.max()) * size / (data.n * data.l1)
            columns = Hinges.around(coefficients, 2.0 * data.l1, wide)
        return _state(problem, w, Hinges.around(s * t - e, kappa, size), columns)

    def advance(self, problem: Problem, state: InteriorPointState) -> InteriorPointState:
        """One step, with its two systems; near the end all that are left, into the corner."""
        scale = constant_value(problem.objective)
        best = after = _advanced(problem, state, scale)
        idle = 0
        while after.gap <= LAST * scale and idle < IDLE and not best.is_corner:
            after = _advanced(problem, after, scale)
            idle = 0 if after.gap < GAIN * best.gap else idle + 1
            best = after if after.gap < best.gap else best
        return best

    def lower_bound(self, state: InteriorPointState) -> float:
        """D(θ), nearly."""
        return state.floor

    def dual_point(self, problem: Problem, state: InteriorPointState) -> np.ndarray | None:
        """θ."""
        return state.theta


def _advanced(problem: Problem, state: InteriorPointState, scale: float) -> InteriorPointState:
    """The state in the corner if that shows, else one step on; the same where there is none."""
    if state.is_corner:
        return state
    found = None
    if state.gap <= NEAR * scale:
        found = _into_the_corner(problem, state, may_be_singular=state.gap <= LAST * scale)
    if found is not None and found.gap <= EXACT * scale:
        return found
    return _step(problem, state) or found or state


def about(data: LinearProblem, w0: np.ndarray) -> np.ndarray:
    """w₀ in doubles; the best constant where its coefficients are 0."""
    w = w0.astype(np.float64)
    if data.fit_intercept and not data.split(w)[0].any():
        w[-1] = best_constant(data)
    return w


def tube_of(data: LinearProblem) -> Tube:
    """The loss, which `check` found to be one."""
    assert isinstance(data.term, OwnScore)
    assert isinstance(data.term.loss, Tube)
    return data.term.loss


def _corners(data: LinearProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """s, e and κ of each hinge of a sample, float64[hinges, 1] each."""
    s, e, kappa = np.array(tube_of(data).hinges).T[:, :, None]
    return s, e, kappa


def _state(
    problem: Problem, w: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> InteriorPointState:
    """The state of these hinges."""
    data: LinearProblem = problem.objective
    loss = tube_of(data)
    theta = loss.base + np.sum(_corners(data)[0] * rows[0], axis=0)
    eta = columns[0] - data.l1 if columns.size else np.zeros(data.p)
    theta = np.clip(theta, -loss.below, loss.above)
    return _judged(problem, w, theta, eta, rows, columns)


def _judged(
    problem: Problem,
    w: np.ndarray,
    theta: np.ndarray,
    eta: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    is_corner: bool = False,
) -> InteriorPointState:
    """The state with the values of both sides, and what θ lacks of balance."""
    data: LinearProblem = problem.objective
    problem.passes += 2
    problem.gradients += 1
    value, floor, v = both_sides(data, w, theta)
    balance = dot(data.weights, theta) if data.fit_intercept else 0.0
    gradient = data.features.join(v + data.l2 * data.split(w)[0] + eta, balance)
    return InteriorPointState(w, value, gradient, rows, columns, theta, floor, is_corner)


def both_sides(
    data: LinearProblem, w: np.ndarray, theta: np.ndarray
) -> tuple[float, float, np.ndarray]:
    """F(w, b), D(θ) made feasible, nearly, and Σ cᵢθᵢx̂ᵢ, of a loss that is a tube."""
    loss, c, y = tube_of(data), data.weights, data.y
    z, v = data.scores(w), data.transpose(theta)
    coefficients, b = data.split(w)
    value = dot(c, loss.values(z, y)) + data.ridge(coefficients) + data.penalty(w)
    floor = -dot(c, y * theta + loss.width * np.abs(theta))
    # What is out of balance is charged to coefficients as they are, but none is taken for 0.
    if data.fit_intercept:
        floor -= abs(dot(c, theta)) * (abs(float(b)) + dot(c, np.abs(y)))
    if is_unheld(data):
        floor -= dot(np.abs(v), np.abs(coefficients) + usual_sizes(data)[: data.p])
    else:
        held = dual_penalty(data)
        s = min(1.0, held.largest(v))
        floor = s * floor - held.value(v, s)
    return value, floor, v


def _step(problem: Problem, state: InteriorPointState) -> InteriorPointState | None:
    """The next state; None where rounding leaves nowhere to go."""
    data: LinearProblem = problem.objective
    s, e, _ = _corners(data)
    c, share = data.weights, float(data.weights.mean())
    rows = Hinges(state.rows, s * (data.scores(state.w) - data.y) - e)
    held = data.split(state.w)[0] if state.columns.size else np.empty(0)
    columns = Hinges(state.columns, held)
    system = HingeSystem(data, c * np.sum(rows.D, axis=0), columns.D)
    problem.passes += 6
    problem.hessian_vectors += data.dim

    def direction(
        mu: float, first: tuple[Moves, Moves] | None
    ) -> tuple[np.ndarray, tuple[Moves, Moves]]:
        by_row, by_column = first or (None, None)
        aim, aim_columns = rows.aim(mu, by_row), columns.aim(share * mu, by_column)
        bent = np.sum(s * rows.D * aim.h, axis=0)
        pull = data.transpose(bent)
        if held.size:
            pull += columns.D * aim_columns.h
        delta = system.solve(-state.gradient - data.features.join(pull, dot(c, bent)))
        along = data.split(delta)[0] if held.size else held
        moves = rows.moves(aim, s * data.scores(delta)), columns.moves(aim_columns, along)
        return delta, moves

    def lengths(moves: tuple[Moves, Moves], inside: float) -> tuple[float, float]:
        (far, wide), (far_too, wide_too) = rows.reach(moves[0]), columns.reach(moves[1])
        far, wide = min(far, far_too), min(wide, wide_too)
        if data.l2 > 0.0:  # w is in the balance of θ
            far = wide = min(far, wide)
        return (1.0 if far == 1.0 else inside * far), (1.0 if wide == 1.0 else inside * wide)

    def gap(moves: tuple[Moves, Moves] | None, far: float = 0.0, wide: float = 0.0) -> float:
        by_row, by_column = moves or (None, None)
        whole = rows.products(by_row, far, wide).sum(axis=0)
        return dot(c, whole) + float(columns.products(by_column, far, wide).sum())

    count = 2.0 * (len(s) + share * held.size)  # Σcμ over all products
    now = gap(None)
    if not now > 0.0:
        return None
    _, first = direction(0.0, None)
    mu = now / count * (gap(first, *lengths(first, 1.0)) / now) ** 3
    delta, moves = direction(mu, first)
    far, wide = lengths(moves, INSIDE)
    if not (np.all(np.isfinite(delta)) and max(far, wide) > SHORT):
        return None
    w = state.w + far * delta
    return _state(problem, w, rows.moved(moves[0], far, wide), columns.moved(moves[1], far, wide))


def _into_the_corner(
    problem: Problem, state: InteriorPointState, *, may_be_singular: bool
) -> InteriorPointState | None:
    """The state there; None where its gap is no smaller."""
    data: LinearProblem = problem.objective
    s, e, _ = _corners(data)
    t = data.scores(state.w) - data.y
    held = data.split(state.w)[0] if state.columns.size else np.empty(0)
    rows, columns = Hinges(state.rows, s * t - e), Hinges(state.columns, held)
    size = dot(data.weights, np.abs(t))
    near = (state.w, state.theta)
    found = corner(data, tube_of(data), rows, columns, near, size, may_be_singular=may_be_singular)
    problem.passes += 2
    if found is None:
        return None
    w, theta = found
    v = data.transpose(theta) + data.l2 * data.split(w)[0]
    eta = np.clip(-v, -data.l1, data.l1)
    there = _judged(problem, w, theta, eta, state.rows, state.columns, is_corner=True)
    return there if there.gap < state.gap else None
