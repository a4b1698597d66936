"""What a resumed training may take, and what it was given when it was cut off.

A training that was killed has what is left of its limits; one that a limit ended has that limit
again, or as much more as is asked for. While a resumed training goes on, the result of the one
before stays in the folder, and `limits.json` says what this one has, counted from the very start:

    {"since": iterations of the result that it goes on from, "time_limit": …, "max_iter": …}

A resume that finds it beside that result was itself cut off, and has the same limits. Beside any
other result it is left over, and says nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from thalweg.core.kinds import check_kinds
from thalweg.core.outcome import Outcome
from thalweg.core.storage import from_json, to_json, write_file
from thalweg.runs.job import Job

LIMITS = "limits.json"
NAMES = ("time_limit", "max_iter")
KINDS = {"since": int | float | None, **dict.fromkeys(NAMES, int | float | None)}


def limited(
    job: Job,
    folder: Path,
    before: Mapping[str, Any] | None,
    time_limit: float | None = None,
    max_iter: int | None = None,
) -> Job:
    """The job in `folder` with so much more than it had by the result `before`, or as it had."""
    had = given_to(folder, before) if time_limit is None and max_iter is None else {}
    if had:
        return replace(job, **{name: had[name] for name in NAMES})
    spent = {"seconds": 0.0, "iterations": 0} if before is None else before
    ended = None if before is None else Outcome[before["outcome"]]
    if time_limit is None and ended is Outcome.TIME_LIMIT:
        time_limit = job.time_limit
    if max_iter is None and ended is Outcome.ITERATION_LIMIT:
        max_iter = job.max_iter
    if time_limit is not None:
        job = replace(job, time_limit=time_limit + spent["seconds"])
    if max_iter is not None:
        job = replace(job, max_iter=max_iter + int(spent["iterations"]))
    return job


def note_limits(folder: Path, before: Mapping[str, Any] | None, job: Job) -> None:
    """Put down what the resumed training of `job` has, until `forget_limits`."""
    write_file(folder / LIMITS, limits_of(job, before))


def limits_of(job: Job, before: Mapping[str, Any] | None) -> bytes:
    """What the file holds of a job that goes on from the result `before`."""
    return to_json({"since": _since(before), **{name: getattr(job, name) for name in NAMES}})


def forget_limits(folder: Path) -> None:
    """The training has ended; where the file stays, it says nothing beside the new result."""
    with contextlib.suppress(OSError):
        (folder / LIMITS).unlink()


def was_cut_off(folder: Path, before: Mapping[str, Any] | None) -> bool:
    """Whether a kill or Ctrl-C ended what was trained last, and none of its limits."""
    if before is None or before["outcome"] == Outcome.INTERRUPTED.name:
        return True
    return bool(given_to(folder, before))


def given_to(folder: Path, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """The limits of a resume from `before` that was cut off; empty where there was none."""
    file = folder / LIMITS
    if not file.is_file():
        return {}
    content = from_json(file.read_bytes(), source=str(file))
    check_kinds(content, KINDS, source=str(file))
    return content if content["since"] == _since(before) else {}


def _since(before: Mapping[str, Any] | None) -> float | None:
    return None if before is None else before["iterations"]
