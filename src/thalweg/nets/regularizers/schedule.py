"""How the strength of a regularizer changes while training goes on.

A schedule is a function of the progress t, from 0 at the first step to 1 at the last; the strength
is multiplied by it.

    constant          1
    linear            0 at t = start, 1 from t = stop on, straight in between
    cosine            the same ends, (1 − cos πz)/2 in between, z = (t − start)/(stop − start)
    towards the end   0 before t = after, 1 from then on

The last is the lectures' "L1 towards the end of training": weights first find what they are for,
and then those that do little go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from thalweg.core.checks import check_choice, check_number
from thalweg.core.errors import InputError

Schedule = Callable[[float], float]


@dataclass(frozen=True)
class Constant:
    """The same all the time."""

    def __call__(self, progress: float) -> float:
        """1."""
        return 1.0


@dataclass(frozen=True)
class LinearRamp:
    """From 0 at `start` straight up to 1 at `stop`."""

    start: float = 0.0
    stop: float = 1.0

    def __post_init__(self) -> None:
        check_number("start", self.start, at_least=0.0, at_most=1.0)
        check_number("stop", self.stop, at_least=0.0, at_most=1.0)
        if not self.start < self.stop:
            raise InputError(f"stop must come after start, {self.start:g}, got {self.stop:g}")

    def __call__(self, progress: float) -> float:
        """The share of the way."""
        return min(1.0, max(0.0, (progress - self.start) / (self.stop - self.start)))


@dataclass(frozen=True)
class CosineRamp(LinearRamp):
    """The same, slow at both ends."""

    def __call__(self, progress: float) -> float:
        """Half a wave."""
        return (1.0 - math.cos(math.pi * super().__call__(progress))) / 2.0


@dataclass(frozen=True)
class TowardsEnd:
    """Nothing before the share `after` of training, all from then on."""

    after: float = 0.8

    def __post_init__(self) -> None:
        check_number("after", self.after, at_least=0.0, at_most=1.0)

    def __call__(self, progress: float) -> float:
        """0 or 1."""
        return 1.0 if progress >= self.after else 0.0


SCHEDULES: dict[str, Schedule] = {
    "constant": Constant(),
    "linear": LinearRamp(),
    "cosine": CosineRamp(),
    "towards the end": TowardsEnd(),
}


def schedule_of(schedule: Any) -> Schedule:
    """A schedule by name, or the function that was given."""
    if callable(schedule):
        return schedule
    return SCHEDULES[check_choice("schedule", schedule, tuple(SCHEDULES))]
