"""Read a table: from a file to the X and y that linear problems and networks take.

    recognise the format → split off the target → leave out rows without one → count what is missing
    → learn how each column becomes numbers → write X

The last two are an `Encoding`, which does the same to later rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import scipy.sparse

from thalweg.core.checks import check_choice, check_count, describe
from thalweg.core.errors import InputError
from thalweg.tables.column import IMPUTES
from thalweg.tables.delimited import MISSING
from thalweg.tables.encoding import Encoding
from thalweg.tables.frame import learn_frame
from thalweg.tables.learned import Options
from thalweg.tables.load import load
from thalweg.tables.matrix import learn_matrix
from thalweg.tables.table import Table

DTYPES = ("float32", "float64")


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
    missing: Sequence[str] = MISSING,
    header: bool | None = None,
) -> Table:
    """Read `source` into numbers, and remember how.

    `source`: a file in CSV, TSV, Parquet, svmlight, NPZ, NPY or IDX, also compressed by gzip, xz
    or bzip2 (CSV and TSV by zstd too); a folder of IDX files; @cancer, @diabetes, @digits, @iris
    or @wine; a frame, a mapping of columns or a matrix.
    `target`: the column to predict, by name or place; formats that keep labels apart need none.
    `drop`: columns to leave out. `impute`: "mean", "median" or "most-frequent" fills missing
    values, which are refused otherwise. `max_categories`: of a text column. `task`:
    "classification" or "regression", where whole numbers leave it open. `dtype`: "float32" or
    "float64", found where None, as `sparse` is. `missing`: texts that stand for a missing value.
    `header`: whether CSV has one, found where None.
    """
    if impute is not None:
        check_choice("impute", impute, IMPUTES)
    if dtype is not None:
        check_choice("dtype", dtype, DTYPES)
    check_count("max_categories", max_categories)
    missing = (missing,) if isinstance(missing, str) else tuple(missing)
    raw = load(source, target=target, dtype=dtype, missing=missing, header=header)
    options = Options(target, drop, impute, max_categories, task, dtype, sparse)
    try:
        learned = (learn_frame if raw.is_frame else learn_matrix)(raw, options)
    except MemoryError as problem:
        raise InputError(
            f"source {describe(source)} does not fit into memory as numbers: leave columns out, "
            "with drop=, or pass dtype='float32'"
        ) from problem
    X = learned.X
    encoding = Encoding(
        columns=tuple(learned.columns),
        target=learned.target,
        dtype=X.dtype.name,
        is_sparse=scipy.sparse.issparse(X),
        sample_shape=raw.sample_shape if X.shape[1] == math.prod(raw.sample_shape) else (),
        first_index=raw.first_index,
        missing=missing,
        header=header,
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
