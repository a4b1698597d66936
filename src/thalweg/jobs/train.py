"""`train`: read the data, make the folder, train, put the result there; `resume`: go on with it.

read the data, state the problem        what is wrong with either leaves nothing behind
folder with job.json, encoding.json     from here on a kill loses at most some seconds
folds, where they are asked for: they choose a penalty, or score
plan.json, then the training itself     with a checkpoint every few seconds
run, model, result.json                 all of them or none: now it is finished
report.html                             without it, it is finished as well
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.certificates.critical_point import CriticalPoint
from thalweg.core.chosen import Chosen
from thalweg.core.environment import environment
from thalweg.core.errors import InputError, ThalwegError, WriteError
from thalweg.core.outcome import Outcome
from thalweg.core.plan import Plan
from thalweg.core.ranking import HELD_OUT, TRAINING
from thalweg.core.storage import clear_left, from_json, to_json, write_file, write_together
from thalweg.core.verdict import verdict_of
from thalweg.jobs.choosing import FOLDS, chosen_of
from thalweg.jobs.explanation import explanation_of
from thalweg.jobs.folds import cross_validate
from thalweg.jobs.limits import LIMITS, forget_limits, limited, limits_of, note_limits
from thalweg.jobs.opening import Note, Opened, opened, opened_again, silent
from thalweg.jobs.rows import check_folds, target_of
from thalweg.jobs.source import here, placed, scales
from thalweg.jobs.trained import Trained
from thalweg.jobs.trainer import trainer_of
from thalweg.runs.folder import (
    EXPLANATION,
    FORMAT,
    JOB,
    REPORT,
    RESULT,
    Header,
    begin,
    begun,
    check_free,
    explained,
    fingerprint_of,
    header_of,
    locked,
    result_of,
)
from thalweg.runs.job import Job
from thalweg.runs.prediction import scores_of
from thalweg.runs.saved import Saved
from thalweg.tables.table import Table

CHECKPOINT = "checkpoint"

Scores = Mapping[str, Mapping[str, float]]


class Done(NamedTuple):
    """What came of a training, and of the folds before it."""

    trained: Trained
    folds: Scores
    chosen: Chosen | None


def train(
    job: Job,
    folder: str | Path,
    *,
    command: str = "",
    progress: bool = True,
    report: bool = True,
    note: Note = silent,
    table: Table | None = None,
    made: Plan | None = None,
) -> Saved:
    """Do `job`, and leave everything in `folder`, which must be new.

    Parameters
    ----------
    command
        As typed, for the record.
    progress
        Whether to show progress on stderr.
    report
        Whether to write report.html.
    note
        Is told what a reader should know, a sentence at a time.
    table, made
        The data and the plan, where they are at hand already.

    >>> import tempfile, thalweg as tw
    >>> with tempfile.TemporaryDirectory() as place:
    ...     saved = tw.train(tw.Job("@cancer", standardize=True), f"{place}/first")
    ...     saved.run.converged, len(saved.predict("@cancer").values)
    (True, 569)
    """
    folder = Path(folder)
    check_free(folder)
    data = opened(job, note, table)
    ready = trainer_of(job).ready(job, data.rows, data.encoding)
    return train_opened(
        job, folder, data, ready,
        command=command, progress=progress, report=report, note=note, made=made,
    )  # fmt: skip


def train_opened(
    job: Job,
    folder: Path,
    data: Opened,
    ready: Any,
    *,
    command: str,
    progress: bool,
    report: bool,
    note: Note,
    made: Plan | None,
) -> Saved:
    """The same, where the data have been opened and what is trained has been made ready."""
    _check_folds(job, data)
    header = Header(job, command, str(Path.cwd()), data.fingerprint, environment())
    begin(folder, header, data.encoding)
    with locked(folder):
        try:
            done = _trained(folder, job, data, ready, progress, made)
            saved = _finish(folder, header, data, done)
        except ThalwegError:
            if not any(folder.glob(f"{CHECKPOINT}.*")):  # nothing that could be lost
                shutil.rmtree(folder, ignore_errors=True)
            raise
        return _ended(saved, report, note)


def resume(
    folder: str | Path,
    *,
    time_limit: float | None = None,
    max_iter: int | None = None,
    builder: str = "",
    progress: bool = True,
    report: bool = True,
    note: Note = silent,
) -> Saved:
    """Go on with a training that was killed, interrupted or ended by a limit.

    A training that was killed has what is left of its limits; one that a limit ended has that limit
    again, or `time_limit` seconds or `max_iter` iterations more. `builder` names the code of a
    network that was built by code.
    """
    folder = Path(folder)
    header = header_of(folder)
    before = result_of(folder)
    if before is not None and not Outcome[before["outcome"]].can_go_on:
        raise InputError(
            f"{folder} is finished ({before['verdict'].lower()}), and there is nothing to go on "
            f"with: look at it with thalweg report {folder}"
        )
    job = limited(header.job, folder, before, time_limit=time_limit, max_iter=max_iter)
    job = _here(job, header.directory, builder)
    data = opened_again(job, folder, header.fingerprint, note)
    ready = trainer_of(job).ready(job, data.rows, data.encoding)
    with locked(folder):
        clear_left(folder)
        had_limits = (folder / LIMITS).exists()
        note_limits(folder, before, job)
        try:
            done = _trained(folder, job, data, ready, progress, None)
        except ThalwegError:
            if not had_limits:  # nothing was trained: all is as it was
                forget_limits(folder)
            raise
        return _ended(_finish(folder, header, data, done, job), report, note)


def _here(job: Job, directory: str, builder: str) -> Job:
    """The job with its files found from here, and its code named again."""
    if job.builder and builder != job.builder:
        raise InputError(
            f"model must be named again, as it is code, got {builder or 'nothing'}: "
            f"--model {job.builder}"
        )
    return here(job, directory).changed(
        builder=placed(job.builder, directory) if job.builder else ""
    )


def _check_folds(job: Job, data: Opened) -> None:
    """Raise unless the rows are enough for the folds: all of them, or those that choose."""
    y = data.rows.y if job.chooses else target_of(data.table)
    asked = job.changed(folds=FOLDS) if job.chooses and not job.folds else job
    check_folds(asked, y, data.encoding)


def _trained(
    folder: Path, job: Job, data: Opened, ready: Any, progress: bool, made: Plan | None
) -> Done:
    """Train in a folder that has been begun; what came of it, and of its folds."""
    table, chosen, folds = data.table, None, {}
    if job.chooses:
        chosen = chosen_of(job, data.rows, data.encoding, folder, progress=progress)
        job = job.settled(chosen.point.l1, chosen.point.l2)
        l1, l2 = job.penalties(ready.n)
        ready = ready.replaced(l1=l1, l2=l2)
    elif job.folds:
        folds = cross_validate(job, table, folder, progress=progress)
    options = {} if made is None else {"made": made}
    trained = trainer_of(job).train(
        job, ready, table.encoding, folder=folder, progress=progress, **options
    )
    return Done(trained, folds, chosen)


def _finish(
    folder: Path,
    header: Header,
    data: Opened,
    done: Done,
    resumed: Job | None = None,
) -> Saved:
    """Put what came of it into the folder, in place of what an earlier training left there.

    What a `resumed` job may still take is kept where Ctrl-C ended it.
    """
    trained = done.trained
    run = trained.run
    result = to_json(_result(data, done))
    told = from_json(result, source=RESULT)
    told_of = explanation_of(trained, data.rows, data.encoding, header.job.seed)
    files = {**run.files(), **trained.files, EXPLANATION: explained(told_of, told["model"])}
    if resumed is not None and run.outcome is Outcome.INTERRUPTED:
        files[LIMITS] = limits_of(resumed, told)
    if not (folder / JOB).exists():  # somebody removed the folder meanwhile
        files |= begun(header, data.encoding)
    try:
        write_together(folder, {**files, RESULT: result})
    except WriteError as problem:
        gap = run.certificate.gap
        proved = "" if gap is None else f", duality gap {gap:.3g}"
        raise WriteError(f"{problem}; the training had ended: {told['verdict']}{proved}") from (
            problem
        )
    return Saved(folder, header, data.encoding, told)


def _ended(saved: Saved, report: bool, note: Note) -> Saved:
    """Clear away what a finished training does not need, and write its page, if it can be."""
    if not saved.run.outcome.can_go_on:
        for left in saved.folder.glob(f"{CHECKPOINT}.*"):
            with contextlib.suppress(OSError):
                left.unlink()
    if saved.run.outcome is not Outcome.INTERRUPTED:
        forget_limits(saved.folder)
    if report:
        write_report(saved, note)
    return saved


def write_report(saved: Any, note: Note) -> None:
    """The page of a run or a race; what came of it is told and kept also where the page is not."""
    try:
        write_file(saved.folder / REPORT, saved.report().html.encode())
    except WriteError as problem:
        note(f"{problem}; thalweg report {saved.folder} writes it later")


def _result(data: Opened, done: Done) -> dict[str, Any]:
    """What result.json holds."""
    trained = done.trained
    table, rows, run = data.table, data.rows, trained.run
    parts = {TRAINING: rows, HELD_OUT: rows.held}
    point = trained.point if isinstance(trained.point, CriticalPoint) else None
    return {
        "format": FORMAT,
        "verdict": verdict_of(run, point).word,
        "outcome": run.outcome.name,
        "certified": bool(run.converged),
        "gap": run.certificate.gap,
        "method": run.method,
        "objective": run.objective,
        "iterations": run.iterations,
        "seconds": run.seconds,
        "compiled": run.compiled,
        "rows": len(rows.y),
        "features": int(table.X.shape[1]),
        "scores": {
            **{
                name: scores_of(trained.model, part.X, part.y)
                for name, part in parts.items()
                if part is not None
            },
            **done.folds,
        },
        "findings": [asdict(finding) for finding in trained.findings],
        "data": table.card(),
        "scaling": scales(table),
        "notes": list(table.notes),
        "model": fingerprint_of(trained.model_file),
        **({} if done.chosen is None else {"choice": done.chosen.to_dict()}),
        **_told(trained.point),
    }


def _told(point: CriticalPoint | str | None) -> dict[str, Any]:
    """What result.json has of the point where a network ended; nothing of a linear model's."""
    if point is None or isinstance(point, str):
        return {} if point is None else {"point": point}
    return {"point": {**asdict(point), "escape": None}}
