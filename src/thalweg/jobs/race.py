"""A race: the same job by several methods, one folder within another.

    runs/<id>/race.json       the methods, and the command
    runs/<id>/<method>/       a saved run each, which can be used by itself
    runs/<id>/report.html     all of them beside each other

The data are read once, and one plan is made for all. A race that was killed goes on with the method
it was at.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.core.errors import InputError, StorageError, ThalwegError
from thalweg.core.outcome import Outcome
from thalweg.core.plan import Plan
from thalweg.core.ranking import place
from thalweg.core.storage import (
    clear_left,
    from_json,
    read_folder,
    to_json,
    write_file,
    write_folder,
)
from thalweg.jobs.folder import FORMAT, JOB, RACE, REPORT, check_free
from thalweg.jobs.job import Job
from thalweg.jobs.rows import rows_of
from thalweg.jobs.saved import Saved, load
from thalweg.jobs.source import table_of
from thalweg.jobs.subject import subject_of_race
from thalweg.jobs.train import Note, resume, silent, train
from thalweg.jobs.trainer import trainer_of
from thalweg.reports.subject import Subject
from thalweg.tables.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class SavedRace:
    """Several saved runs of one job."""

    folder: Path
    command: str
    methods: tuple[str, ...]
    members: tuple[Saved, ...]  # those that have been begun, in the order of the methods

    @property
    def is_finished(self) -> bool:
        """Whether every method has run to its end."""
        done = [each for each in self.members if each.result is not None]
        return len(done) == len(self.methods)

    @property
    def ranked(self) -> tuple[Saved, ...]:
        """Those that are finished, best first."""
        done = [each for each in self.members if each.result is not None]
        return tuple(sorted(done, key=lambda saved: place(saved.contender)))

    @property
    def best(self) -> Saved:
        """The winner."""
        if not self.ranked:
            raise InputError(
                f"{self.folder} has not been finished: go on with it by "
                f"thalweg train --resume {self.folder}"
            )
        return self.ranked[0]

    @property
    def plan(self) -> Plan | None:
        """What was predicted of each method, beside what it took."""
        plan = self.best.run.plan
        for each in self.ranked if plan is not None else ():
            assert plan is not None
            plan = plan.after(each.run.method, each.run.iterations, each.run.seconds)
        return plan

    def predict(self, source: Any, **options: Any) -> Any:
        """What the winner says of new rows."""
        return self.best.predict(source, **options)

    def subject(self) -> Subject:
        """What a report on the race shows."""
        return subject_of_race(self.ranked or (self.best,), self.command)

    def report(self) -> Any:
        """A page that compares them."""
        from thalweg.reports.report import report

        return report(self.subject())

    def __repr__(self) -> str:
        return "\n".join([f"{self.folder}: {len(self.methods)} methods", *map(repr, self.members)])


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
    content = _content(folder)
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


def load_race(folder: str | Path) -> SavedRace:
    """The race in `folder`."""
    folder = Path(folder)
    content = _content(folder)
    begun = [folder / slug for slug in content["methods"] if (folder / slug / JOB).exists()]
    return SavedRace(
        folder, content["command"], tuple(content["methods"].values()), tuple(map(load, begun))
    )


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


def _content(folder: Path) -> dict[str, Any]:
    content = from_json(read_folder(folder, (RACE,))[RACE], source=f"{folder}/{RACE}")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StorageError(
            f"{folder}/{RACE} has another format than this version of Thalweg reads, {FORMAT}: "
            "read it with the version that wrote it"
        )
    return content
