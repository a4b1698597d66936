"""The rows of a table for one training: those to train on, and those held out.

A share of rows is held out by drawing with the seed, of each class its share; a file of its own is
read by the encoding that the training rows gave, so that its columns may stand in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.errors import InputError
from thalweg.runs.job import Job
from thalweg.tables.encoding import Encoding
from thalweg.tables.table import Table


class Rows(NamedTuple):
    """X and y of some rows."""

    X: Any  # float[n, p], or CSR
    y: np.ndarray  # float64[n], or int64[n] places in the names of the classes
    held: Rows | None = None  # those that are held out


def rows_of(job: Job, table: Table) -> Rows:
    """The rows that the job trains on, and those it holds out."""
    y = target_of(table)
    if job.validation is None:
        return Rows(table.X, y)
    if isinstance(job.validation, str):
        held = table.encoding.table(job.validation, memory=job.reading.get("memory"))
        return Rows(table.X, y, Rows(held.X, target_of(held)))
    held_out = np.zeros(len(y), dtype=bool)
    held_out[drawn(y, table.class_names is not None, job.validation, job.seed)] = True
    if held_out.all() or not held_out.any():
        raise InputError(
            f"validation must leave rows on both sides, got {job.validation:g} of {len(y)} rows: "
            "hold out another share"
        )
    return Rows(table.X[~held_out], y[~held_out], Rows(table.X[held_out], y[held_out]))


def folds_of(job: Job, table: Table) -> Iterator[Rows]:
    """One fold after another held out, of each class its share."""
    y = target_of(table)
    for kept, held in splits_of(job, y, table.encoding):
        yield Rows(table.X[kept], y[kept], Rows(table.X[held], y[held]))


def splits_of(
    job: Job, y: np.ndarray, encoding: Encoding
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Places of the rows that are kept, and of those held out, int64; one fold after another."""
    from sklearn.model_selection import KFold, StratifiedKFold

    check_folds(job, y, encoding)
    kind = StratifiedKFold if classes_of(encoding) else KFold
    yield from kind(job.folds, shuffle=True, random_state=job.seed).split(np.empty((len(y), 0)), y)


def classes_of(encoding: Encoding) -> tuple[str, ...]:
    """The classes of the target; none of a number."""
    return tuple(encoding.target.classes) if encoding.target is not None else ()


def check_folds(job: Job, y: np.ndarray, encoding: Encoding) -> None:
    """Raise unless the rows are enough for the folds."""
    if job.folds > len(y):
        raise InputError(f"folds must be at most the number of rows, {len(y)}, got {job.folds}")
    classes = classes_of(encoding)
    if not classes:
        return
    counts = np.bincount(y.astype(np.int64))
    if int(counts.min()) < job.folds:
        raise InputError(
            "folds must be at most the rows of the rarest class, "
            f"{classes[int(counts.argmin())]!r} with {counts.min()}, got {job.folds}: "
            "use fewer folds"
        )


def drawn(y: np.ndarray, has_classes: bool, share: float, seed: int) -> np.ndarray:
    """Places of a share of the rows, drawn; of each class its share."""
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(y == c) for c in np.unique(y)] if has_classes else [np.arange(len(y))]
    parts = [rng.permutation(group)[: round(share * len(group))] for group in groups]
    return np.sort(np.concatenate(parts))


def target_of(table: Table) -> np.ndarray:
    """y, or a sentence where the table has none."""
    if table.y is None:
        raise InputError(
            f"target must be given for {table.source}: name the column to predict with --target"
        )
    return table.y
