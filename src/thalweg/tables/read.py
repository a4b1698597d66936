"""Read a table: from a file to the X and y that linear problems and networks take.

    recognise the format → split off the target → leave out rows without one → count what is missing
    → learn how each column becomes numbers → write X

The last two are an `Encoding`, which does the same to later rows.
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
from thalweg.tables.delimited import MISSING, Writing
from thalweg.tables.encoding import Encoding
from thalweg.tables.frame import learn_frame
from thalweg.tables.learned import Options
from thalweg.tables.load import load
from thalweg.tables.matrix import learn_matrix
from thalweg.tables.notation import check_notation
from thalweg.tables.table import Table

DTYPES = ("float32", "float64")


class Written(TypedDict, total=False):
    """How a file of text is written, where that is not to be found out."""

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
    if impute is not None:
        check_choice("impute", impute, IMPUTES)
    if dtype is not None:
        check_choice("dtype", dtype, DTYPES)
    check_count("max_categories", max_categories)
    budget = budget_of(memory)
    writing = _writing(**written)
    raw = load(source, target=target, dtype=dtype, writing=writing, budget=budget)
    options = Options(target, drop, impute, max_categories, task, dtype, sparse, budget)
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


def _writing(
    missing: Sequence[str] | None = (),
    header: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    text: Sequence[str] = (),
) -> Writing:
    check_notation(decimal, thousands)
    absent = () if missing is None else (*MISSING, *_several(missing))
    return Writing(absent, header, decimal, thousands, _several(text))


def _several(names: Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
