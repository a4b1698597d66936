"""How one column becomes numbers.

    number   itself
    flag     true ↦ 1, false ↦ 0
    text     one column of 0 and 1 for each category, in alphabetical order
    date     year, month, weekday and hour, or sines and cosines of these (`dates`)

What is missing becomes `fill`, where one was learnt: the mean or median of a number or of each part
of a date; the most frequent value of a number, a part, a flag or a text. Columns are polars series.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thalweg.core.card import count_of
from thalweg.core.errors import InputError
from thalweg.tables.dates import SAID, as_moments, parts_of, values_of
from thalweg.tables.extra import polars
from thalweg.tables.problem import Unsettled, leave_out, unsettled

NUMBER, FLAG, TEXT, DATE = "number", "flag", "text", "date"
MEAN, MEDIAN, FREQUENT = "mean", "median", "most-frequent"
IMPUTES = (MEAN, MEDIAN, FREQUENT)
UNSEEN = -1  # the code of a category that was not there at first
FLAGS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the source: its name, its kind, and what is known of its values."""

    name: str
    kind: str = NUMBER
    categories: tuple[str, ...] = ()  # of a text
    # What stands for a missing value, of a date for each part; None where none may be.
    fill: float | str | tuple[float, ...] | None = None
    parts: tuple[str, ...] = ()  # of a date
    order: str = ""  # of a date in text, a key of `dates.ORDERS`

    @property
    def features(self) -> list[str]:
        """Names of the numbers it becomes."""
        if self.kind == DATE:
            return [f"{self.name}.{part}" for part in self.parts]
        if self.kind != TEXT:
            return [self.name]
        return [f"{self.name}={category}" for category in self.categories]

    @property
    def standing(self) -> float:
        """What stands for a missing number or flag; 0 where none may be."""
        return float(self.fill) if isinstance(self.fill, int | float) else 0.0

    @property
    def entries(self) -> int:
        """How many of its numbers are not zero, at most."""
        return len(self.parts) if self.kind == DATE else 1

    def numbers(self, series: Any) -> np.ndarray:
        """A checked number or flag as floats or integers, filled; a date as [n, parts]."""
        if self.kind == DATE:
            found = values_of(series, self.parts)
            return found if self.fill is None else np.where(np.isnan(found), self.fill, found)
        if self.kind == FLAG:
            series = series.cast(polars(self.name).UInt8)
        values = series.to_numpy()  # missing ones are NaN
        if series.null_count() and self.fill is not None:
            return np.where(np.isnan(values), self.standing, values)
        return values

    def codes(self, series: Any) -> np.ndarray:
        """A checked text as places in `categories`, filled; −1 for others."""
        pl = polars(self.name)
        # Filling starts a query, dearer than a block: only where there is something to fill.
        if series.null_count() and self.fill is not None:
            series = series.fill_null(self.fill)
        codes = self.narrowed(series).to_physical().cast(pl.Int32)
        return (codes.fill_null(UNSEEN) if codes.null_count() else codes).to_numpy()

    def narrowed(self, series: Any) -> Any:
        """A text as its categories, a byte or four each where it was 16; others as they are."""
        if self.kind != TEXT:
            return series
        return series.cast(polars(self.name).Enum(self.categories), strict=False)

    def checked(self, series: Any) -> Any:
        """Later values of this column, in its own type, or what has changed in a sentence."""
        series = cleaned(series)
        if series.null_count() and self.fill is None:
            raise InputError(
                f"column {self.name!r} must have no missing values, as at first, got "
                f"{series.null_count():,}: read the first data with impute='median', or fill them"
            )
        pl = polars(self.name)
        if series.null_count() == len(series):
            kinds = {NUMBER: pl.Float64, FLAG: pl.Boolean, TEXT: pl.String, DATE: pl.Datetime("ms")}
            return series.cast(kinds[self.kind])
        if self.kind == TEXT:
            return series.cast(pl.String)
        if self.kind == DATE:
            return self._dated(series)
        if series.dtype.is_temporal():
            raise InputError(
                f"column {self.name!r} must hold numbers, as at first, got dates "
                f"({series.drop_nulls()[0]}): give it in the same form"
            )
        if kind_of(series) == TEXT or self.kind == FLAG:
            return self._parsed(series)
        return series.cast(pl.UInt8) if kind_of(series) == FLAG else series

    def _parsed(self, series: Any) -> Any:
        """Text as numbers or flags, numbers as flags, where that loses nothing."""
        pl = polars(self.name)
        if self.kind == FLAG:
            words = series.cast(pl.String).str.to_lowercase()
            parsed = words.replace_strict(FLAGS, default=None, return_dtype=pl.Boolean)
        else:
            parsed = series.cast(pl.Float64, strict=False)
        lost = series.filter(parsed.is_null() & series.is_not_null())
        if len(lost):
            was = "true or false" if self.kind == FLAG else "numbers"
            raise InputError(
                f"column {self.name!r} must hold {was}, as at first, got {lost[0]!r} and "
                f"{len(lost) - 1:,} more: give it in the same form"
            )
        return parsed

    def _dated(self, series: Any) -> Any:
        """Text or moments as moments."""
        text = series if kind_of(series) == DATE else series.cast(polars(self.name).String)
        found = as_moments(text, self.order)
        lost = series.filter(found.is_null() & series.is_not_null())
        if len(lost):
            raise InputError(
                f"column {self.name!r} must hold dates, {SAID[self.order or 'ymd']}, as at first, "
                f"got {lost[0]!r} and {len(lost) - 1:,} more: give it in the same form"
            )
        return found


