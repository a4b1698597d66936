"""Anything that holds a table, as `Raw`: a file, a built-in name, a frame or a matrix.

Pixels that are bytes become numbers from 0 to 1, as `tw.nets.fit` has them: penalties and steps
that suit numbers of size 1 suit them then.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.tables.array import float_type, images, read_npy, read_npz
from thalweg.tables.budget import Budget, budget_of
from thalweg.tables.builtin import read_builtin
from thalweg.tables.delimited import USUAL, Writing, read_delimited
from thalweg.tables.extra import polars
from thalweg.tables.file import head, locate
from thalweg.tables.format import IDX, NPY, NPZ, PARQUET, SVMLIGHT, recognise
from thalweg.tables.idx import images_in, read_idx
from thalweg.tables.parquet import read_parquet
from thalweg.tables.raw import Raw
from thalweg.tables.svmlight import read_svmlight

BRIGHTEST = 255  # of a byte


def load(
    source: Any,
    *,
    target: str | int | None = None,
    dtype: str | None = None,
    writing: Writing = USUAL,
    first_index: int | None = None,
    width: int = 0,
    budget: Budget | None = None,
) -> Raw:
    """What `source` holds; the options are those of single formats, and others ignore them.

    `first_index` and `width`: of the features of earlier data, where there are any.
    """
    if not isinstance(source, str | Path):
        raw = _from_memory(source, dtype)
    elif isinstance(source, str) and source.startswith("@"):
        raw = read_builtin(source, dtype)
    else:
        budget = budget or budget_of()
        raw = _from_file(source, target, dtype, writing, (first_index, width), budget)
    if raw.are_pixels:
        raw.X /= BRIGHTEST
        raw.notes.append("pixels, 0 to 255, became numbers from 0 to 1")
    return raw


def _from_file(
    source: str | Path,
    target: str | int | None,
    dtype: str | None,
    writing: Writing,
    earlier: tuple[int | None, int],
    budget: Budget,
) -> Raw:
    path = locate(source)
    if path.is_dir():
        path = images_in(path)
    start = head(path, budget)
    kind, note = recognise(path, start)
    if kind == PARQUET:
        raw = read_parquet(path, budget)
    elif kind == SVMLIGHT:
        raw = read_svmlight(path, first_index=earlier[0], width=earlier[1], budget=budget)
    elif kind == NPZ:
        raw = read_npz(path, target if isinstance(target, str) else None, dtype, budget)
    elif kind == NPY:
        raw = read_npy(path, dtype, budget)
    elif kind == IDX:
        raw = read_idx(path, dtype, budget)
    else:
        raw = read_delimited(path, kind, start, writing, budget)
    if note:
        raw.notes.append(note)
    return raw


def _from_memory(source: Any, dtype: str | None) -> Raw:
    """A copy of a matrix, or a frame."""
    if scipy.sparse.issparse(source):
        return Raw(scipy.sparse.csr_array(source, dtype=dtype or float_type([source.dtype])), "CSR")
    if isinstance(source, np.ndarray) and source.ndim >= 2 and source.dtype.kind in "biuf":
        X = np.array(source, dtype or float_type([source.dtype]), order="C")
        return images(X, source.dtype, "array")
    if hasattr(source, "get_column"):
        return Raw(source, "frame")
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        source = {str(name): _of_pandas(source[name]) for name in source.columns}
    if isinstance(source, Mapping):
        pl = polars("a frame")
        lists = {
            str(name): values if isinstance(values, np.ndarray) else list(values)
            for name, values in source.items()
        }
        try:
            frame = pl.DataFrame(lists, strict=False, nan_to_null=True)
        except (pl.exceptions.PolarsError, TypeError, ValueError) as problem:
            raise InputError(
                f"source must hold columns of equal length, got {list(lists)} ({problem})"
            ) from problem
        return Raw(frame, "frame")
    raise InputError(
        "source must be a path, a built-in name such as '@cancer', a frame, a mapping of columns "
        f"or a matrix of numbers, got {describe(source)}"
    )


def _of_pandas(column: Any) -> Any:
    """Numbers as an array; others as Python's objects, None where they are missing."""
    if getattr(column.dtype, "kind", "O") in "biuf" and isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    return column.astype(object).where(column.notna(), None).to_list()
