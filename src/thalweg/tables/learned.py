"""What is asked of a table, and what was learnt from its content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.card import count_of
from thalweg.core.errors import InputError
from thalweg.tables.budget import UNLIMITED, Budget
from thalweg.tables.column import Column
from thalweg.tables.matching import find_column
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


class Learned(NamedTuple):
    """X, y, and how they came to be."""

    X: Any  # float[n, p] or CSR
    y: np.ndarray | None
    columns: Sequence[Column]
    target: Target | None
    missing: Mapping[str, int]  # by column, those that have any
    notes: list[str]


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


def check_missing(missing: Mapping[str, int], impute: str | None, rows: int) -> list[str]:
    """Refuse missing values unless they are to be filled; a note on how they were."""
    if not missing:
        return []
    total = f"{count_of(len(missing), 'column')} ({listed(missing)})"
    if impute is None:
        raise InputError(
            f"source must have no missing values, got {sum(missing.values()):,} of {rows:,} rows "
            f"in {total}: fill them, with impute='median', or leave those columns out, with "
            f"drop={list(missing)[:5]}"
        )
    return [
        f"missing values in {total} were filled with the "
        f"{impute.replace('-', ' ')}{' value' if impute == 'most-frequent' else ''} of their column"
        + (", text and flags with the most frequent" if impute != "most-frequent" else "")
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
    shown = ", ".join(map(repr, names[:5])) + (
        f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    )
    return [f"{count_of(len(names), 'column')} constant, kept: {shown}"]
