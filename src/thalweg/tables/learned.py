"""What is asked of a table, and what was learnt from its content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.card import count_of
from thalweg.core.errors import InputError
from thalweg.tables.budget import UNLIMITED, Budget
from thalweg.tables.column import FREQUENT, MEDIAN, Column
from thalweg.tables.ids import DROP
from thalweg.tables.matching import find_column
from thalweg.tables.problem import Problem
from thalweg.tables.table import listed
from thalweg.tables.target import Target


class Options(NamedTuple):
    """The arguments of `read` that do not depend on the format."""

    target: str | int | None = None
    drop: Sequence[str | int] = ()
    impute: str | None = None
    max_categories: int = 50
    task: str | None = None
    dtype: str | None = None
    sparse: bool | None = None
    budget: Budget = Budget(UNLIMITED)
    dates: str | None = None
    date_format: str | None = None
    ids: str = DROP
    text: Sequence[str] = ()  # columns that stay text


class Learned(NamedTuple):
    """X, y, and how they came to be."""

    X: Any  # float[n, p] or CSR
    y: np.ndarray | None
    columns: Sequence[Column]
    target: Target | None
    missing: Mapping[str, int]  # by column, those that have any
    notes: list[str]
    left_out: tuple[str, ...] = ()  # columns that were there and are no features


def kept(names: Sequence[str], target: str | None, drop: Sequence[str | int]) -> list[str]:
    """The columns that are features: all but the target and those in `drop`."""
    if isinstance(drop, str | int):
        drop = (drop,)
    out = {find_column(each, names, "drop:") for each in drop}
    if target in out:
        raise InputError(f"drop must not hold the target {target!r}: it is what is predicted")
    left = [name for name in names if name != target and name not in out]
    if not left:
        raise InputError(
            "source must have a feature besides the target and dropped columns: none left"
        )
    return left


def missing_unasked(missing: Mapping[str, int], rows: int, *, is_sparse: bool = False) -> Problem:
    """The problem of missing values where nothing was said of them."""
    some = list(missing)[:5]
    drop = {"drop": list(missing)}
    return Problem(
        "",
        f"source must have no missing values, got {sum(missing.values()):,} of {rows:,} rows in "
        f"{_counted(missing)}: fill them, with impute='median', or leave those columns out, with "
        f"drop={some}",
        drop if is_sparse else {"impute": MEDIAN},
    )


def on_missing(missing: Mapping[str, int], impute: str | None) -> list[str]:
    """A note on how missing values were filled."""
    if not missing or impute is None:
        return []
    return [
        f"missing values in {_counted(missing)} were filled with the "
        f"{impute.replace('-', ' ')}{' value' if impute == FREQUENT else ''} of their column"
        + (", text and flags with the most frequent" if impute != FREQUENT else "")
    ]


def on_rows(target: str, left_out: int, rows: int) -> list[str]:
    """A note on rows without a target, which are left out."""
    if left_out == rows:
        raise InputError(
            f"target {target!r} must have values, got {rows:,} missing ones: choose another target"
        )
    return (
        [f"{left_out:,} of {rows:,} rows have no {target!r} and were left out"] if left_out else []
    )


def on_constants(names: Sequence[str]) -> list[str]:
    """A note on columns with one value, which are kept."""
    if not names:
        return []
    return [f"{count_of(len(names), 'column')} constant, kept: {_some(names)}"]


def on_ids(names: Sequence[str]) -> list[str]:
    """A note on columns that name rows, which were left out."""
    if not names:
        return []
    verb = "names" if len(names) == 1 else "name"
    were = "was" if len(names) == 1 else "were"
    return [
        f"{_some(names)} {verb} rows, nearly every one by a value of its own, and {were} left out: "
        "ids='keep' uses them"
    ]


def on_marks(marks: Mapping[str, str]) -> list[str]:
    """A note on categories that look like missing values."""
    return [
        f"{mark!r} in {name!r} was taken for a category: with missing=[{mark!r}] it is a missing "
        "value"
        for name, mark in marks.items()
    ]


def _counted(missing: Mapping[str, int]) -> str:
    return f"{count_of(len(missing), 'column')} ({listed(missing)})"


def _some(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")
