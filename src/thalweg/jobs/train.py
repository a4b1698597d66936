"""`train`: read the data, make the folder, train, put the result there; `resume`: go on with it.

read the data, state the problem        what is wrong with either leaves nothing behind
folder with job.json, encoding.json     from here on a kill loses at most some seconds
folds, where they are asked for
plan.json, then the training itself     with a checkpoint every few seconds
run, model, findings, report            each file in one step
result.json                             the last: now it is finished
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from thalweg.certificates.critical_point import CriticalPoint
from thalweg.core.environment import environment
from thalweg.core.errors import InputError, ThalwegError
from thalweg.core.outcome import Outcome
from thalweg.core.plan import Plan
from thalweg.core.ranking import HELD_OUT, TRAINING
from thalweg.core.storage import clear_left, from_json, to_json, write_file
from thalweg.core.verdict import verdict_of
from thalweg.jobs.folds import cross_validate
from thalweg.jobs.opening import Note, Opened, opened, opened_again, silent
from thalweg.jobs.rows import check_folds
from thalweg.jobs.source import here, placed, scales
from thalweg.jobs.trainer import trainer_of
from thalweg.runs.folder import (
    FORMAT,
    REPORT,
    RESULT,
    Header,
    begin,
    check_free,
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
        job, folder, data, ready, command=command, progress=progress, report=report, made=made
    )


def train_opened(
    job: Job,
    folder: Path,
    data: Opened,
    ready: Any,
    *,
    command: str,
    progress: bool,
    report: bool,
    made: Plan | None,
) -> Saved:
    """The same, where the data have been opened and what is trained has been made ready."""
    check_folds(job, data.table)
    header = Header(job, command, str(Path.cwd()), data.fingerprint, environment())
    begin(folder, header, data.encoding)
    with locked(folder):
        try:
            return _go(folder, header, job, data, ready, progress, report, made)
        except ThalwegError:
            if not any(folder.glob(f"{CHECKPOINT}.*")):  # nothing that could be lost
                shutil.rmtree(folder, ignore_errors=True)
            raise


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
    job = _with_limits(header.job, before, time_limit, max_iter)
    job = _here(job, header.directory, builder)
    data = opened_again(job, folder, header.fingerprint, note)
    ready = trainer_of(job).ready(job, data.rows, data.encoding)
    with locked(folder):
        clear_left(folder)
        (folder / RESULT).unlink(missing_ok=True)
        return _go(folder, header, job, data, ready, progress, report, None)


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


def _with_limits(
    job: Job, before: Mapping[str, Any] | None, time_limit: float | None, max_iter: int | None
) -> Job:
    """The job with as much more as was asked for, or as it had."""
    spent = {"seconds": 0.0, "iterations": 0} if before is None else before
    ended = None if before is None else Outcome[before["outcome"]]
    if time_limit is None and ended is Outcome.TIME_LIMIT:
        time_limit = job.time_limit
    if max_iter is None and ended is Outcome.ITERATION_LIMIT:
        max_iter = job.max_iter
    if time_limit is not None:
        job = replace(job, time_limit=time_limit + spent["seconds"])
    if max_iter is not None:
        job = replace(job, max_iter=max_iter + int(spent["iterations"]))
    return job


def _go(
    folder: Path,
    header: Header,
    job: Job,
    data: Opened,
    ready: Any,
    progress: bool,
    report: bool,
    made: Plan | None,
) -> Saved:
    """Train in a folder that has been begun, and finish it."""
    table, rows = data.table, data.rows
    folds = cross_validate(job, table, folder, progress=progress) if job.folds else {}
    options = {} if made is None else {"made": made}
    trained = trainer_of(job).train(
        job, ready, table.encoding, folder=folder, progress=progress, **options
    )
    run, parts = trained.run, {TRAINING: rows, HELD_OUT: rows.held}
    point = trained.point if isinstance(trained.point, CriticalPoint) else None
    for name, content in {**run.files(), **trained.files}.items():
        write_file(folder / name, content)
    result = {
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
            **folds,
        },
        "findings": [asdict(finding) for finding in trained.findings],
        "data": table.card(),
        "scaling": scales(table),
        "notes": list(table.notes),
        "model": fingerprint_of(trained.model_file),
        **_told(trained.point),
    }
    told = from_json(to_json(result), source=RESULT)
    saved = Saved(folder, header, data.encoding, told)
    if report:
        write_file(folder / REPORT, saved.report().html.encode())
    if not run.outcome.can_go_on:
        for left in folder.glob(f"{CHECKPOINT}.*"):
            left.unlink()
    write_file(folder / RESULT, to_json(result))
    return saved


def _told(point: CriticalPoint | str | None) -> dict[str, Any]:
    """What result.json has of the point where a network ended; nothing of a linear model's."""
    if point is None or isinstance(point, str):
        return {} if point is None else {"point": point}
    return {"point": {**asdict(point), "escape": None}}
