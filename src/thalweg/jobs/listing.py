"""What a folder of runs holds, a record each; one that is damaged is listed, and stops nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.core.errors import InputError, ThalwegError
from thalweg.jobs.folder import JOB, RACE, is_locked
from thalweg.jobs.saved import load

FINISHED, RUNNING, UNFINISHED, DAMAGED = "finished", "running", "not finished", "damaged"
FIRST = ("mean recall", "accuracy", "R²")  # of the scores, what is shown


class Entry(NamedTuple):
    """A run, in a line."""

    id: str  # the name of its folder
    state: str  # "finished", "running", "not finished" or "damaged"
    when: str = ""  # it was begun, by ISO 8601
    data: str = ""
    model: str = ""  # "logistic", "mlp:64"
    method: str = ""
    outcome: str = ""  # of the run, by the name of its `Outcome`
    measure: str = ""  # the gap, or the score of a network
    gap: float | None = None
    score: float | None = None  # of the rows held out, or of those trained on
    seconds: float | None = None
    problem: str = ""  # what is damaged


def listing(root: str | Path) -> list[Entry]:
    """The runs in `root`, oldest first."""
    root = Path(root)
    if not root.exists():
        return []
    if not root.is_dir():
        raise InputError(f"root must be a folder of runs, got the file {root}")
    folders = [
        path
        for path in root.iterdir()
        if path.is_dir()
        and not path.name.startswith(".")
        and any((path / name).exists() for name in (JOB, RACE, "run.json", "result.json"))
    ]
    return sorted(map(entry_of, folders), key=lambda entry: (entry.when, entry.id))


def entry_of(folder: Path) -> Entry:
    """One folder, whatever it holds."""
    try:
        return _entry(folder)
    except (ThalwegError, OSError, KeyError, TypeError, ValueError, AttributeError) as problem:
        return Entry(folder.name, DAMAGED, problem=" ".join(str(problem).split()))


def _entry(folder: Path) -> Entry:
    saved = load(folder)
    begun = saved.members
    if not begun:
        return Entry(folder.name, UNFINISHED)
    is_race = (folder / RACE).exists()
    first = begun[0]
    job = first.job
    methods = saved.methods if is_race else (job.method,)
    known = {
        "when": str(first.header.environment.get("date", "")),
        "data": job.source,
        "model": job.builder or str((job.recipe or {}).get("layers", "")) or job.loss or "",
        "method": ", ".join(methods),
    }
    done = [each for each in begun if each.result is not None]
    if len(done) < len(methods):
        is_running = any(is_locked(each.folder) for each in begun if each.result is None)
        return Entry(folder.name, RUNNING if is_running else UNFINISHED, **known)
    best = saved.best
    result: Mapping[str, Any] = best.finished()
    if not job.is_network:
        known["model"] = str(result["objective"]).partition(" on ")[0]
    if not is_race:
        known["method"] = str(result["method"])
    gap, score = result["gap"], _score(result["scores"])
    measure = "" if gap is None else f"gap {gap:.2g}"
    if job.is_network or gap is None:
        measure = "" if score is None else f"{score[0]} {score[1]:.4g}"
    return Entry(
        folder.name,
        FINISHED,
        **known,
        outcome=str(result["outcome"]),
        measure=measure,
        gap=gap,
        score=None if score is None else score[1],
        seconds=sum(float(each.finished()["seconds"]) for each in done),
    )


def _score(scores: Mapping[str, Mapping[str, float]]) -> tuple[str, float] | None:
    """The measure to show, of held-out rows where there are some."""
    rows = scores.get("held out") or scores.get("training") or {}
    return next(((name, float(rows[name])) for name in FIRST if name in rows), None)
