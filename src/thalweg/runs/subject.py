"""What a report on a saved run shows: everything that its folder holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.core.ranking import place
from thalweg.curvature.density import SpectralDensity
from thalweg.reports.subject import Subject
from thalweg.runs.command import command_of, script_of
from thalweg.runs.folder import RECORD, SPECTRUM

if TYPE_CHECKING:
    from thalweg.runs.saved import Saved


MOST = 1_000  # coefficients that a page has


def subject_of(saved: Saved) -> Subject:
    """The subject of a report on one run."""
    result = saved.finished()
    return Subject(
        runs=(saved.run,),
        title=f"{saved.run.method} on {saved.job.source}",
        record=_record(saved.folder / RECORD),
        findings=tuple(saved.findings),
        point=saved.point,
        spectrum=_spectrum(saved.folder / SPECTRUM),
        data=tuple((str(label), str(text)) for label, text in result["data"]),
        scaling=tuple((str(name), float(m), float(s)) for name, m, s in result["scaling"]),
        scores=saved.scores,
        command=saved.header.command or command_of(saved.job),
        script=_script(saved),
        settings=saved.job.to_dict(),
        notes=tuple(map(str, result["notes"])),
        coefficients=() if saved.job.is_network else tuple(saved.coefficients(MOST)),
        explanation=saved.explanation,
        chosen=saved.chosen,
    )


def subject_of_race(members: Sequence[Saved], command: str) -> Subject:
    """The subject of a report that compares runs on the same data; what is found is the best's."""
    members = sorted(members, key=lambda saved: place(saved.contender))
    best = subject_of(members[0])
    return Subject(
        runs=tuple(each.run for each in members),
        title=f"{len(members)} methods on {members[0].job.source}",
        findings=best.findings,
        data=best.data,
        scaling=best.scaling,
        scores={
            f"{each.job.method}, {rows}": measures
            for each in members
            for rows, measures in each.scores.items()
        },
        command=command,
        settings=best.settings,
        notes=best.notes,
        coefficients=best.coefficients,
        explanation=best.explanation,
        points=tuple(each.point for each in members),
        scores_of_runs=tuple(each.scores for each in members),
    )


def _script(saved: Saved) -> str:
    job, n = saved.job, int(saved.finished()["rows"])
    if job.is_network or job.validation is not None:
        return f'import thalweg as tw\n\nsaved = tw.load("{saved.folder.as_posix()}")\n'
    method = job.method if job.method != "auto" else saved.run.method
    return script_of(job, saved.linear_model.loss, *job.penalties(n), method)


def _record(file: Path) -> Any:
    if not file.exists():
        return None
    from thalweg.core.record import Record

    return Record.load(file)


def _spectrum(file: Path) -> SpectralDensity | None:
    return SpectralDensity.from_bytes(file.read_bytes()) if file.exists() else None
