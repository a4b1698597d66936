"""Dates: recognised in text, and made numbers that a model can use.

    order   ymd  2024-01-31     dmy  31.01.2024     mdy  01/31/2024
    time    after a blank or T: 13:00, 13:00:05.25, 1:00 PM; Z, UTC or +01:00 after it is passed
            over, so that an hour is that of the clock that was read

    expand  year, month 1 to 12, weekday 1 (Monday) to 7, hour 0 to 23
    cyclic  year, and sine and cosine of the others, 2πk/K for the k-th of K from k = 0:
            December is beside January, and midnight beside eleven

There is an hour where some moment is not midnight. A missing date has every part missing, and each
is filled as a number is. An order is known where all values of the column have one reading; where
they have two (01/02/2024), another column of the file may tell, or `date_format`. Years of two
digits are 1969 to 2068.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thalweg.tables.extra import polars

EXPAND, CYCLIC = "expand", "cyclic"
WAYS = (EXPAND, CYCLIC)
ORDERS = {"ymd": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}  # places of year, month and day
SAID = {"ymd": "year first", "dmy": "day first", "mdy": "month first"}
CYCLES = {"month": (1, 12), "weekday": (1, 7), "hour": (0, 24)}  # the first, and how many
WAVES = ("sin", "cos")
PARTS = ("year", *CYCLES, *(f"{name} {wave}" for name in CYCLES for wave in WAVES))
PIVOT = 69  # years of two digits from here on are of the last century
PATTERN = (  # of Python and of polars alike
    r"^([0-9]{1,4})([-/.])([0-9]{1,2})([-/.])([0-9]{1,4})"
    r"(?:[T ]([0-9]{1,2}):([0-5][0-9])(?::[0-5][0-9](?:[.,][0-9]+)?)?(?: ?([AaPp])[Mm])?)?"
    r"(?: ?(?:Z|UTC|[-+][0-9]{2}:?[0-9]{2}))?$"
)
DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])  # of a month
SAMPLE = 100  # values that tell whether a text is looked at further
STRAYS = 3  # different texts among dates that may all stand for missing ones


class Dated(NamedTuple):
    """A column that holds dates."""

    orders: tuple[str, ...]  # in which all its values are some, none where no one is
    strays: tuple[str, ...] = ()  # values that are no date, where there are few
    separator: str = ""  # between the numbers of the first


def dated(series: Any) -> Dated | None:
    """Whether a series is of dates, in which orders; None where most of it is none."""
    pl = polars(series.name)
    if series.dtype.is_temporal():
        return Dated(("ymd",)) if series.dtype in (pl.Date, pl.Datetime) else None
    there = series.drop_nulls()
    if series.dtype != pl.String or not len(there):
        return None
    if there.head(SAMPLE).str.strip_chars().str.contains(PATTERN).mean() < 0.5:
        return None
    values = there.unique(maintain_order=True)
    read = {order: moments(values, order) for order in ORDERS}
    fitting = tuple(order for order, found in read.items() if not np.isnat(found).any())
    separator = _fields(values)["2"].drop_nulls().to_list()[0]
    if fitting:
        return Dated(fitting, separator=separator)
    least = min(read.values(), key=lambda found: int(np.isnat(found).sum()))
    strays = values.filter(pl.Series(np.isnat(least))).to_list()
    if 2 * len(strays) > len(values):
        return None
    return Dated((), tuple(strays) if len(strays) <= STRAYS else ())


def moments(texts: Any, order: str) -> np.ndarray:
    """Texts as datetime64[ms][n]; NaT where one is no date in this order, or missing."""
    fields = _fields(texts)
    numbers = {k: _whole(fields[k]) for k in "13567"}
    widths = [fields[k].str.len_chars().fill_null(0).to_numpy() for k in "135"]
    places = ORDERS[order]
    year, month, day = (numbers["135"[place]] for place in places)
    is_long = widths[places[0]] == 4
    year = np.where(is_long, year, year + np.where(year < PIVOT, 2000, 1900))
    right = is_long | (widths[places[0]] == 2) if places[0] else is_long
    right &= (widths[places[1]] <= 2) & (widths[places[2]] <= 2)
    right &= (fields["2"] == fields["4"]).fill_null(False).to_numpy()
    right &= (year >= 1) & (month >= 1) & (month <= 12)
    month = np.where(right, month, 1)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    right &= (day >= 1) & (day <= DAYS[month] + ((month == 2) & leap))
    hour, half = numbers["6"], fields["8"].str.to_lowercase()
    is_half = half.is_not_null().to_numpy()
    right &= np.where(is_half, (hour >= 1) & (hour <= 12), hour <= 23)
    is_late = (half == "p").fill_null(False).to_numpy()
    hour = np.where(is_half, hour % 12 + 12 * is_late, hour)
    months = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    minutes = 1440 * (day - 1) + 60 * hour + numbers["7"]
    found = months.astype("datetime64[ms]") + minutes.astype("timedelta64[m]")
    found[~right] = np.datetime64("NaT")
    return found


def as_moments(series: Any, order: str) -> Any:
    """A series of dates as polars' moments without a zone; null where one is no date."""
    pl = polars(series.name)
    kind = pl.Datetime("ms")
    if series.dtype == pl.Date or series.null_count() == len(series):
        return series.cast(kind)
    if series.dtype == pl.Datetime:
        return series.dt.replace_time_zone(None).cast(kind)
    return pl.Series(series.name, moments(series, order or "ymd"), dtype=kind)


def parts_of(series: Any, way: str) -> tuple[str, ...]:
    """What moments become, by name: `year`, `month`, `hour sin`."""
    has_hours = bool((series.dt.hour() + series.dt.minute()).max() or 0)
    cycles = [name for name in CYCLES if name != "hour" or has_hours]
    if way == CYCLIC:
        cycles = [f"{name} {wave}" for name in cycles for wave in WAVES]
    return ("year", *cycles)


def values_of(series: Any, parts: tuple[str, ...]) -> np.ndarray:
    """The parts of moments, float64[n, parts]; NaN where one is missing."""
    out = np.empty((len(series), len(parts)))
    for k, part in enumerate(parts):
        name, _, wave = part.partition(" ")
        values = getattr(series.dt, name)().cast(polars(name).Float64).to_numpy()
        if wave:
            first, many = CYCLES[name]
            values = (np.sin if wave == "sin" else np.cos)(2.0 * np.pi * (values - first) / many)
        out[:, k] = values
    return out


def _fields(texts: Any) -> Any:
    """A frame of what the groups of the pattern hold."""
    return texts.str.strip_chars().str.extract_groups(PATTERN).struct.unnest()


def _whole(texts: Any) -> np.ndarray:
    return texts.cast(polars("dates").Int64).fill_null(0).to_numpy()
