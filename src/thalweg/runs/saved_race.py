"""Several saved runs of one job, loaded: who won, and what a report on them shows.

runs/<id>/race.json       the methods, and the command
runs/<id>/<method>/       a saved run each, which can be used by itself
runs/<id>/report.html     all of them beside each other
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.core.errors import InputError, StorageError
from thalweg.core.plan import Plan
from thalweg.core.ranking import place
from thalweg.core.storage import from_json, read_folder
from thalweg.reports.report import Report, report
from thalweg.reports.subject import Subject
from thalweg.runs.folder import FORMAT, JOB, RACE
from thalweg.runs.saved import Saved, load
from thalweg.runs.subject import subject_of_race


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
    content = race_of(folder)
    begun = [folder / slug for slug in content["methods"] if (folder / slug / JOB).exists()]
    return SavedRace(
        folder, content["command"], tuple(content["methods"].values()), tuple(map(load, begun))
    )


def race_of(folder: Path) -> dict[str, Any]:
    """What `race.json` holds."""
    content = from_json(read_folder(folder, (RACE,))[RACE], source=f"{folder}/{RACE}")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StorageError(
            f"{folder}/{RACE} has another format than this version of Thalweg reads, {FORMAT}: "
            "read it with the version that wrote it"
        )
    return content
