"""How a text file writes its numbers: point or comma before decimals, thousands in groups, blanks.

    decimal, thousands   . and none 1.5   , and none 1,5   . and , 1,234.5   , and . 1.234,5

A column of text whose every value is a number in some notation is one of numbers. Plain numbers
with blanks around them are read as they are. In others the notations that fit all
values are tried: where they agree on every value it is read so, with a note; where they do not
("1,234" is 1234 or 1.234) another column of the file may tell, and else it is in doubt until
`decimal` or `thousands` settles it. Beside a column of decimal commas "1.234" is in doubt too. So
is a column of quantities with a few words in it, which `missing` or `text` settles, and one of
numbers beside what people write for a missing value, "-" or "none".

A doubt is raised where the column is used, not where it is dropped. Its remedy is the reading that
the rest of the file speaks for: decimal commas go with semicolons between columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from thalweg.core.card import count_of
from thalweg.core.checks import check_choice
from thalweg.core.errors import InputError
from thalweg.tables.extra import polars
from thalweg.tables.problem import Problem

DECIMALS = (".", ",")
THOUSANDS = (",", ".", " ", "'", "_")
BLANKS = "[ \u00a0\u2009\u202f]"  # a thousands separator that looks like a blank
FEW = 20  # whole numbers beside words that may be names of categories
MOST = 8  # words beside quantities that may all stand for missing values
MARKS = frozenset(  # what people write where they have no value, in small letters
    {"-", "--", "---", "–", "—", ".", "..", "...", "*", "none", "nil", "n.a.", "n.a", "na", "n/a"}
    | {"missing", "unknown", "not available", "(blank)", "blank", "#value!", "#n/a", "#ref!", "nan"}
)
_SIGN, _POWER, _INFINITE = "[-+\u2212]?", "([eE][-+]?[0-9]+)?", "(?i:inf|infinity)"


class Notation(NamedTuple):
    """One way to write numbers."""

    decimal: str = "."
    thousands: str = ""

    @property
    def pattern(self) -> str:
        """What all its numbers match, of blanks around freed."""
        point = "\\" + self.decimal
        whole = "[0-9]+"
        if self.thousands:
            mark = {" ": BLANKS, "'": "['\u2019]"}.get(self.thousands, "\\" + self.thousands)
            whole = f"([0-9]+|[1-9][0-9]{{0,2}}({mark}[0-9]{{3}})+)"
        return f"^{_SIGN}({whole}({point}[0-9]*)?{_POWER}|{point}[0-9]+{_POWER}|{_INFINITE})$"

    def numbers(self, texts: Any) -> Any:
        """A series of texts that match as floats."""
        if self.thousands:
            texts = texts.str.replace_all(r"[ \x{a0}\x{2009}\x{202f}'\x{2019}_]", "")
            if self.thousands in DECIMALS:
                texts = texts.str.replace_all(self.thousands, "", literal=True)
        if self.decimal != ".":
            texts = texts.str.replace_all(self.decimal, ".", literal=True)
        return texts.str.replace("\u2212", "-", literal=True).cast(polars("numbers").Float64)


PLAIN = Notation()
ALL = [
    Notation(decimal, thousands)
    for thousands in ("", *THOUSANDS)
    for decimal in DECIMALS
    if decimal != thousands
]
ANY = "|".join(each.pattern for each in ALL)
_ANY = re.compile(ANY)


@dataclass
class Settled:
    """A frame whose numbers are numbers, what is to be known of it, and what is not known."""

    frame: Any
    notes: list[str] = field(default_factory=list)
    doubts: dict[str, Problem] = field(default_factory=dict)  # by column: why it cannot be used
    decimal: str | None = None  # where some column shows it and is not plain


def check_notation(decimal: str | None, thousands: str | None) -> None:
    """Raise unless the two can stand beside each other."""
    if decimal is not None:
        check_choice("decimal", decimal, DECIMALS)
    if thousands is not None and thousands != "":
        check_choice("thousands", thousands, THOUSANDS)
    if decimal is not None and decimal == thousands:
        raise InputError(f"thousands must differ from decimal, got {thousands!r} for both")


def is_number(text: str) -> bool:
    """Whether a field is a number in some notation."""
    return _ANY.match(text.strip()) is not None


def settle(
    frame: Any,
    kept: Sequence[str],
    missing: Sequence[str],
    asked: tuple[str | None, str | None],
    texts: Callable[[], Any],
    *,
    is_typed: bool = True,
    likely: str = ".",
) -> Settled:
    """Columns of text that hold numbers as numbers; those in `kept` stay.

    `texts` gives the frame with every column as it is written; `is_typed` where plain numbers are
    numbers in `frame` already; `likely` is the decimal mark of such files.
    """
    decimal, thousands = asked
    allowed = [
        each
        for each in ALL
        if decimal in (None, each.decimal)
        and (thousands is None or each.thousands in ("", thousands))
        and each.decimal != thousands
    ]
    is_plain = decimal in (None, ".") and thousands != "."
    out = Settled(frame if is_plain else texts())
    wide = [
        name
        for name, kind in out.frame.schema.items()
        if kind == polars("numbers").String and name not in kept
    ]
    found = {name: _judged(out.frame[name], missing, allowed, likely) for name in wide}
    decimals = {each.decimal for each in found.values() if each.decimal}
    if any(each.is_open for each in found.values()):
        marks = {each.shows for each in found.values() if each.shows}
        marks |= {"."} if _has_fractions(out.frame) else set()
        likely = marks.pop() if len(marks) == 1 else likely
    if len(decimals) == 1:  # one file, one notation: other columns tell what this one leaves open
        same = [each for each in allowed if each.decimal in decimals]
    else:
        same = allowed
    for name, each in found.items():
        if each.is_open:
            found[name] = _judged(out.frame[name], missing, same, likely)
    commas = [name for name, each in found.items() if each.decimal == ","]
    if is_plain and commas and decimal is None:
        # Another column of this file may have points that group thousands, read as decimals.
        for name, column in zip(frame.columns, texts().get_columns(), strict=True):
            if frame.schema[name].is_float() and name not in kept:
                found[name] = _judged(column, missing, allowed, ",", beside=commas[0])
    trimmed = []
    for name, each in found.items():
        if each.doubt:
            out.doubts[name] = Problem(name, each.doubt, each.remedy)
        if each.note:
            out.notes.append(each.note)
        if each.series is not None:
            trimmed += [name] if each.is_trimmed and is_plain and is_typed else []
            out.frame = out.frame.with_columns(each.series.alias(name))
        out.decimal = each.decimal or out.decimal
    if trimmed:
        shown = ", ".join(map(repr, trimmed[:5])) + (" and others" if len(trimmed) > 5 else "")
        out.notes.append(f"blanks around the values of {shown} were left out")
    return out


class _Judged(NamedTuple):
    """What a column of text turned out to be."""

    series: Any = None  # of numbers or flags, None where it stays text
    decimal: str | None = None  # that it shows, where it is not plain
    doubt: str = ""
    remedy: Mapping[str, Any] = {}  # of the doubt
    note: str = ""
    is_trimmed: bool = False
    is_open: bool = False  # whether two notations read it, each in its own way
    shows: str = ""  # the decimal mark of the numbers of a column in doubt


def _has_fractions(frame: Any) -> bool:
    """Whether some column of plain numbers shows that points are decimals here."""
    pl = polars("numbers")
    kinds = [name for name, kind in frame.schema.items() if kind.is_float()]
    one = [pl.col(name).is_finite() & (pl.col(name).round(0) != pl.col(name)) for name in kinds]
    return bool(kinds) and any(frame.select(each.any() for each in one).row(0))


def _judged(
    series: Any,
    missing: Sequence[str],
    allowed: Sequence[Notation],
    likely: str,
    beside: str = "",
) -> _Judged:
    pl = polars("numbers")
    bare = series.str.strip_chars()
    absent = bare.is_in([*missing, ""])
    bare = bare.to_frame().select(pl.when(~absent).then(pl.first()))[:, 0]
    values = bare.drop_nulls().unique().sort()
    if not len(values):
        return _Judged(None if series.null_count() == len(series) else bare)
    if values.str.to_lowercase().is_in(["true", "false"]).all():  # as polars has it
        flags = bare.str.to_lowercase() == "true"
        return _Judged(flags, is_trimmed=True)
    numeral = values.str.contains(ANY)
    if not numeral.any():
        return _Judged()
    if not numeral.all():
        return _mixed(bare, values, numeral)
    fitting = [each for each in allowed if values.str.contains(each.pattern).all()]
    if not fitting:
        return _Judged(doubt=_unfit(series.name, values, allowed), remedy={"drop": [series.name]})
    if PLAIN in fitting and not beside:
        return _Judged(PLAIN.numbers(bare), is_trimmed=True)
    readings = [each.numbers(values) for each in fitting]
    other = next((each for each in readings if not each.equals(readings[0])), None)
    if other is not None:
        doubt = _two_readings(series.name, values, fitting, readings, beside)
        meant = next((each for each in fitting if each.decimal == likely), fitting[0])
        remedy = {"thousands": meant.thousands} if meant.thousands else {"decimal": meant.decimal}
        if beside:
            remedy = {"decimal": likely}
        return _Judged(doubt=doubt, remedy=remedy, is_open=not beside)
    notation = fitting[0]
    if beside and notation == PLAIN:
        return _Judged()  # what it was read as
    marked = values.filter(~values.str.contains(PLAIN.pattern))
    example = marked[0] if len(marked) else values[0]
    meant = notation.numbers(pl.Series([example]))[0]
    note = f"{series.name!r} is of numbers, {example!r} being {meant:.15g}"
    shown = {each.decimal for each in fitting}
    decimal = notation.decimal if len(shown) == 1 else None  # 1 234 shows none
    return _Judged(notation.numbers(bare), decimal, note=note)


def _mixed(bare: Any, values: Any, numeral: Any) -> _Judged:
    """Numbers and words in one column: quantities with gaps, or names of categories."""
    name = bare.name
    words, numbers = values.filter(~numeral), values.filter(numeral)
    rows = int(bare.is_in(words.to_list()).sum())
    there = len(bare) - bare.null_count()
    are_marks = words.str.to_lowercase().is_in(list(MARKS)).all()
    if 2 * rows > there and not are_marks:
        return _Judged()
    some = ", ".join(map(repr, words[:3].to_list())) + (" …" if len(words) > 3 else "")
    are_quantities = len(numbers) > FEW or not numbers.str.contains(r"^[-+]?[0-9]+$").all()
    if not are_quantities and not are_marks:
        note = f"{name!r} holds numbers and text ({some}) and was taken as categories"
        return _Judged(note=note)
    remedy: dict[str, Any] = {"missing": words.to_list()}
    if len(words) > MOST:
        remedy = {"drop" if 2 * len(values) > there else "text": [name]}
    return _Judged(
        doubt=f"column {name!r} holds numbers in {count_of(there - rows, 'row')} and text in "
        f"{rows:,} ({some}): if that stands for a missing value, say so, with "
        f"missing={words[:3].to_list()}, if all are names of categories, with text={[name]}, "
        f"or leave it out, with drop={[name]}",
        remedy=remedy,
        shows=_decimal_of(numbers),
    )


def _decimal_of(numbers: Any) -> str:
    """The mark that numbers show, where all are written in one way."""
    fitting = {each.decimal for each in ALL if numbers.str.contains(each.pattern).all()}
    return fitting.pop() if len(fitting) == 1 else ""


def _unfit(name: str, values: Any, allowed: Sequence[Notation]) -> str:
    """The sentence for numbers that are written in no one of the notations."""
    odd = values.filter(~values.str.contains(allowed[0].pattern))
    if len(allowed) < len(ALL):
        how = f"with decimal={allowed[0].decimal!r}, as was asked for"
    else:
        how, odd = "in one notation", odd.head(2)
    return (
        f"column {name!r} must write its numbers {how}, got {odd[0]!r}"
        + (f" and {odd[1]!r}" if len(odd) > 1 else "")
        + f": correct them, keep them as text, with text={[name]}, or leave them out, with "
        f"drop={[name]}"
    )


def _two_readings(
    name: str, values: Any, fitting: Sequence[Notation], readings: Sequence[Any], beside: str
) -> str:
    k = next(k for k, each in enumerate(readings) if not each.equals(readings[0]))
    differs = (readings[0] != readings[k]).arg_max()
    one, other = (f"{readings[j][differs]:.15g} ({_option(fitting[j])})" for j in (0, k))
    why = f", as {beside!r} has decimal commas" if beside else ""
    return (
        f"column {name!r} holds {values[differs]!r}, which may be {one} or {other}{why}: say "
        f"which, or keep it as text, with text={[name]}"
    )


def _option(notation: Notation) -> str:
    if notation.thousands:
        return f"thousands={notation.thousands!r}"
    return f"decimal={notation.decimal!r}"
