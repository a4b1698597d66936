"""SVRG: correct each sample's gradient by what it was at a snapshot.

    minimise  F(w) = (1/n) Σᵢ aᵢℓ(xᵢᵀw, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁

An iteration takes the slopes sᵢ and their sum g = Σᵢ sᵢxᵢ at the snapshot w_s, then visits `inner`
times n samples, drawn with probabilities pᵢ,

    w ← S(w − η((aᵢℓ′(xᵢᵀw, yᵢ) − sᵢ)xᵢ/(npᵢ) + g/n + l2·w), η·l1)

and the last w, or one drawn at random, is the next snapshot. As w and w_s near the optimum the
correction removes the noise, so that a constant step converges. The lecture computes two gradients
a step and stores w_s and g alone; a linear model has sᵢ as one number a sample, so it is kept from
the snapshot's pass and a step costs one gradient.

    η = 0.1/L, inner·n ≥ 50L/μ, random iterate, l1 = 0     E F − F* halves, see `theory.svrg`

Practice takes 1/2L_eff, a few passes and the last iterate.

Cost: `inner` + 1 passes an iteration; memory O(n·K + p). Value and gradient at the snapshot are
exact. Johnson & Zhang, NIPS 2013; Xiao & Zhang, SIAM J. Optim. 24 (2014), for the proximal step and
the sampling. The kernel is `kernels.incremental`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg.core.checks import check_choice, check_number
from thalweg.core.errors import InputError
from thalweg.kernels import incremental as kernels
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.incremental import (
    Incremental,
    IncrementalState,
    Pull,
    visit,
)
from thalweg.methods.problem import Problem
from thalweg.objectives.finite_sum import enter
from thalweg.objectives.linear import LinearProblem

ITERATES = ("last", "random")


@dataclass(frozen=True)
class SVRG(Incremental):
    """Stochastic variance reduced gradient. `inner`: visits between snapshots, in passes."""

    name: ClassVar[str] = "svrg"
    kind: ClassVar[int] = kernels.SVRG
    factor: ClassVar[float] = 1.0 / 2.0
    theory_factor: ClassVar[float] = 1.0 / 10.0
    inner: float = 2.0
    iterate: str = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("inner", self.inner, above=0.0)
        check_choice("iterate", self.iterate, ITERATES)
        if self.start not in (None, "full"):
            raise InputError(
                f"svrg begins with the slopes at w0, start='full', got {self.start!r}: "
                "use method='saga'"
            )

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected | None:
        """A third of the iterations of saga, each of `inner` passes and a gradient."""
        usual = super().expected(problem, hard)
        if usual is None:
            return None
        passes = {"visits": 0.9 * self.inner, "gradient": 1.0}
        return usual._replace(iterations=max(4.0, usual.iterations / 3.0), passes=passes)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> IncrementalState:
        """The state at w₀, which is the first snapshot."""
        data = problem.objective
        tree, numbers = self.prepared(problem)
        v, g, slopes = enter(data, w0), np.empty(data.dim), np.empty(data.n * data.outputs)
        return self.at_snapshot(problem, v, g, slopes, tree, numbers, rng)

    def travel(self, problem: Problem, state: Any, pull: Pull | None = None) -> IncrementalState:
        """The visits from one snapshot to the next, over F and, where it is given, a pull."""
        count = max(1, round(self.inner * problem.objective.n))
        if self.iterate == "random":
            # To draw one of the iterates is to stop there: those after it change nothing.
            count = int(state.rng.integers(1, count + 1))
        v, numbers = visit(self, problem, state, count, pull)
        return self.at_snapshot(problem, v, state.g, state.slopes, state.tree, numbers, state.rng)
