"""CSV and TSV, by polars: separator, header and types are found, and said where they are unusual.

Types are inferred from the first 256 kB, and whole numbers are read as doubles: a column that
begins 4, 8, 7 may go on 87.8, and doubles are what it becomes. Only where a later line holds a text
in a column of numbers are all lines looked at, which takes several times as long.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from pathlib import Path
from typing import Any

from thalweg.core.errors import InputError
from thalweg.tables.extra import failures, polars
from thalweg.tables.file import HEAD, ZSTD, compression, opened
from thalweg.tables.format import TSV, check_text, not_utf8
from thalweg.tables.raw import Raw

SEPARATORS = ",;|\t"
MISSING = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "?")


def read_delimited(
    path: Path,
    kind: str,
    head: bytes,
    *,
    missing: tuple[str, ...] = MISSING,
    header: bool | None = None,
    as_text: tuple[str, ...] = (),
) -> Raw:
    """The columns of `path`; those named in `as_text` stay text whatever they look like."""
    pl = polars(path)
    compressed = compression(path)
    if compressed == ZSTD:
        head = _zstd_head(pl, path)
        check_text(path, head)
    separator, first, is_whole = _first_line(path, head, kind)
    notes = []
    if header is None:
        header = not all(map(_is_number, first))
        if not header:
            notes.append(
                "the first line holds numbers alone and was taken as data: "
                f"columns are called x0 to x{len(first) - 1}"
            )
    if header and is_whole and head.count(b"\n") <= 1 and not head.partition(b"\n")[2].strip():
        raise InputError(f"{path} holds a header and no rows: {len(first)} columns, nothing below")
    names = _names(path, first) if header else [f"x{j}" for j in range(len(first))]
    if separator not in (",", "\t"):
        notes.append(f"columns are separated by {separator!r}")
    content: Any = path
    if compressed and compressed != ZSTD:
        with opened(path) as stream:
            content = stream.read()
    options = {
        "separator": separator,
        "has_header": header,
        "new_columns": names,
        "null_values": list(missing),
    }
    text = {name: pl.String for name in as_text if name in names}
    try:
        lines = head if is_whole else head[: head.rfind(b"\n") + 1] or head
        schema = pl.read_csv(lines, infer_schema_length=None, **options).schema
        # By place, as the names in the file may be other than ours.
        types = [
            text.get(name, pl.Float64 if each.is_integer() else each)
            for name, each in schema.items()
        ]
        try:
            frame = pl.read_csv(content, schema_overrides=types, **options)
        except pl.exceptions.ComputeError as problem:
            if "could not parse" not in str(problem):
                raise
            frame = pl.read_csv(content, infer_schema_length=None, **options)
            frame = frame.cast(text)
    except failures() as problem:
        raise _explained(path, problem, len(first)) from problem
    if frame.height == 0:
        raise InputError(f"{path} holds a header and no rows: {len(first)} columns, nothing below")
    return Raw(frame, kind, notes=notes)


def _first_line(path: Path, head: bytes, kind: str) -> tuple[str, list[str], bool]:
    """Separator, fields of the first line, and whether `head` is all there is."""
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head).lstrip("\r\n")
    except UnicodeDecodeError as problem:
        raise not_utf8(path) from problem
    line = text.partition("\n")[0]
    if "\r" in line.rstrip("\r"):
        raise InputError(
            f"{path} must end its lines by \\n or \\r\\n, got \\r alone: convert it, with "
            f"tr '\\r' '\\n' < {path.name}"
        )
    found = max(SEPARATORS, key=line.count)
    separator = "\t" if kind == TSV else found if line.count(found) else ","
    try:
        first = next(csv.reader(io.StringIO(text), delimiter=separator))
    except (StopIteration, csv.Error) as problem:
        raise InputError(
            f"{path} has no first line that can be read ({problem!s:.80}): name the columns there"
            if str(problem)
            else f"{path} holds blank lines alone: name the columns in its first line"
        ) from problem
    return separator, first, len(head) < HEAD


def _names(path: Path, first: list[str]) -> list[str]:
    """Names of the columns; those without one are called by their place."""
    names = [name.strip() or f"x{j}" for j, name in enumerate(first)]
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError(
            f"{path} must name every column once, got {name!r} {times} times: "
            "rename one of them in the first line"
        )
    return names


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _zstd_head(pl: Any, path: Path) -> bytes:
    """The beginning of what is inside, as lines of one column, since Python cannot open it."""
    try:
        lines = pl.read_csv(
            path, has_header=False, separator="\x01", quote_char=None, n_rows=1000,
            infer_schema=False, truncate_ragged_lines=True,
        )  # fmt: skip
    except failures() as problem:
        raise _explained(path, problem, 0) from problem
    return "\n".join(line or "" for line in lines.to_series().to_list()).encode()


def _explained(path: Path, problem: BaseException, width: int) -> InputError:
    said = str(problem).partition("\n")[0]
    if "utf-8" in said.lower():
        return not_utf8(path)
    if "more fields" in said:
        return InputError(
            f"{path} must have {width} fields in every line, as in its first, and one has more: "
            "look for a stray separator, or text with one in it that is not in quotes"
        )
    return InputError(f"{path} cannot be read as a table ({said}): it may be cut off or damaged")
