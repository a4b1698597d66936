"""A race: the same job by several methods, one folder within another.

The data are opened once, every problem is built once, and one plan is made for all. A race that was
killed goes on with the method it was at.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thalweg.core.errors import InputError, ThalwegError
from thalweg.core.outcome import Outcome
from thalweg.core.plan import Plan
from thalweg.core.storage import (
    clear_left,
    to_json,
    write_folder,
)
from thalweg.jobs.limits import was_cut_off
from thalweg.jobs.opening import Note, Opened, opened, silent
from thalweg.jobs.train import resume, train_opened, write_report
from thalweg.jobs.trainer import trainer_of
from thalweg.runs.folder import FORMAT, JOB, RACE, check_free
from thalweg.runs.job import MANY, Job
from thalweg.runs.saved import Saved, load
from thalweg.runs.saved_race import SavedRace, load_race, race_of, slug_of


def train_race(
    job: Job,
    methods: Sequence[str],
    folder: str | Path,
    *,
    command: str = "",
    progress: bool = True,
    report: bool = True,
    note: Note = silent,
) -> SavedRace:
    """Do `job` by each of `methods`, and leave everything in `folder`, which must be new."""
    if job.chooses:
        raise InputError(
            f"l1 and l2 must be one penalty each where methods are compared, got l1 = {job.l1} and "
            f"l2 = {job.l2}: let one training choose, thalweg train with one -m, and compare by "
            "what it tells"
        )
    folder = Path(folder)
    check_free(folder)
    slugs = _slugs(methods)
    data = opened(job, note)
    ready = _checked(job, methods, data)
    asked = to_json({"format": FORMAT, "command": command, "methods": slugs, "job": job.to_dict()})
    write_folder(folder, {RACE: asked}, marker=RACE)
    try:
        return _go(
            folder, job, slugs, data, ready,
            command=command, progress=progress, report=report, note=note,
        )  # fmt: skip
    except ThalwegError:
        if not any((folder / slug / JOB).exists() for slug in slugs):
            shutil.rmtree(folder, ignore_errors=True)
        raise


def resume_race(
    folder: str | Path,
    *,
    time_limit: float | None = None,
    max_iter: int | None = None,
    builder: str = "",
    progress: bool = True,
    report: bool = True,
    note: Note = silent,
) -> SavedRace:
    """Go on with a race: methods that were stopped, and those that had not begun.

    Of a race that was killed or interrupted, methods that a limit had ended are done: as long again
    would be twice what the others get. They go on with limits of their own, `time_limit` seconds
    or `max_iter` iterations more, and where every method has ended, by the old limits again. Those
    that were cut off or had not begun have the old limits and these, so that all have as much.
    """
    folder = Path(folder)
    job, command, slugs = race_of(folder)
    clear_left(folder)
    begun = {slug: load(folder / slug) for slug in slugs if (folder / slug / JOB).exists()}
    cut_off = {slug for slug, saved in begun.items() if was_cut_off(saved.folder, saved.result)}
    has_more = time_limit is not None or max_iter is not None
    takes_ended = has_more or (len(begun) == len(slugs) and not cut_off)
    for slug, saved in begun.items():
        if slug in cut_off or (takes_ended and saved.run.outcome.can_go_on):
            more = _more(saved, time_limit, max_iter) if slug in cut_off else (time_limit, max_iter)
            again = resume(
                folder / slug, time_limit=more[0], max_iter=more[1], builder=builder,
                progress=progress, report=False, note=note,
            )  # fmt: skip
            if again.run.outcome is Outcome.INTERRUPTED:
                return load_race(folder)
    data = opened(job, note) if len(begun) < len(slugs) else None
    job = job.changed(
        time_limit=_both(job.time_limit, time_limit),
        max_iter=_both(job.max_iter, max_iter) or job.max_iter,
    )
    return _go(
        folder, job, slugs, data, {}, command=command, progress=progress, report=report, note=note
    )


def _both(old: Any, new: Any) -> Any:
    """The old limit and the new one; the new one where there was none, the old where none is."""
    if new is None or old is None:
        return old if new is None else new
    return new if old == MANY else old + new


def _more(
    saved: Saved, time_limit: float | None, max_iter: int | None
) -> tuple[float | None, int | None]:
    """What `resume` is to add to what a method that was cut off has had, to make that."""
    had = saved.result or {"seconds": 0.0, "iterations": 0}  # of a killed one: in its checkpoint
    seconds = None if time_limit is None else _both(saved.job.time_limit, time_limit)
    count = None if max_iter is None else _both(saved.job.max_iter, max_iter)
    return (
        None if seconds is None else max(seconds - had["seconds"], time_limit or 0.0),
        None if count is None else max(count - int(had["iterations"]), max_iter or 0),
    )


def _checked(job: Job, methods: Sequence[str], data: Opened) -> dict[str, Any]:
    """What the first method trains, made ready; raises where any of them does not take it."""
    first, *others = methods
    trainer = trainer_of(job)
    ready = trainer.ready(job.changed(method=first), data.rows, data.encoding)
    for method in others:
        trainer.check(job.changed(method=method), ready, data.encoding)
    return {first: ready}


def _go(
    folder: Path,
    job: Job,
    slugs: dict[str, str],
    data: Opened | None,
    ready: dict[str, Any],
    *,
    command: str,
    progress: bool,
    report: bool,
    note: Note,
) -> SavedRace:
    """The methods that have not begun, one after the other; then the page.

    What is `ready` is taken out of the dictionary and trained. Every other method has its own made
    when it begins: one that another has used would hold sums and bounds that it then has for
    nothing, and the winner would be decided by the order.
    """
    made: Plan | None = None
    for slug, method in slugs.items():
        if (folder / slug / JOB).exists():
            continue
        assert data is not None
        member, make = job.changed(method=method), trainer_of(job).ready
        saved = train_opened(
            member, folder / slug, data,
            ready.pop(method) if method in ready else make(member, data.rows, data.encoding),
            command=command, progress=progress, report=False, note=note, made=made,
        )  # fmt: skip
        if saved.run.outcome is Outcome.INTERRUPTED:
            return load_race(folder)
        made = made or saved.run.plan
    race = load_race(folder)
    if report and race.is_finished:
        write_report(race, note)
    return race


def _slugs(methods: Sequence[str]) -> dict[str, str]:
    """The methods by the names of their folders."""
    slugs: dict[str, str] = {}
    for method in methods:
        slug = slug_of(method)
        if slug in slugs:
            raise InputError(f"method must differ from the others, got {method!r} twice")
        slugs[slug] = method
    return slugs
