"""Which columns of later data are those of the first: by name, else by place."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import scipy.sparse

from thalweg.core.errors import InputError
from thalweg.tables.column import DATE, NUMBER, TEXT, Column
from thalweg.tables.format import SVMLIGHT
from thalweg.tables.raw import Raw
from thalweg.tables.target import Target

IN_ORDER = "the columns have other names than at first and were taken in order"


def find_column(wanted: str | int, names: Sequence[str], what: str) -> str:
    """The name of a column given by name or by place, negative ones from the end."""
    if isinstance(wanted, str) and wanted in names:
        return wanted
    try:
        return names[int(wanted)]
    except (ValueError, TypeError, IndexError):
        pass
    near = difflib.get_close_matches(str(wanted), names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"{what} {wanted!r} is no column: {hint}There are {_some(names)}")


def matched_series(
    columns: Sequence[Column], target: Target | None, frame: Any, left_out: Sequence[str] = ()
) -> tuple[list[Any], list[str]]:
    """The series of a polars frame for each column, and notes; `left_out` are no news."""
    held = frame.columns
    absent = [column.name for column in columns if column.name not in held]
    if absent and _may_go_by_place(columns) and len(held) == len(columns) == len(absent):
        return [frame[name].alias(c.name) for name, c in zip(held, columns, strict=True)], [
            IN_ORDER
        ]
    if absent:
        raise _absent(absent, held)
    known = {column.name for column in columns} | ({target.name} if target else set())
    known.update(left_out)
    return [frame[column.name] for column in columns], _extra([n for n in held if n not in known])


def matched_places(
    columns: Sequence[Column], target: Target | None, raw: Raw
) -> tuple[list[int], list[str]]:
    """The places in a matrix for each column, and notes; svmlight leaves out trailing zeros."""
    if any(column.kind in (TEXT, DATE) for column in columns):
        raise InputError(
            f"source must hold named columns, as at first, some of text, got {raw.format}: "
            "give it as CSV, Parquet or a frame"
        )
    if raw.format == SVMLIGHT and raw.X.shape[1] < len(columns):
        parts = raw.X.data, raw.X.indices, raw.X.indptr
        raw.X = scipy.sparse.csr_array(parts, shape=(raw.X.shape[0], len(columns)))
    p = raw.X.shape[1]
    held = raw.names or [f"x{j}" for j in range(p)]
    place = {name: j for j, name in enumerate(held)}
    absent = [column.name for column in columns if column.name not in place]
    if absent and p == len(columns):
        names_differ = raw.names is not None or not columns[-1].name.startswith("x")
        return list(range(p)), [IN_ORDER] if names_differ else []
    if absent:
        raise _absent(absent, held)
    known = {column.name for column in columns} | ({target.name} if target else set())
    return [place[column.name] for column in columns], _extra([n for n in held if n not in known])


def _may_go_by_place(columns: Sequence[Column]) -> bool:
    return all(column.kind == NUMBER and column.name == f"x{j}" for j, column in enumerate(columns))


def _absent(absent: list[str], held: Sequence[str]) -> InputError:
    near = difflib.get_close_matches(absent[0], held, n=1, cutoff=0.6)
    hint = f"did you mean to call {near[0]!r} so? " if near else ""
    return InputError(
        f"source must have the columns that were there at first, {_some(absent)} missing: {hint}"
        f"It has {_some(held)}"
    )


def _extra(names: list[str]) -> list[str]:
    if not names:
        return []
    verb = "was" if len(names) == 1 else "were"
    return [f"{_some(names)} {verb} not there at first and {verb} left out"]


def _some(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")
