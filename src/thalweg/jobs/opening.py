"""The data of a job, opened: read once, parted into rows, and known again by their fingerprint.

Whoever trains, certifies or plans begins here; a race opens its data once for all its methods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from thalweg.core.errors import InputError
from thalweg.jobs.rows import Rows, rows_of, target_of
from thalweg.jobs.source import fingerprint, table_of
from thalweg.runs.job import Job
from thalweg.tables.encoding import Encoding
from thalweg.tables.table import Table

Note = Callable[[str], None]


def silent(sentence: str) -> None:
    """Nobody is told."""


@dataclass(frozen=True, eq=False)
class Opened:
    """The data of one job."""

    table: Table
    rows: Rows  # to train on, and those that are held out

    @property
    def encoding(self) -> Encoding:
        """How columns became numbers."""
        return self.table.encoding

    @cached_property
    def fingerprint(self) -> str:
        """Of the whole table."""
        return fingerprint(self.table.X, target_of(self.table))


def opened(job: Job, note: Note = silent, table: Table | None = None) -> Opened:
    """The data of the job, or what `table` holds; `note` is told what a reader should know."""
    table = table_of(job) if table is None else table
    for sentence in table.notes:
        note(sentence)
    return Opened(table, rows_of(job, table))


def opened_again(job: Job, folder: Path, known: str, note: Note = silent) -> Opened:
    """The data of the run in `folder`, if they still have the fingerprint `known`."""
    table = table_of(job)
    if fingerprint(table.X, target_of(table)) != known:
        raise InputError(
            f"{folder} must be used with its own data, and {job.source} has changed since: put the "
            "old file back, or train again"
        )
    return opened(job, note, table)