def has_names(columns: Sequence[Column]) -> bool:
    """Whether columns have names of their own; those of a matrix are x0, x1, and so on."""
    return any(column.name != f"x{j}" for j, column in enumerate(columns))


def kind_of(series: Any) -> str:
    """Which of the kinds a series is by its type, or a problem; text may hold dates."""
    kind = series.dtype
    if kind.is_numeric():
        return NUMBER
    name = str(kind)
    if name.startswith("Date"):
        return DATE
    if name == "Boolean":
        return FLAG
    if name.startswith(("String", "Categorical", "Enum")):
        return TEXT
    raise leave_out(
        series.name,
        f"column {series.name!r} must hold numbers, true and false, or text, got {name}: "
        "leave it out",
    )


def cleaned(series: Any) -> Any:
    """NaN as missing; infinities are refused."""
    if series.dtype.is_decimal() or str(series.dtype).endswith("Int128"):  # NumPy has neither
        series = series.cast(polars(series.name).Float64)
    # A sum is finite unless a value is not, or it overflows: others would be a query each.
    if series.dtype.is_float() and not math.isfinite(series.sum()):
        if series.is_infinite().any():
            raise leave_out(
                series.name,
                f"column {series.name!r} must be finite, got "
                f"{count_of(series.is_infinite().sum(), 'infinite value')}: replace them, or leave "
                "it out",
            )
        return series.fill_nan(None)
    return series


def learn(series: Any, impute: str | None, max_categories: int) -> Column:
    """How the values of a cleaned series become numbers."""
    name = series.name
    if series.null_count() == len(series):
        raise leave_out(
            name,
            f"column {name!r} must hold a value, got {len(series):,} missing ones: leave it out",
        )
    kind = kind_of(series)
    if kind != TEXT:
        return Column(name, kind, fill=_fill(series, kind, impute))
    values = series.cast(polars(name).String)
    categories = sorted(value for value in values.unique().to_list() if value is not None)
    if len(categories) > max_categories:
        raise _too_many(values.drop_nulls(), len(categories), max_categories)
    column = Column(name, TEXT, tuple(categories))
    if impute is None:
        return column
    codes = column.codes(values)
    return replace(column, fill=categories[np.bincount(codes[codes >= 0]).argmax()])


def learn_date(moments: Any, way: str, order: str, impute: str | None) -> Column:
    """How moments become numbers, in one of the ways of `dates`; `order` of the text they were."""
    name, parts = moments.name, parts_of(moments, way)
    if impute is None:
        return Column(name, DATE, parts=parts, order=order)
    pl = polars(name)
    there = values_of(moments.drop_nulls(), parts)
    fills = [_fill(pl.Series(name, part), NUMBER, impute) or 0.0 for part in there.T]
    return Column(name, DATE, fill=tuple(fills), parts=parts, order=order)


def is_constant(column: Column, series: Any) -> bool:
    """Whether a column says nothing: one value, missing ones filled or none."""
    if column.kind == TEXT:
        return len(column.categories) == 1
    return series.min() == series.max() and (
        not series.null_count() or (column.kind != DATE and column.standing == float(series.min()))
    )


def _fill(series: Any, kind: str, impute: str | None) -> float | None:
    """What stands for a missing number or flag."""
    if impute is None:
        return None
    if kind == NUMBER and impute != FREQUENT:
        values = series.to_numpy()  # missing ones are NaN
        values = values[~np.isnan(values)] if series.null_count() else values
        return float(values.mean(dtype=np.float64) if impute == MEAN else np.median(values))
    counts = series.value_counts(name="count").drop_nulls().sort(series.name)
    value = counts[series.name][counts["count"].arg_max()]
    return float(value) if kind == NUMBER else bool(value)


def _too_many(values: Any, found: int, limit: int) -> Unsettled:
    """The problem of a text of too many categories; numbers with few words in are told apart."""
    name = values.name
    parsed = values.cast(polars(name).Float64, strict=False)
    words = values.filter(parsed.is_null())
    if 0 < len(words) <= len(values) // 2:
        some = ", ".join(map(repr, sorted(words.unique().to_list())[:3]))
        return leave_out(
            name,
            f"column {name!r} holds numbers in {len(values) - len(words):,} rows and text "
            f"in {len(words):,} ({some}): if that stands for a missing value, put None in its "
            "place, or leave the column out",
        )
    return unsettled(
        name,
        f"column {name!r} must have at most {limit} categories, got {found:,}: raise the limit, "
        f"with max_categories={found}, or leave it out, with drop=[{name!r}]",
        max_categories=found,
    )
