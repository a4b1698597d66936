"""The runs in a folder, each in one line, newest first.

Each is loaded as it is for any other use, so that a folder that is damaged is listed as that, with
the reason; of a network's weights only their hash is looked at.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from thalweg.core.errors import InputError, ThalwegError
from thalweg.core.outcome import Outcome
from thalweg.runs.folder import ENCODING, JOB, RACE, RESULT, is_locked
from thalweg.runs.job import Job
from thalweg.runs.saved import load
from thalweg.runs.saved_race import race_of

UNFINISHED, TRAINING, DAMAGED = "UNFINISHED", "TRAINING", "DAMAGED"
GO_ON = {each.name for each in Outcome if each.can_go_on}
MARKS = (JOB, ENCODING, RESULT)  # any of them shows that a folder is meant to hold a run
MEASURES = ("accuracy", "R²")  # the one number of a list


class Summary(NamedTuple):
    """One run of a list."""

    folder: Path
    state: str  # a verdict, or UNFINISHED, TRAINING (now), DAMAGED
    date: str = ""  # when it began
    data: str = ""
    model: str = ""
    method: str = ""
    gap: float | None = None
    score: tuple[str, float] | None = None  # measure and number, of held-out rows if there are
    seconds: float | None = None
    problem: str = ""  # of a damaged one


def listing(root: str | Path) -> list[Summary]:
    """The runs in `root`, those of races included."""
    root = Path(root)
    if not root.exists():
        return []
    if not root.is_dir():
        raise InputError(f"root must be a folder of runs, got the file {root}")
    folders = [each for folder in sorted(root.iterdir()) for each in _runs(folder)]
    found = [each for each in map(_summary, folders) if each is not None]
    return sorted(found, key=lambda each: each.date, reverse=True)


def _runs(folder: Path) -> list[Path]:
    """Folders of runs at `folder`: itself, or the members of a race."""
    if not folder.is_dir() or folder.name.startswith("."):
        return []
    if (folder / RACE).exists():
        return [folder, *(each for each in sorted(folder.iterdir()) if (each / JOB).exists())]
    return [folder] if any((folder / mark).exists() for mark in MARKS) else []


def _summary(folder: Path) -> Summary | None:
    """The line of a run; a race has one of its own where it is damaged, or nothing has begun."""
    try:
        if (folder / RACE).exists():
            race = race_of(folder)
            if any((folder / slug / JOB).exists() for slug in race.methods):
                return None
            return Summary(folder, UNFINISHED, data=race.job.source, model=_model(race.job))
        saved = load(folder)
    except (ThalwegError, OSError) as problem:
        return Summary(folder, DAMAGED, problem=str(problem))
    header, result = saved.header, saved.result
    job = header.job
    begun = Summary(
        folder, UNFINISHED, header.environment.get("date", ""), job.source, _model(job), job.method
    )
    if result is None or result["outcome"] in GO_ON:
        if is_locked(folder):
            return begun._replace(state=TRAINING)
        if result is None:
            return begun
    return begun._replace(
        state=result["verdict"],
        method=result["method"],
        gap=result.get("gap"),
        score=_score(result["scores"]),
        seconds=result["seconds"],
    )


def _model(job: Job) -> str:
    if job.builder:
        return job.builder
    if job.recipe is not None:
        return str(job.recipe.get("layers", "network"))
    return job.loss or "linear"


def _score(scores: dict[str, dict[str, float]]) -> tuple[str, float] | None:
    rows = scores.get("held out") or scores.get("training") or {}
    return next(((name, rows[name]) for name in MEASURES if name in rows), None)
