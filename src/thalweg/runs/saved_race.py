"""Several saved runs of one job, loaded: who won, and what a report on them shows.

runs/<id>/race.json       the methods, and the command
runs/<id>/<method>/       a saved run each, which can be used by itself
runs/<id>/report.html     all of them beside each other
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.core.errors import InputError
from thalweg.core.kinds import check_kinds, damaged
from thalweg.core.plan import Plan
from thalweg.core.ranking import place
from thalweg.core.storage import check_format, from_json, read_folder
from thalweg.reports.report import Report, report
from thalweg.reports.subject import Subject
from thalweg.runs.folder import FORMAT, JOB, RACE
from thalweg.runs.job import Job
from thalweg.runs.saved import Saved, load
from thalweg.runs.subject import subject_of_race


class RaceHeader(NamedTuple):
    """What `race.json` holds."""

    job: Job
    command: str  # as typed; empty where it came from Python
    methods: dict[str, str]  # folder → method


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

    def report(self) -> Report:
        """A page that compares them."""
        return report(self.subject())

    def __repr__(self) -> str:
        return "\n".join([f"{self.folder}: {len(self.methods)} methods", *map(repr, self.members)])


def load_race(folder: str | Path) -> SavedRace:
    """The race in `folder`."""
    folder = Path(folder)
    race = race_of(folder)
    begun = [folder / slug for slug in race.methods if (folder / slug / JOB).exists()]
    return SavedRace(folder, race.command, tuple(race.methods.values()), tuple(map(load, begun)))


def race_of(folder: Path) -> RaceHeader:
    """What was asked of the race in `folder`."""
    file = folder / RACE
    content = from_json(read_folder(folder, (RACE,))[RACE], source=str(file))
    check_format(content, FORMAT, source=str(file))
    check_kinds(content, {"job": dict, "command": str, "methods": dict}, source=str(file))
    try:
        race = RaceHeader(Job.from_dict(content["job"]), content["command"], content["methods"])
        for slug, method in race.methods.items():
            # A race is trained where its names say, and they may come from anywhere.
            if slug != slug_of(method):
                raise ValueError(f"the folder of {method!r} is {slug!r}, not {slug_of(method)!r}")
    except (TypeError, ValueError) as problem:
        raise damaged(str(file), problem) from problem
    return race


def slug_of(method: str) -> str:
    """A name for the folder of a method: sag[sampling=lipschitz] → sag-sampling-lipschitz."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", method).strip("-.") or "method"
