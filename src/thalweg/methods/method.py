"""What a method is: a state and a way to advance it.

A method is a frozen dataclass of its options. `init` makes the first state, `advance` takes one
iteration; the loop owns everything else (stopping, tracing, time, checkpoints), so every method has
all of it. A state is a NamedTuple that carries at least

    w         the iterate, float[dim]
    value     F(w)
    gradient  ∇f(w), or the gradient mapping where there is a penalty

and whatever else the method remembers, so that a state written to disk and read back continues to
the same bits. `advance` does not change the arrays of the state that it is given, unless its
docstring says so, and returns that very state when it cannot move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar

import numpy as np

from thalweg.core.checks import describe
from thalweg.core.errors import InputError, suggest
from thalweg.methods.expectation import Difficulty, Expected
from thalweg.methods.problem import Problem
from thalweg.methods.search import Search, search_of
from thalweg.objectives.linear import LinearProblem


@dataclass(frozen=True)
class Method:
    """Base of all methods: names, options and their errors."""

    name: ClassVar[str]
    State: ClassVar[type]  # the NamedTuple that init and advance return
    takes_penalty: ClassVar[bool] = False  # F = f + h with a proximal step for h
    takes_linear_penalty: ClassVar[bool] = False  # only where h is the l1 of a LinearProblem
    takes_columns: ClassVar[bool] = False  # penalties and bounds column by column
    takes_noise: ClassVar[bool] = True  # gradients that are right only on average
    only_linear: ClassVar[bool] = False  # for LinearProblem alone
    needs_bound: ClassVar[bool] = False  # on ℓ″, the curvature of the loss
    takes_corners: ClassVar[bool] = False  # losses that have no slope in places
    adds_noise: ClassVar[bool] = False  # its own draws send the value up and down on the way
    is_second_order: ClassVar[bool] = False  # whether a few steps are to be enough near the optimum
    factorises: ClassVar[bool] = False  # whether its steps solve a system, whatever its condition
    learns_curvature: ClassVar[bool] = False  # from gradients met on the way, as lbfgs does
    is_dual: ClassVar[bool] = False  # whether it ascends in the dual of a linear problem
    by_parts: ClassVar[bool] = False  # steps in one sample or feature, whose condition is another
    descends: ClassVar[bool] = False  # every step lowers f, or at its rounding the gradient
    kappa_power: ClassVar[float | None] = None  # iterations grow like κ to this power; None: no law
    searches: ClassVar[tuple[type[Search], ...]] = ()  # what its option `search` may be
    law: ClassVar[str] = ""  # the count that `expected` guarantees, as it is read

    @classmethod
    @cache
    def usual(cls) -> Method:
        """The method with its defaults: one for all, as none can change it."""
        return cls()

    def __new__(cls, *args: Any, **options: Any) -> Method:
        """Refuse unknown options with the nearest known one, before the dataclass sees them."""
        known = [field.name for field in fields(cls)]
        for option in options:
            if option not in known:
                raise InputError(f"{cls.name} has no option {option!r}: {_way_out(option, known)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check the flags, and turn NumPy's scalars into Python's.

        A float64 scalar would promote a float32 iterate, and a float32 one is no `float`.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.generic):
                value = value.item()
                object.__setattr__(self, field.name, value)
            if field.type == "bool" and not isinstance(value, bool):
                raise InputError(f"{field.name} must be True or False, got {describe(value)}")
            if field.name == "search":
                object.__setattr__(self, "search", search_of(value, self.searches))

    @property
    def options(self) -> dict[str, Any]:
        """All options with their values, a search as text."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: str(v) if isinstance(v, Search) else v for key, v in values.items()}

    def check(self, problem: Problem) -> None:
        """Raise if this problem asks for what the method cannot do."""

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> Any:
        """The state at w₀."""
        raise NotImplementedError

    def moved(self, problem: Problem, state: Any, rng: np.random.Generator) -> Any:
        """The state at the same point of a problem that differs in its penalties alone.

        What a method knows of the data it may keep.
        """
        return self.init(problem, state.w, rng)

    def advance(self, problem: Problem, state: Any) -> Any:
        """The state one iteration on; `state` itself if there is no way on."""
        raise NotImplementedError

    def expected(self, problem: LinearProblem, hard: Difficulty) -> Expected | None:
        """Iterations to expect; None where a plan is not to think of this method."""
        return None

    def stability(self, state: Any, smoothness: float) -> tuple[str, float, float] | None:
        """The formula of the largest stable step on curvature L, that step, and the one in use.

        None where the method has no such limit.
        """
        return None

    def steepest(self, state: Any) -> tuple[float, str] | None:
        """The curvature that limits its steps and whose it is; None where it is the objective's."""
        return None

    def lower_bound(self, state: Any) -> float:
        """What F* is at least, as the method itself reckons: worth a proof where it is near F."""
        return -math.inf

    def has_cheap_step(self, problem: Problem, state: Any, left: float) -> bool:
        """Whether one more step would square the error for next to nothing."""
        return False

    def last_step(self, problem: Problem, state: Any) -> Any:
        """That step; `state` itself where it would gain nothing, or cost more after all."""
        return self.advance(problem, state)

    def dual_point(self, problem: Problem, state: Any) -> np.ndarray | None:
        """A point of the dual that is near that bound, float64[n] or [n, K]; None without one."""
        return None

    def guarantee(self, problem: Problem, state: Any) -> str:
        """What a theorem promises in expectation for this state; empty where nothing."""
        return ""


# Names for the same thing elsewhere, whichever of them a method has. `step` multiplies a gradient
# and has a limit 2/L; `lr` bounds the move of a coordinate and has none, so they are two names for
# two things.
_RENAMED = {
    "lr": ("step",),
    "learning_rate": ("lr", "step"),
    "alpha": ("lr", "step"),
    "eta": ("lr", "step"),
    "step": ("lr",),
    "beta": ("momentum",),
    "m": ("memory",),
}


def _way_out(option: str, known: list[str]) -> str:
    """What to write instead of an unknown option."""
    if not known:
        return "it takes none."
    for rename in _RENAMED.get(option, ()):
        if rename in known:
            return f"it is called {rename!r} here. {suggest('', known)}"
    return suggest(option, known)
