"""A run under way: what was asked, where it is, and what is told of it.

Step       what a callback is told after each iteration
Overseer   what looks on, and may change the method
Relay      what one run of a path leaves to the next
Journey    all of a run that the loop, proofs and checkpoints look at
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from thalweg.certificates.decrement import has_decrement
from thalweg.certificates.duality import constant_value, has_gap
from thalweg.certificates.separation import Separator
from thalweg.certificates.stationarity import gap, limit, norm
from thalweg.core.certificate import Certificate
from thalweg.core.clock import Clock
from thalweg.core.objective import known
from thalweg.core.trace import Trace
from thalweg.methods.method import Method
from thalweg.methods.payment import Payment
from thalweg.methods.problem import Problem
from thalweg.methods.roles import check_roles

BETWEEN_LOOKS = 10  # iterations from one look by twice the digits to the next


class Step(NamedTuple):
    """What a callback is told after each iteration."""

    iteration: int
    w: np.ndarray  # read-only, float[dim]
    value: float
    gradient_norm: float
    gap: float  # NaN where there is no bound
    evaluations: float  # gradients and Hessian-vector products
    seconds: float


class Overseer(Protocol):
    """What looks at a run after every iteration, and may change the method."""

    def __call__(self, journey: Journey) -> Method | None:
        """The method to go on with, if it is to be another one."""
        ...

    def after_stall(self, journey: Journey) -> Method | None:
        """The method to go on with where the present one does not move any more, if any."""
        ...

    def record(self) -> dict[str, Any]:
        """What it knows, put aside with the run."""
        ...


@dataclass
class Relay:
    """What a run hands over to the next one, on the same data with other penalties."""

    method: Method | None = None  # that the state is of
    state: Any = None  # where the last run ended


class Best(NamedTuple):
    """The lowest point seen; its gradient is computed again if it is asked for in the end."""

    w: np.ndarray
    value: float


@dataclass
class Journey:
    """A run under way: what was asked, and where it is.

    A linear problem is travelled about the mean of its features (`LinearProblem.centred`): all that
    is `w` here is in those variables, and `returned` carries it back.
    """

    objective: Any  # as it was asked for
    problem: Problem
    method: Method
    rng: np.random.Generator
    w0: np.ndarray  # as it was given
    seed: int
    tol: float
    clock: Clock  # from before the first look at f
    overseer: Overseer | None = None
    state: Any = field(init=False)  # from `depart` on, as are the next four
    best: Best = field(init=False)
    first_value: float = field(init=False)  # f(w₀)
    first_norm: float = field(init=False)  # ‖∇f(w₀)‖∞
    best_norm: float = field(init=False)
    improved_at: int = 0  # iteration of the last new best value or gradient norm
    iteration: int = 0
    trace: Trace = field(default_factory=Trace)
    payment: Payment | None = None  # the last duality gap, for problems that have one
    certificate: Certificate | None = None  # of the present state, once it was paid for
    looked_exactly_at: int = -BETWEEN_LOOKS  # iteration of the last gap by twice the digits
    rough: float = math.inf  # decrement, by the gradient alone, where a Hessian was last paid for
    has_better: bool = False  # whether `best` was found by twice the digits, and ends the run
    plane: Separator | None = None  # that shows F to have no minimum
    storage_problem: str = ""  # why the last checkpoint could not be written

    @property
    def seconds(self) -> float:
        """Time spent so far, that before a resume included and compiling not."""
        return self.clock.seconds

    def returned(self, w: np.ndarray) -> np.ndarray:
        """A point in the variables that were asked for, of the same scores and no higher F."""
        w = carried(w, self.problem.objective, self.objective)
        settle = known(self.objective, "settled")
        return w if settle is None else settle(w)

    @cached_property
    def scale(self) -> float:
        """F(w = 0, best b), which a duality gap is measured by."""
        return constant_value(self.problem.objective)

    @cached_property
    def allowed(self) -> float:
        """What to reach: a gap or a decrement of a linear problem, else a gradient norm."""
        if self.payment is not None or has_decrement(self.problem.objective):
            return self.tol * self.scale
        return limit(self.first_norm, self.tol)

    @property
    def dual(self) -> np.ndarray | None:
        """The method's own dual point for the present state, if it has one."""
        return self.method.dual_point(self.problem, self.state)

    @property
    def identity(self) -> dict[str, Any]:
        """What must agree for a checkpoint to belong to this run."""
        return {
            "objective": self.problem.name,
            "method": self.method.name,
            "options": self.method.options,
            "seed": self.seed,
            "dtype": str(self.w0.dtype),
            "w0": hashlib.sha256(self.w0.tobytes()).hexdigest()[:16],
        }

    def depart(self, state: Any) -> None:
        """Begin at the first state."""
        self.state, self.best, self.first_value = state, Best(state.w, state.value), state.value
        self.first_norm = self.best_norm = norm(state.gradient)
        self.payment = Payment() if has_gap(self.objective) else None
        self.note()

    def note(self) -> None:
        """Write the present state into the trace, and remember it if it is the best."""
        state = self.state
        self.certificate = None
        measured = norm(state.gradient)
        bound = None
        if not self.problem.is_noisy or known(self.problem.objective, "minimum") is not None:
            bound = gap(self.problem.objective, state.value, state.gradient)
        self.trace.append(
            iteration=self.iteration,
            passes=self.problem.passes,
            evaluations=self.problem.evaluations,
            seconds=self.seconds,
            value=state.value,
            gradient_norm=measured,
            gap=math.nan if bound is None else bound,
        )
        if state.value < self.best.value or measured < self.best_norm:
            self.improved_at = self.iteration
        if state.value < self.best.value and math.isfinite(measured):
            self.best = Best(state.w, state.value)
        self.best_norm = min(measured, self.best_norm)

    def hand_over(self, method: Method) -> None:
        """Go on by another method from the lowest point so far.

        Where a dual method is late, F at its w may be far above F at the start.
        """
        check_roles(method, self.problem)
        self.method = method
        self.state = method.init(self.problem, self.best.w, self.rng)
        self.improved_at = self.iteration

    def step(self) -> Step:
        """The present state, for a callback."""
        w = self.returned(self.state.w).view()
        w.flags.writeable = False
        last = self.trace.last
        return Step(
            self.iteration, w, last["value"], last["gradient_norm"], last["gap"],
            self.problem.evaluations, last["seconds"],
        )  # fmt: skip


def carried(w: np.ndarray, here: Any, there: Any) -> np.ndarray:
    """The variables of one view of a problem as those of another; `w` itself if they are alike."""
    return w if here is there else here.enter(w, there)
