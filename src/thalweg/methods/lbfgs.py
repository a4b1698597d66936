"""L-BFGS: BFGS that remembers only the last few steps.

    p = −B∇f(w)             B from the last `memory` pairs (s, y), never formed
    w⁺ = w + αp             α by a search, strong-Wolfe by default, first trial 1
    s = w⁺ − w,  y = ∇f(w⁺) − ∇f(w),  ρ = 1/sᵀy

The two-loop recursion multiplies by B in 4·memory·dim operations:

    q ← ∇f(w);   newest to oldest:  aᵢ = ρᵢsᵢᵀq,  q ← q − aᵢyᵢ
    q ← (sᵀy/yᵀDy) Dq               with the newest pair
    oldest to newest:               q ← q + sᵢ(aᵢ − ρᵢyᵢᵀq)

D is the identity. A linear problem knows a bound on the diagonal of its Hessian, and D is its
inverse: the same steps as in variables scaled so that no feature has larger units than another.

Cost: O(memory·dim) a step besides one or two gradients; memory O(memory·dim). On a linear problem a
step reads the data once, or twice where its first trial is refused (`methods.line`), and the scores
are kept: n numbers, n·K for K classes.
Liu & Nocedal, Math. Program. 45 (1989).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy, saxpy

from thalweg.core.checks import check_count
from thalweg.core.vector import dot
from thalweg.methods.armijo import Armijo
from thalweg.methods.expectation import Difficulty, Expected, Law
from thalweg.methods.line import Line
from thalweg.methods.method import Method
from thalweg.methods.problem import Point, Problem
from thalweg.methods.search import Search
from thalweg.methods.wolfe import StrongWolfe, first_trial
from thalweg.objectives.linear import LinearProblem

LAWS = {  # of passes; a loss that is not named has that of the logistic one
    "squared": Law(2.9, 0.93, 0.03),
    "logistic": Law(8.0, 0.62, 0.11),
    "squared-hinge": Law(8.0, 0.4, 0.26),
    "huber": Law(3.2, 0.97, 0.09),
    "multinomial": Law(13.0, 0.59, 0.15),
}


class LBFGSState(NamedTuple):
    """All that L-BFGS carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    scores: np.ndarray  # of a linear problem at w, float64[n] or [n, K]; else empty
    S: np.ndarray  # the steps s, float[memory, dim]; pair k lives in row k mod memory
    Y: np.ndarray  # the gradient differences y, float[memory, dim]
    rho: np.ndarray  # 1/sᵀy, float[memory]
    D: np.ndarray  # the diagonal that B is built on, float[dim]
    pairs: int  # pairs learnt since the last fresh start


@dataclass(frozen=True)
class LBFGS(Method):
    """Limited-memory quasi-Newton; `memory` pairs are kept.

    `precondition`: on a linear problem, take D from the diagonal of its curvature.
    """

    name: ClassVar[str] = "lbfgs"
    State: ClassVar[type] = LBFGSState
    learns_curvature: ClassVar[bool] = True
    descends: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    searches: ClassVar[tuple[type[Search], ...]] = (StrongWolfe, Armijo)
    memory: int = 10
    precondition: bool = True
    search: StrongWolfe | Armijo | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("memory", self.memory)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> LBFGSState:
        """The state at w₀, nothing learnt."""
        S = np.zeros((self.memory, w0.size), dtype=w0.dtype)
        rho = np.zeros(self.memory, dtype=w0.dtype)
        D = np.ones_like(w0)
        bound = problem.curvature_diagonal() if self.precondition else None
        if bound is not None:
            D = (1.0 / bound).astype(w0.dtype)
        return LBFGSState(*problem.point(w0), S, np.zeros_like(S), rho, D, 0)

    def advance(self, problem: Problem, state: LBFGSState) -> LBFGSState:
        """One line search; overwrites the oldest pair of the state's S, Y and rho in place.

        Copying them instead would cost as much as the two-loop recursion.
        """
        w, _, gradient, _, S, Y, rho, D, pairs = state
        point, search = Point(*state[:4]), self.search or StrongWolfe()
        if pairs:
            found = search(Line(problem, point, -two_loop(state)), 1.0)
        if not pairs or found is None:
            pairs = 0  # what was learnt no longer fits, if anything was: begin anew
            first = first_trial(np.sqrt(D) * gradient)
            found = search(Line(problem, point, -D * gradient), first)
        if found is None:
            return state
        pairs = learn(S, Y, rho, pairs, found.w - w, found.gradient - gradient)
        return LBFGSState(*found, S, Y, rho, D, pairs)

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected:
        """c·kᵃ·rᵇ passes, by the loss; a tenth of the steps look twice.

        With k the steps of conjugate gradients, which learn the curvature from exact products.
        """
        count = hard.passes(problem, LAWS) / 1.1
        return Expected(None, count, {"gradient": 1.1, "call": 4.0, "vectors": 80.0}, 4, 25)


def learn(
    S: np.ndarray, Y: np.ndarray, rho: np.ndarray, pairs: int, s: np.ndarray, y: np.ndarray
) -> int:
    """Write the pair (s, y) over the oldest, in place, if it curves upwards; the new count."""
    curvature = dot(s, y)
    if curvature > np.finfo(S.dtype).eps * math.sqrt(dot(s, s) * dot(y, y)):
        row = pairs % len(S)
        S[row], Y[row], rho[row] = s, y, 1.0 / curvature
        pairs += 1
    return pairs


def two_loop(state: LBFGSState) -> np.ndarray:
    """B∇f(w), by the two-loop recursion."""
    return product(state.S, state.Y, state.rho, state.D, state.pairs, state.gradient)


def product(
    S: np.ndarray, Y: np.ndarray, rho: np.ndarray, D: np.ndarray, pairs: int, gradient: np.ndarray
) -> np.ndarray:
    """B times a vector."""
    memory = len(S)
    rows = [k % memory for k in range(max(0, pairs - memory), pairs)]  # oldest to newest
    kept = [(S[i], Y[i], float(rho[i])) for i in rows]
    q = gradient.copy()
    axpy = daxpy if q.dtype == np.float64 else saxpy  # in place: NumPy's a·y is one more vector
    taken = []  # aᵢ, newest to oldest
    for s, y, r in reversed(kept):
        taken.append(r * dot(s, q))
        axpy(y, q, a=-taken[-1])
    q *= D
    if kept:
        _, y, r = kept[-1]
        q /= r * dot(y, D * y)
    for (s, y, r), a in zip(kept, reversed(taken), strict=True):
        axpy(s, q, a=a - r * dot(y, q))
    return q
