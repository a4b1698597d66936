"""What a report on a saved run shows: everything that its folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.certificates.critical_point import CriticalPoint
from thalweg.curvature.density import SpectralDensity
from thalweg.jobs.command import command_of, script_of
from thalweg.jobs.penalty import penalty_of
from thalweg.reports.subject import Subject

if TYPE_CHECKING:
    from thalweg.jobs.saved import Saved

RECORD, SPECTRUM = "record.npz", "spectrum.npz"


def subject_of(saved: Saved) -> Subject:
    """The subject of a report on one run."""
    result = saved.finished()
    return Subject(
        runs=(saved.run,),
        title=f"{saved.run.method} on {saved.job.source}",
        record=_record(saved.folder / RECORD),
        findings=tuple(saved.findings),
        point=_point(result.get("point")),
        spectrum=_spectrum(saved.folder / SPECTRUM),
        data=tuple((str(label), str(text)) for label, text in result["data"]),
        scaling=tuple((str(name), float(m), float(s)) for name, m, s in result["scaling"]),
        scores=saved.scores,
        command=saved.header.command or command_of(saved.job),
        script=_script(saved),
        settings=saved.job.to_dict(),
        notes=tuple(map(str, result["notes"])),
    )


def subject_of_race(members: tuple[Saved, ...], command: str) -> Subject:
    """The subject of a report that compares runs on the same data; the first is the best."""
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
    )


def _script(saved: Saved) -> str:
    job, n = saved.job, int(saved.finished()["rows"])
    if job.is_network or job.validation is not None:
        return f'import thalweg as tw\n\nsaved = tw.load("{saved.folder.as_posix()}")\n'
    l1, l2 = (penalty_of(name, getattr(job, name)).of(n) for name in ("l1", "l2"))
    method = job.method if job.method != "auto" else saved.run.method
    return script_of(job, saved.linear_model.loss, l1, l2, method)


def _record(file: Path) -> Any:
    if not file.exists():
        return None
    from thalweg.core.record import Record

    return Record.load(file)


def _point(record: Any) -> CriticalPoint | None:
    """The verdict on where a network's training ended; None where there is none."""
    return CriticalPoint(**record) if isinstance(record, dict) else None


def _spectrum(file: Path) -> SpectralDensity | None:
    return SpectralDensity.from_bytes(file.read_bytes()) if file.exists() else None
