"""A journey put aside, and taken up again: all that the next iteration depends on, in one file."""

from __future__ import annotations

import math

from thalweg.core.clock import now
from thalweg.core.errors import InputError, StorageError
from thalweg.core.kinds import damaged
from thalweg.core.trace import Trace
from thalweg.methods.journey import Best, Journey
from thalweg.methods.payment import Payment
from thalweg.running import checkpoint as storage
from thalweg.running.checkpoint import Checkpoint, Saved

SAME = 1e-4  # by which two computations of one value may differ, float32 sums included
# Numbers of a journey that are written and read as they are.
NUMBERS = (
    "iteration", "first_value", "first_norm", "best_norm", "improved_at", "looked_exactly_at",
    "rough",
)  # fmt: skip


def keep(checkpoint: Checkpoint, journey: Journey) -> None:
    """Put the run aside; a disk that has filled up since is a finding, not the end of the run."""
    try:
        put_aside(checkpoint, journey)
        journey.storage_problem = ""
    except StorageError as problem:
        journey.storage_problem = str(problem)


def put_aside(checkpoint: Checkpoint, journey: Journey) -> None:
    """Write the run; what the disk takes is no part of its seconds, or disks would win races."""
    begun = now()
    storage.save(
        checkpoint.file,
        journey.identity,
        {
            **{name: getattr(journey, name) for name in NUMBERS},
            "seconds": journey.seconds,
            "compiled": journey.clock.compiled,
            "counts": journey.problem.counts,
            "is_summed": journey.problem.is_summed,
            "generator": journey.rng.bit_generator.state,
            "stride": journey.trace.stride,
            "best_value": journey.best.value,
            "payment": journey.payment,
            "watch": journey.overseer.record() if journey.overseer else None,
        },
        journey.state,
        {
            "trace": journey.trace.rows,
            "best_w": journey.best.w,
        },
    )
    journey.clock.leave_out(now() - begun)


def take_up(checkpoint: Checkpoint, saved: Saved, journey: Journey) -> None:
    """Lead a journey that has not begun to where the saved one was put aside."""
    storage.check_same(checkpoint.file, saved, journey.identity)
    try:
        _put(saved, journey)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as problem:
        raise damaged(str(checkpoint.file), problem) from problem
    _check_value(checkpoint, journey)
    progress = saved.progress
    journey.problem.restore(progress["counts"], is_summed=progress.get("is_summed", False))


def _put(saved: Saved, journey: Journey) -> None:
    """Its numbers, arrays and state in their places."""
    progress, arrays, method = saved.progress, saved.arrays, journey.method
    for name in NUMBERS:
        if name in progress:  # earlier files have fewer
            setattr(journey, name, progress[name])
    journey.best = Best(arrays["best_w"], progress["best_value"])
    journey.trace = Trace(arrays["trace"], stride=progress["stride"])
    journey.payment = Payment(*progress["payment"]) if progress["payment"] else None
    journey.clock.go_on(progress["seconds"], progress.get("compiled", 0.0))
    journey.rng.bit_generator.state = progress["generator"]
    again = {"rng": journey.rng} if "rng" in method.State.__annotations__ else {}
    journey.state = method.State(**saved.state, **again)


def _check_value(checkpoint: Checkpoint, journey: Journey) -> None:
    """Raise unless f is what it was: a name alone does not tell two functions apart."""
    best, problem = journey.best, journey.problem
    now = problem.value(best.w) + problem.penalty(best.w)
    if not math.isclose(now, best.value, rel_tol=SAME, abs_tol=SAME):
        raise InputError(
            f"checkpoint {checkpoint.file} belongs to another run: at its best point the value was "
            f"{best.value:.9g}, that of {problem.name} is {now:.9g}: "
            "give another file, or remove that one"
        )
