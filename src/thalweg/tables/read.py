"""Read a table: from a file to the X and y that linear problems and networks take.

    recognise the format → split off the target → leave out rows without one → count what is missing
    → learn how each column becomes numbers → write X

The last two are an `Encoding`, which does the same to later rows. Columns that nothing can be made
of unless something is said of them are one error, with what would settle them all (`problem`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

import scipy.sparse

from thalweg.core.checks import check_choice, check_count, describe
from thalweg.core.errors import InputError
from thalweg.tables.budget import budget_of
from thalweg.tables.column import IMPUTES
from thalweg.tables.dates import ORDERS
from thalweg.tables.dates import WAYS as DATES
from thalweg.tables.delimited import MISSING, Writing
from thalweg.tables.encoding import Encoding
from thalweg.tables.frame import learn_frame
from thalweg.tables.ids import DROP
from thalweg.tables.ids import WAYS as IDS
from thalweg.tables.learned import Options
from thalweg.tables.load import load
from thalweg.tables.matrix import learn_matrix
from thalweg.tables.notation import check_notation
from thalweg.tables.problem import Unsettled, several, tried
from thalweg.tables.table import Table

DTYPES = ("float32", "float64")


class Written(TypedDict, total=False):
    """How columns are written and meant, where that is not to be found out."""

    dates: str | None  # "expand": columns of dates become year, month, weekday, hour; "cyclic"
    date_format: str | None  # "dmy", "mdy": what comes first in 01/02/2024
    ids: str  # "drop", "keep": columns that name rows
    missing: Sequence[str] | None  # stand for a missing value besides NA, ? …; None: no text does
    header: bool | None  # whether the first line names the columns
    decimal: str | None  # "," where 1,5 is a number
    thousands: str | None  # "," where 1,500 is one
    text: Sequence[str]  # columns that are text even where they look like numbers


def read(
    source: Any,
    target: str | int | None = None,
    *,
    drop: Sequence[str | int] = (),
    impute: str | None = None,
    max_categories: int = 50,
    task: str | None = None,
    dtype: str | None = None,
    sparse: bool | None = None,
    memory: str | float | None = None,
    **written: Unpack[Written],
) -> Table:
    """Read `source` into numbers, and remember how.

    `source`: a file in CSV, TSV, Parquet, svmlight, NPZ, NPY or IDX, also compressed by gzip, xz
    or bzip2 (CSV and TSV by zstd too); a folder of IDX files; @cancer, @diabetes, @digits, @iris
    or @wine; a frame, a mapping of columns or a matrix.
    `target`: the column to predict, by name or place; formats that keep labels apart need none.
    `drop`: columns to leave out. `impute`: "mean", "median" or "most-frequent" fills missing
    values, which are refused otherwise. `max_categories`: of a text column. `task`:
    "classification" or "regression", where whole numbers leave it open. `dtype`: "float32" or
    "float64", found where None, as `sparse` is. `memory`: how much may be used, "2GB"; 4/5 of what
    is free where None. `written`: `Written`, of CSV and TSV alone.
    """
    asked: dict[str, Any] = {
        "drop": drop, "impute": impute, "max_categories": max_categories, "task": task,
        "dtype": dtype, "sparse": sparse, "memory": memory, **written,
    }  # fmt: skip
    try:
        return _read(source, target, asked)
    except Unsettled as problem:
        found = problem
    raise tried(found, asked, lambda more: _read(source, target, more))


def _read(source: Any, target: str | int | None, asked: dict[str, Any]) -> Table:
    """The table, or what is to be settled first."""
    options, writing = _options(target, **asked)
    raw = load(source, target=target, dtype=options.dtype, writing=writing, budget=options.budget)
    try:
        learned = (learn_frame if raw.is_frame else learn_matrix)(raw, options)
    except MemoryError as problem:
        raise InputError(
            f"source {describe(source)} does not fit into memory as numbers: leave columns out, or "
            "take fewer rows"
        ) from problem
    X = learned.X
    encoding = Encoding(
        columns=tuple(learned.columns),
        target=learned.target,
        dtype=X.dtype.name,
        is_sparse=scipy.sparse.issparse(X),
        sample_shape=raw.sample_shape if X.shape[1] == math.prod(raw.sample_shape) else (),
        first_index=raw.first_index,
        writing=writing._replace(decimal=raw.decimal or writing.decimal, text=()),
        left_out=learned.left_out,
    )
    return Table(
        X=X,
        y=learned.y,
        encoding=encoding,
        source=str(source) if isinstance(source, str | Path) else raw.format,
        format=raw.format,
        notes=tuple(raw.notes + learned.notes),
        missing=learned.missing,
    )


def _options(
    target: str | int | None,
    *,
    drop: Sequence[str | int],
    impute: str | None,
    max_categories: int,
    task: str | None,
    dtype: str | None,
    sparse: bool | None,
    memory: str | float | None,
    dates: str | None = None,
    date_format: str | None = None,
    ids: str = DROP,
    **written: Any,
) -> tuple[Options, Writing]:
    """What was asked for, checked."""
    for name, value, known in (
        ("impute", impute, IMPUTES), ("dtype", dtype, DTYPES), ("dates", dates, DATES),
        ("date_format", date_format, tuple(ORDERS)),
    ):  # fmt: skip
        if value is not None:
            check_choice(name, value, known)
    check_choice("ids", ids, IDS)
    check_count("max_categories", max_categories)
    writing = _writing(**written)
    return Options(
        target, drop, impute, max_categories, task, dtype, sparse, budget_of(memory), dates,
        date_format, ids, writing.text,
    ), writing  # fmt: skip


def _writing(
    missing: Sequence[str] | None = (),
    header: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    text: Sequence[str] = (),
) -> Writing:
    check_notation(decimal, thousands)
    absent = () if missing is None else (*MISSING, *several(missing))
    return Writing(absent, header, decimal, thousands, tuple(several(text)))
