"""CSV and TSV, by polars: separator, header and types are found, and said where they are unusual.

Types are inferred from the first 256 kB, and whole numbers are read as doubles: a column that
begins 4, 8, 7 may go on 87.8, and doubles are what it becomes. Only where a later line holds a text
in a column of numbers are all lines looked at, which takes several times as long. Numbers that are
not written plainly, "1,5" or "1,234", are the matter of `notation`.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.core.errors import InputError
from thalweg.core.text import one_line
from thalweg.tables.budget import Budget, budget_of
from thalweg.tables.child import ChildError, read_apart
from thalweg.tables.extra import failures, polars, without_panic_text
from thalweg.tables.file import HEAD, ZSTD, compression, opened
from thalweg.tables.format import TSV, check_text, not_utf8
from thalweg.tables.notation import is_number, settle
from thalweg.tables.raw import Raw

SEPARATORS = ",;|\t"
SAMPLE = 20  # lines that the separator is judged by
COLUMN = 10_000  # bytes that a column takes in polars, however short it is
MISSING = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "?")


class Writing(NamedTuple):
    """How a file of text is written, where its user says so."""

    missing: tuple[str, ...] = MISSING  # texts that stand for a missing value
    header: bool | None = None  # whether the first line is one, None to find out
    decimal: str | None = None  # see `notation`; None to find out
    thousands: str | None = None
    text: tuple[str, ...] = ()  # columns that stay text whatever they look like


USUAL = Writing()


def read_delimited(
    path: Path,
    kind: str,
    head: bytes,
    writing: Writing = USUAL,
    budget: Budget | None = None,
) -> Raw:
    """The columns of `path`."""
    pl = polars(path)
    budget = budget or budget_of()
    compressed = compression(path)
    if compressed == ZSTD:
        head = _zstd_head(path, budget)
        check_text(path, head)
    separator, first, is_whole = _first_line(path, head, kind)
    notes = []
    header = writing.header
    if header is None:
        header = not all(map(is_number, first))
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
    room = Budget(budget.grown(path.stat().st_size))
    room.check(path, COLUMN * len(names), f"for {len(names):,} columns")
    content: Any = path.absolute()  # so that polars sees neither a home nor an address in it
    if compressed and compressed != ZSTD:
        with opened(path, budget) as stream:
            content = stream.read()
    options = {
        "separator": separator,
        "has_header": header,
        "new_columns": names,
        "null_values": list(writing.missing),
        "glob": False,  # a name is a name, and no pattern for others
    }

    def texts() -> Any:
        if compressed == ZSTD:
            return read_apart("read_csv", path, {"infer_schema": False, **options}, budget.limit)
        return pl.read_csv(content, infer_schema=False, **options)

    broken: tuple[type[BaseException], ...] = (ChildError, *failures())
    try:
        with without_panic_text():
            if compressed == ZSTD:
                frame = texts()
            else:
                lines = head if is_whole else head[: head.rfind(b"\n") + 1] or head
                length = len(content) if isinstance(content, bytes) else path.stat().st_size
                _check_size(path, lines, length, len(names), budget)
                frame = _frame(pl, content, lines, writing.text, options)
            settled = settle(
                frame, writing.text, writing.missing, (writing.decimal, writing.thousands), texts,
                is_typed=compressed != ZSTD, likely="," if separator == ";" else ".",
            )  # fmt: skip
    except broken as problem:
        raise _explained(path, problem, len(first)) from problem
    if frame.height == 0:
        raise InputError(f"{path} holds a header and no rows: {len(first)} columns, nothing below")
    return Raw(
        settled.frame,
        kind,
        notes=notes + settled.notes,
        doubts=settled.doubts,
        decimal=settled.decimal,
    )


def _frame(pl: Any, content: Any, head: bytes, as_text: tuple[str, ...], options: dict) -> Any:
    """The columns, of the types that the head has."""
    text = {name: pl.String for name in as_text if name in options["new_columns"]}
    schema = pl.read_csv(head, infer_schema_length=None, **options).schema
    # By place, as the names in the file may be other than ours.
    types = [
        text.get(name, pl.Float64 if each.is_integer() else each) for name, each in schema.items()
    ]
    try:
        return pl.read_csv(content, schema_overrides=types, **options)
    except pl.exceptions.ComputeError as problem:
        if "could not parse" not in str(problem):
            raise
    frame = pl.read_csv(content, infer_schema_length=None, **options)
    if not text:
        return frame
    # Read again, not cast: a text "1.50" that was a number is 1.5.
    types = [text.get(name, each) for name, each in frame.schema.items()]
    return pl.read_csv(content, schema_overrides=types, **options)


def _check_size(path: Path, lines: bytes, length: int, width: int, budget: Budget) -> None:
    """Raise if the numbers, once as columns and once as X, take more than there is."""
    rows = length * max(1, lines.count(b"\n")) // max(1, len(lines))
    budget.check(path, 16 * rows * width, f"for about {rows:,} rows × {width:,} columns")


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
    separator = "\t" if kind == TSV else _separator(text)
    try:
        first = next(csv.reader(io.StringIO(text), delimiter=separator))
    except (StopIteration, csv.Error) as problem:
        raise InputError(
            f"{path} has no first line that can be read ({problem!s:.80}): name the columns there"
            if str(problem)
            else f"{path} holds blank lines alone: name the columns in its first line"
        ) from problem
    return separator, first, len(head) < HEAD


def _separator(text: str) -> str:
    """What the first lines agree on; where several do, what leaves the others inside numbers alone.

    In "1,5;2,25" there are more commas than semicolons, and commas are no less regular.
    """
    line, _, rest = text.partition("\n")
    there = [each for each in SEPARATORS if each in line]
    if len(there) < 2:
        return there[0] if there else ","
    lines = rest.splitlines()[:SAMPLE] if "\n" in rest else []
    regular = {}
    for each in there:
        try:
            rows = [row for row in csv.reader([line, *lines], delimiter=each) if row]
        except csv.Error:
            continue
        if len({len(row) for row in rows}) == 1:
            regular[each] = [field for row in rows for field in row]

    def rank(each: str) -> tuple[float, float, int]:
        fields = regular.get(each)
        if fields is None:
            return 0.0, 0.0, line.count(each)
        numbers = sum(map(is_number, fields))
        split = sum(
            any(other in field for other in regular if other != each) and not is_number(field)
            for field in fields
        )
        return 1.0 - split / len(fields), numbers / len(fields), line.count(each)

    return max(regular or there, key=rank)


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


def _zstd_head(path: Path, budget: Budget) -> bytes:
    """The beginning of what is inside, as lines of one column, since Python cannot open it."""
    options = {
        "has_header": False, "separator": "\x01", "quote_char": None, "n_rows": 1000,
        "infer_schema": False, "truncate_ragged_lines": True, "glob": False,
    }  # fmt: skip
    try:
        lines = read_apart("read_csv", path, options, budget.limit)
    except ChildError as problem:
        raise _explained(path, problem, 0) from problem
    return "\n".join(line or "" for line in lines.to_series().to_list()).encode()


def _explained(path: Path, problem: BaseException, width: int) -> InputError:
    said = one_line(str(problem).partition("\n")[0])
    if "utf-8" in said.lower():
        return not_utf8(path)
    if "more fields" in said:
        return InputError(
            f"{path} must have {width} fields in every line, as in its first, and one has more: "
            "look for a stray separator, or text with one in it that is not in quotes"
        )
    return InputError(f"{path} cannot be read as a table ({said}): it may be cut off or damaged")
