"""Parquet, by polars, in a process of its own. Columns keep the types that the file gives them."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from thalweg.core.errors import InputError
from thalweg.core.text import one_line
from thalweg.tables.budget import Budget, budget_of
from thalweg.tables.child import ChildError, read_apart
from thalweg.tables.extra import polars
from thalweg.tables.file import compression, opened
from thalweg.tables.format import PARQUET
from thalweg.tables.raw import Raw

# A name is a name: neither a pattern for several files nor folders that tell columns.
OPTIONS = {"glob": False, "hive_partitioning": False}


def read_parquet(path: Path, budget: Budget | None = None) -> Raw:
    """The columns of `path`."""
    polars(path)
    budget = budget or budget_of()
    try:
        if compression(path):
            with tempfile.NamedTemporaryFile(suffix=".parquet") as plain:
                with opened(path, budget) as stream:
                    shutil.copyfileobj(stream, plain)
                plain.flush()
                frame = read_apart("read_parquet", Path(plain.name), OPTIONS, budget.limit)
        else:
            frame = read_apart("read_parquet", path, OPTIONS, budget.limit)
    except ChildError as problem:
        raise InputError(
            f"{path} cannot be read as Parquet ({one_line(problem)}): it is cut off or damaged, "
            "copy or download it again"
        ) from problem
    if frame.height == 0:
        raise InputError(f"{path} holds no rows: {frame.width} columns, nothing below")
    return Raw(frame, PARQUET)
