"""Read the data of a job and make ready what is trained, with notes on both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from thalweg.cli.screen import note

if TYPE_CHECKING:
    from thalweg.jobs.rows import Rows
    from thalweg.runs.job import Job
    from thalweg.tables.table import Table


class Opened(NamedTuple):
    """A job before its first step."""

    table: Table
    rows: Rows
    ready: Any  # a LinearProblem, or what a network's half makes of it


def rows_and_table(job: Job) -> tuple[Rows, Table]:
    """The data read."""
    from thalweg.jobs.rows import rows_of
    from thalweg.jobs.source import table_of

    table = table_of(job)
    for sentence in table.notes:
        note(sentence)
    return rows_of(job, table), table


def opened(job: Job) -> Opened:
    """The data read and the method checked; raises where either cannot be used."""
    from thalweg.jobs.trainer import trainer_of

    rows, table = rows_and_table(job)
    ready = trainer_of(job).ready(job, rows, table.encoding)
    if job.loss is None and not job.is_network:
        note(f"{ready.loss}, by what y holds; --loss takes another", "loss")
    return Opened(table, rows, ready)
