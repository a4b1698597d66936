"""Dual coordinate ascent for tubes: `sdca` where a dual is no slope of a score.

    P(w) = Σᵢ cᵢ ℓ(xᵢᵀw − yᵢ) + (l2/2)‖w‖²        ℓ a tube, or a squared one (`objectives.tube`)
    D(θ) = −Σᵢ cᵢ ℓ*(θᵢ) − ‖Σᵢ cᵢθᵢxᵢ‖²/(2·l2)     w = −Σ cᵢθᵢxᵢ/l2

At a corner of ℓ a sample's θ is anything between two slopes, so that it is θ itself that is
remembered. A visit moves it to its best value while the others stay, in closed form
(`kernels.tube`), and no visit lowers D. A sample at an end of its range mostly stays there: a pass
over those that have moved of late is cheap, and only when it gains little is every sample asked
again. An intercept is a feature here, or there is none: no visit of one sample could keep Σ cᵢθᵢ.

Cost: a dot product and an addition of one row a visit, and a value of P and D an iteration.
Memory O(n + p).
Ho & Lin, J. Mach. Learn. Res. 13 (2012); Shalev-Shwartz & Zhang, J. Mach. Learn. Res. 14 (2013).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_count
from thalweg.core.errors import InputError
from thalweg.core.vector import dot
from thalweg.kernels.linear import squares_pass
from thalweg.kernels.tube import TubeSamples, tube_pass
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.own_score import OwnScore
from thalweg.objectives.tube import SquaredTube, Tube


class DualAscentState(NamedTuple):
    """All that one iteration hands on to the next."""

    w: np.ndarray  # float[dim]
    value: float  # P(w)
    gradient: np.ndarray  # the last move of −l2·w, float[dim]
    theta: np.ndarray  # θ, float64[n]
    floor: float  # D(θ)
    rng: np.random.Generator


@dataclass(frozen=True)
class DualAscent(Method):
    """Visits of samples, each given its best dual."""

    name: ClassVar[str] = "dual-ascent"
    State: ClassVar[type] = DualAscentState
    is_dual: ClassVar[bool] = True
    by_parts: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    takes_corners: ClassVar[bool] = True
    passes: int = 4  # of which the first visits all samples

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("passes", self.passes, at_least=1)

    def check(self, problem: Problem) -> None:
        """Tubes, l2 alone and no intercept."""
        data = problem.objective
        term = getattr(data, "term", None)
        if not (isinstance(term, OwnScore) and isinstance(term.loss, Tube | SquaredTube)):
            raise InputError(
                f"dual-ascent needs the loss of a tube, got {problem.name}: use method='sdca'"
            )
        if data.fit_intercept or data.l2 == 0.0 or data.l1 > 0.0:
            raise InputError(
                f"dual-ascent needs l2 > 0, l1 = 0 and no intercept, got l2 = {data.l2:g}, "
                f"l1 = {data.l1:g}, fit_intercept={data.fit_intercept}: "
                "use method='interior-point'"
            )

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> DualAscentState:
        """θ = 0, and so w = 0: a w₀ has no θ of its own."""
        data: LinearProblem = problem.objective
        return _state(problem, np.zeros(data.dim), np.zeros(data.n), np.zeros(data.dim), rng)

    def advance(self, problem: Problem, state: DualAscentState) -> DualAscentState:
        """A pass over all samples, and some over those that moved."""
        data: LinearProblem = problem.objective
        samples = problem.kept("samples", lambda: _samples(data))
        before, theta = state.theta, state.theta.copy()
        w = state.w.copy()
        tube_pass(samples, state.rng.permutation(data.n), theta, w)
        problem.passes += 1
        moved = np.flatnonzero(theta != before)
        for _ in range(self.passes - 1):
            tube_pass(samples, moved[state.rng.permutation(moved.size)], theta, w)
            problem.passes += moved.size / data.n
        # What thousands of additions have rounded is not carried on.
        w = -data.transpose(theta) / data.l2
        if np.array_equal(theta, before):
            return state
        return _state(problem, w, theta, data.l2 * (state.w - w), state.rng)

    def lower_bound(self, state: DualAscentState) -> float:
        """D(θ)."""
        return state.floor

    def dual_point(self, problem: Problem, state: DualAscentState) -> np.ndarray | None:
        """θ."""
        return state.theta


def _samples(data: LinearProblem) -> TubeSamples:
    """The rows of `data`, their norms, and the loss."""
    assert isinstance(data.term, OwnScore)
    loss, squares = data.term.loss, np.empty(data.n)
    squares_pass(data.matrix.rows, 0, data.n, squares)
    known = (data.matrix.rows, data.y, data.weights, squares, data.l2)
    if isinstance(loss, Tube):
        return TubeSamples(*known, loss.above, loss.below, loss.width, 0.0)
    assert isinstance(loss, SquaredTube)
    return TubeSamples(*known, math.inf, math.inf, loss.width, 0.5)


def _state(
    problem: Problem,
    w: np.ndarray,
    theta: np.ndarray,
    move: np.ndarray,
    rng: np.random.Generator,
) -> DualAscentState:
    data: LinearProblem = problem.objective
    assert isinstance(data.term, OwnScore)
    loss, c = data.term.loss, data.weights
    ridge = data.ridge(w)
    value = dot(c, loss.values(data.scores(w), data.y)) + ridge
    floor = -dot(c, loss.conjugates(theta, data.y)) - ridge
    problem.passes += 2
    problem.gradients += 1
    return DualAscentState(w, value, move, theta, floor, rng)
