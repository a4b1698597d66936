"""Parquet, by polars. Columns keep the types that the file gives them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from thalweg.core.errors import InputError
from thalweg.tables.extra import failures, polars, without_panic_text
from thalweg.tables.file import compression, opened
from thalweg.tables.format import PARQUET
from thalweg.tables.raw import Raw


def read_parquet(path: Path) -> Raw:
    """The columns of `path`."""
    pl = polars(path)
    content: Any = path
    if compression(path):
        with opened(path) as stream:
            content = io.BytesIO(stream.read())
    try:
        with without_panic_text():
            frame = pl.read_parquet(content)
    except failures() as problem:
        said = str(problem).partition("\n")[0]
        raise InputError(
            f"{path} cannot be read as Parquet ({said}): it is cut off or damaged, copy or "
            "download it again"
        ) from problem
    if frame.height == 0:
        raise InputError(f"{path} holds no rows: {frame.width} columns, nothing below")
    return Raw(frame, PARQUET)
