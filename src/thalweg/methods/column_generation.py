"""Column generation: corners of a few features, and those that would still pay brought in.

    minimise  Σᵢ cᵢ ℓ(xᵢᵀw + b − yᵢ) + l1‖w‖₁        ℓ a tube (`objectives.tube`)

With wⱼ = 0 outside a set S of features this is a small problem, solved by `interior_point`, whose
dual point θ belongs to the whole, too. There it is feasible where |Σ cᵢθᵢxᵢⱼ| ≤ l1 for all j; what
is above has a price, and the dearest join S, as many as it has already at most. F falls with every
set, D(θ) shrunk into its domain is the bound, and when nothing is dearer than l1 the point is
optimal for all features. Few are looked at closely: an optimum has no more coefficients than there
are samples, and those of a penalty that is worth its name far fewer.

Cost: a solution on S and a pass a round, mostly less than ten. Memory: S copied, n numbers for each
of its features, and a matrix of |S|².
Ford & Fulkerson, Manag. Sci. 5 (1958); for l1: Mazumder, Wright & Zheng, arXiv:1908.06515.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse

from thalweg.certificates.duality import constant_value
from thalweg.core.errors import InputError
from thalweg.kernels.rows import CSR
from thalweg.methods.interior_point import (
    EXACT,
    IDLE,
    InteriorPoint,
    InteriorPointState,
    about,
    both_sides,
    tube_of,
)
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.objectives.linear import LinearProblem

WIDE = 2  # times as many features as samples: those that w does not use are left out again
FIRST = 50  # features of the first set
MOST_STEPS = 100  # of a solution on S
OVER = 1e-9  # of l1: a price above is one


class ColumnGenerationState(NamedTuple):
    """All that a round hands on to the next."""

    w: np.ndarray  # (w, b), float[dim]
    value: float  # F(w, b)
    gradient: np.ndarray  # by how much prices are above l1, float[dim]
    theta: np.ndarray  # θ, float64[n]
    floor: float  # D(θ), made feasible
    features: np.ndarray  # S, int64, rising


@dataclass(frozen=True)
class ColumnGeneration(Method):
    """Interior points of growing sets of features."""

    name: ClassVar[str] = "column-generation"
    State: ClassVar[type] = ColumnGenerationState
    takes_penalty: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    takes_corners: ClassVar[bool] = True
    only_linear: ClassVar[bool] = True
    factorises: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        """Tubes alone, and l1 alone: it is what leaves features out."""
        InteriorPoint.usual().check(problem)
        if problem.objective.l1 == 0.0 or problem.objective.l2 > 0.0:
            raise InputError(
                f"column-generation needs l1 > 0 and l2 = 0, got l1 = {problem.objective.l1:g} and "
                f"l2 = {problem.objective.l2:g}: use method='interior-point'"
            )

    def init(
        self, problem: Problem, w0: np.ndarray, rng: np.random.Generator
    ) -> ColumnGenerationState:
        """No features but those of w₀, and the slopes of its losses."""
        data: LinearProblem = problem.objective
        w = about(data, w0)
        theta = tube_of(data).slopes(data.scores(w), data.y)
        return _state(problem, w, theta, np.flatnonzero(data.split(w)[0]))

    def advance(self, problem: Problem, state: ColumnGenerationState) -> ColumnGenerationState:
        """A larger set, solved."""
        data: LinearProblem = problem.objective
        over = np.abs(state.gradient[: data.p])
        over[state.features] = 0.0
        used = state.features
        if used.size > WIDE * data.n:
            used = np.flatnonzero(data.split(state.w)[0])
        dear = np.argsort(-over, kind="stable")[: max(FIRST, min(used.size, data.n))]
        dear = dear[over[dear] > OVER * data.l1]
        if not dear.size:
            return state
        features = np.union1d(used, dear)
        few = _few(problem, features)
        found, steps = _solved(few)
        problem.passes += steps * features.size / data.p
        problem.hessian_vectors += steps * features.size
        w = np.zeros(data.dim)
        w[features] = found.w[: features.size]
        if data.fit_intercept:
            # Both are about the mean, of features and targets, but for rounding.
            there = data.features.place[features] - few.features.place
            w[-1] = found.w[-1] + few.term.origin + float(there @ w[features])
        after = _state(problem, w, found.theta, features)
        return after if after.value < state.value or after.floor > state.floor else state

    def lower_bound(self, state: ColumnGenerationState) -> float:
        """D(θ), nearly."""
        return state.floor

    def dual_point(self, problem: Problem, state: ColumnGenerationState) -> np.ndarray | None:
        """θ."""
        return state.theta


def _state(
    problem: Problem, w: np.ndarray, theta: np.ndarray, features: np.ndarray
) -> ColumnGenerationState:
    data: LinearProblem = problem.objective
    value, floor, v = both_sides(data, w, theta)
    problem.passes += 2
    problem.gradients += 1
    over = np.sign(v) * np.maximum(np.abs(v) - data.l1, 0.0)
    return ColumnGenerationState(w, value, data.features.join(over, 0.0), theta, floor, features)


def _few(problem: Problem, features: np.ndarray) -> LinearProblem:
    """The problem on some of its features, about their mean."""
    data: LinearProblem = problem.objective
    X: Any = data.matrix.rows
    if isinstance(X, CSR):
        columns = problem.kept("columns", lambda: _by_columns(data))
        X = scipy.sparse.csr_array(columns[:, features])
    else:
        X = X[:, features]
    few = LinearProblem(
        X,
        data.y,
        tube_of(data),
        l1=data.l1,
        fit_intercept=data.fit_intercept,
        sample_weight=data.weights,
        threads=data.threads,
    )
    return few.centred


def _by_columns(data: LinearProblem) -> Any:
    return scipy.sparse.csr_array(tuple(data.matrix.rows), shape=data.matrix.shape).tocsc()


def _solved(few: LinearProblem) -> tuple[InteriorPointState, int]:
    """The best state of an interior point, and how many steps it took."""
    method, problem = InteriorPoint.usual(), Problem(few, few.dim, np.dtype(np.float64))
    state = best = method.init(problem, np.zeros(few.dim), np.random.default_rng(0))
    enough, idle, steps = EXACT * constant_value(few), 0, 0
    while steps < MOST_STEPS and best.gap > enough and idle < IDLE:
        after = method.advance(problem, state)
        if after is state:
            break
        state, steps = after, steps + 1
        idle = 0 if state.gap < best.gap else idle + 1
        best = state if state.gap < best.gap else best
    return best, steps
