"""A race: the same job by several methods, one folder within another.

The data are read once, and one plan is made for all. A race that was killed goes on with the method
it was at.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from thalweg.core.errors import InputError, ThalwegError
from thalweg.core.outcome import Outcome
from thalweg.core.plan import Plan
from thalweg.core.storage import (
    clear_left,
    to_json,
    write_file,
    write_folder,
)
from thalweg.jobs.rows import rows_of
from thalweg.jobs.source import table_of
from thalweg.jobs.train import Note, resume, silent, train
from thalweg.jobs.trainer import trainer_of
from thalweg.runs.folder import FORMAT, JOB, RACE, REPORT, check_free
from thalweg.runs.job import Job
from thalweg.runs.saved import load
from thalweg.runs.saved_race import SavedRace, load_race, race_of
from thalweg.tables.table import Table


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
    folder = Path(folder)
    check_free(folder)
    slugs = _slugs(methods)
    table = table_of(job)
    rows = rows_of(job, table)
    for method in methods:
        trainer_of(job).ready(job.changed(method=method), rows, table.encoding)
    content = {"format": FORMAT, "command": command, "methods": slugs, "job": job.to_dict()}
    write_folder(folder, {RACE: to_json(content)}, marker=RACE)
    try:
        return _go(folder, job, slugs, table, command, progress, report, note)
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
    """Go on with a race: methods that were stopped, and those that had not begun."""
    folder = Path(folder)
    content = race_of(folder)
    job, slugs = Job.from_dict(content["job"]), dict(content["methods"])
    clear_left(folder)
    for slug in slugs:
        place = folder / slug
        saved = load(place) if (place / JOB).exists() else None
        if saved is not None and (saved.result is None or saved.run.outcome.can_go_on):
            again = resume(
                place, time_limit=time_limit, max_iter=max_iter, builder=builder,
                progress=progress, report=False, note=note,
            )  # fmt: skip
            if again.run.outcome is Outcome.INTERRUPTED:
                return load_race(folder)
    return _go(folder, job, slugs, None, content["command"], progress, report, note)


def _go(
    folder: Path,
    job: Job,
    slugs: dict[str, str],
    table: Table | None,
    command: str,
    progress: bool,
    report: bool,
    note: Note,
) -> SavedRace:
    """The methods that have not begun, one after the other; then the page."""
    made: Plan | None = None
    for slug, method in slugs.items():
        if (folder / slug / JOB).exists():
            continue
        table = table_of(job) if table is None else table
        saved = train(
            job.changed(method=method), folder / slug, command=command, progress=progress,
            report=False, note=note, table=table, made=made,
        )  # fmt: skip
        note = silent  # the data are the same for all
        if saved.run.outcome is Outcome.INTERRUPTED:
            return load_race(folder)
        made = made or saved.run.plan
    race = load_race(folder)
    if report and race.is_finished:
        write_file(folder / REPORT, race.report().html.encode())
    return race


def _slugs(methods: Sequence[str]) -> dict[str, str]:
    """A name for the folder of each method: sag[sampling=lipschitz] → sag-sampling-lipschitz."""
    slugs: dict[str, str] = {}
    for method in methods:
        slug = re.sub(r"[^A-Za-z0-9.]+", "-", method).strip("-.") or "method"
        if slug in slugs:
            raise InputError(f"method must differ from the others, got {method!r} twice")
        slugs[slug] = method
    return slugs
