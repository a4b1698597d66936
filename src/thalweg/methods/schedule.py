"""How a step shrinks with time: constant, 1/t, 1/√t.

    constant   η_t = η
    1/t        η_t = η/t          for strongly convex objectives under noise
    1/sqrt(t)  η_t = η/√t         for convex ones

t counts from 1, so that the first step is η in all three.
"""

from __future__ import annotations

from typing import Any

from thalweg.core.checks import check_choice, check_number
from thalweg.core.errors import InputError

SCHEDULES = ("constant", "1/t", "1/sqrt(t)")


def check_schedule(schedule: str) -> None:
    """Raise unless the schedule is one of `SCHEDULES`."""
    if schedule != "1/√t":  # the same as 1/sqrt(t), for those who can type it
        check_choice("schedule", schedule, SCHEDULES)


def check_step(step: float | None, schedule: str = "constant", search: Any = None) -> None:
    """Raise unless the step is positive, or None with nothing to shrink it, or searched for."""
    check_schedule(schedule)
    if step is not None and search is not None:
        raise InputError(
            f"step must be left out beside a search, which finds it, got {step!r}: leave one out"
        )
    if step is not None:
        check_number("step", step, above=0.0, advice="leave it out to have it chosen")
    elif schedule != "constant":
        raise InputError(
            f"schedule {schedule!r} needs a first step to shrink, got step=None: "
            "give step a number, or leave schedule out"
        )


def scheduled(step: float, schedule: str, t: int) -> float:
    """η_t."""
    match schedule:
        case "1/t":
            return step / t
        case "1/sqrt(t)" | "1/√t":
            return step / t**0.5
        case _:
            return step
