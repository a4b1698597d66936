"""Ridge regression in closed form: one factorisation, and a step of refinement.

    F(w, b) = ½ Σᵢ cᵢ (xᵢᵀw + b − yᵢ)² + (l2/2)‖w‖²

From zero this is the lecture's ŵ = (XᵀX + λI)⁻¹Xᵀy. `ridge_system` factorises a matrix of p × p
numbers, or of n × n where n < p, or, where its condition is bad, solves for w from the data; the
intercept is then the best for that w. A second step with the same factor takes back what rounding
did to the first, and is part of it. Where l2 = 0 and the features are dependent, the smallest
solution is taken.

Cost: O(np·min(n, p)) once; memory min(n, p)² numbers, and for n < p a copy of X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.errors import InputError
from thalweg.kernels.threads import blas_threads
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.ridge_system import (
    Solution,
    System,
    best_intercept,
    factorised,
    first_solution,
    refined,
    targets,
)
from thalweg.objectives.linear import LinearProblem

MOST = 10_000  # of the smaller of n and p: the matrix takes 800 MB there
WORTH_THREADS = 5e8  # multiplications
NO_SYSTEM = -1


class CholeskyState(NamedTuple):
    """All that the closed form carries from one step to the next."""

    w: np.ndarray  # coefficients and intercept, float[p] or [p + 1]
    value: float  # F(w)
    gradient: np.ndarray  # ∇F(w)
    kind: int  # of the system; NO_SYSTEM before the first step
    factor: np.ndarray  # of the system, float64; empty before the first step
    scale: np.ndarray  # of the system, float64[p] or empty
    solution: np.ndarray  # its w, float64[p]
    alpha: np.ndarray  # its α, float64[n] or empty


@dataclass(frozen=True)
class Cholesky(Method):
    """Ridge regression by factorising a Gram matrix."""

    name: ClassVar[str] = "cholesky"
    State: ClassVar[type] = CholeskyState
    takes_noise: ClassVar[bool] = False
    descends: ClassVar[bool] = True
    is_second_order: ClassVar[bool] = True
    factorises: ClassVar[bool] = True
    only_linear: ClassVar[bool] = True
    law: ClassVar[str] = "1 iteration"

    def check(self, problem: Problem) -> None:
        """Only a quadratic objective is solved by one step, and only a small matrix factorised."""
        objective = problem.objective
        if not isinstance(objective, LinearProblem):
            raise InputError(
                f"cholesky needs a LinearProblem with the squared loss, got {problem.name}: "
                "use method='newton'"
            )
        if objective.loss != "squared":
            raise InputError(
                f"cholesky needs the squared loss, got {objective.loss}: use method='newton-cg'"
            )
        smaller = min(objective.n, objective.p)
        if smaller > MOST:
            raise InputError(
                f"cholesky factorises a {smaller}×{smaller} matrix, at most {MOST}×{MOST}: "
                "use method='lbfgs'"
            )

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> CholeskyState:
        """The state at w₀, nothing factorised."""
        value, gradient = problem.value_and_gradient(w0)
        none = np.empty(0)
        return CholeskyState(w0, value, gradient, NO_SYSTEM, np.empty((0, 0)), none, none, none)

    def advance(self, problem: Problem, state: CholeskyState) -> CholeskyState:
        """The minimizer; a further step refines it by the same factor."""
        data = problem.objective
        rho = targets(data, data.y)
        if state.kind != NO_SYSTEM:
            system = System(state.kind, state.factor, state.scale)
            after = refined(data, system, rho, Solution(state.solution, state.alpha))
            problem.passes += 2
            found = _measured(problem, state.w.dtype, system, after)
            is_lower = found.value < state.value
            is_flatter = np.abs(found.gradient).max() < np.abs(state.gradient).max()
            return found if is_lower or is_flatter else state  # at rounding F falls no further
        # A matrix that is worth several threads has no other use for them meanwhile. A small one is
        # not: on a busy machine threads of BLAS wait for each other a hundred times as long.
        work = data.matrix.entries * min(data.n, data.p)
        with blas_threads(data.threads if work >= WORTH_THREADS else 1):
            system = factorised(data)
            problem.passes += 4
            after = refined(data, system, rho, first_solution(data, system, rho))
        return _measured(problem, state.w.dtype, system, after)

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected:
        """One iteration, which is all there is.

        Sparse columns tend to depend on each other, as those of a category do. Without a penalty it
        is then the triangle of all rows that is factorised.
        """
        room = 3 * min(problem.dim, problem.n)
        passes = {"gradient": 4.0, "ridge": 1.0, "call": 4.0}
        if problem.matrix.is_sparse and problem.l2 == 0.0:
            passes["triangle"] = 1.0
        return Expected(1.0, 1.0, passes, 2, room)


def _measured(
    problem: Problem, dtype: np.dtype, system: System, solution: Solution
) -> CholeskyState:
    data: LinearProblem = problem.objective
    w = data.features.join(solution.w, best_intercept(data, data.y, solution.w)).astype(dtype)
    value, gradient = problem.value_and_gradient(w)
    return CholeskyState(
        w, value, gradient, system.kind, system.factor, system.scale, solution.w, solution.alpha
    )
