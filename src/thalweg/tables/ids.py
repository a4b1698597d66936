"""Columns that name rows and measure nothing: what a model learns of them holds for no other row.

A text is one where nearly every row has a value of its own. Of whole numbers that alone says
little: so have populations and prices in cents. But what is measured repeats itself by chance, as
often as values lie close, and what names rows never does. With n values of density f,

    E = n(n − 1)/2 · Σ f²       pairs of equal values are expected,

f from the gaps between every √n-th of the sorted values: n/2 pairs of a shuffled 1, 2, …, n, and
none of a hundred prices spread over millions. A column is an id where less than a twentieth of E is
found and E ≥ 12, by chance one in e¹² ≈ 160,000 columns; or where no value repeats and its name
says so. Tables made by hand or by design have columns whose values all differ and are not drawn,
11, 18, 25, …: where values neither count rows nor have four digits, E ≥ 200 is asked. Years,
seconds since 1970 and days as 20240131 repeat themselves seldom and are none, nor is anything with
a fraction, nor a variable, which has a name of one letter.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

DROP, KEEP = "drop", "keep"
WAYS = (DROP, KEEP)
FEWEST = 20  # rows; with fewer, that values differ says nothing
NEARLY = 0.9  # of the rows of a text have a value of their own
EXPECTED, REPEATED = 12.0, 0.05  # pairs by chance, and the share of them that may be found
DESIGNED, SHORT = 200.0, 1000  # pairs by chance of values below this that do not count rows
YEARS = (1500, 2200)
SECONDS, MILLISECONDS = (6e8, 4e9), (6e11, 4e12)  # from 1970 to some day between 1989 and 2096
DAYS = (18000101, 22001231)  # 20240131
NAMES = frozenset(
    {"id", "ids", "uid", "uuid", "guid", "key", "pk", "index", "idx", "identifier", "serial"}
    | {"row", "rowid", "rownum", "rownumber", "unnamed"}
)
WEAK = frozenset({"no", "nr", "num", "number", "nummer", "code"})  # at the end of a name
TIMES = frozenset(
    {"time", "timestamp", "date", "datetime", "year", "month", "day", "hour", "minute", "second"}
    | {"epoch", "t", "ts"}
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_UNIT = re.compile(r"^([$€£¥]) ?|( ?[%€$£¥]| ?°[CF]?| [A-Za-zµ]{1,3}(/[a-z]{1,3})?)$")
_NUMBER = r"^[-+]?[0-9][0-9., ]*$"


def is_id(series: Any) -> bool:
    """Whether a cleaned series of text or numbers names rows."""
    there = series.drop_nulls()
    if len(there) < FEWEST:
        return False
    if str(series.dtype).startswith(("String", "Categorical", "Enum")):
        return there.n_unique() >= NEARLY * len(there) and not unit_of(there)
    if not series.dtype.is_numeric():
        return False
    values = there.to_numpy()
    # Most columns show a fraction in their first rows.
    if any((part != np.floor(part)).any() for part in (values[:100], values)):
        return False
    if len(series.name) == 1:
        return False
    return _names_rows(np.sort(values.astype(np.float64)), words_of(series.name))


def words_of(name: str) -> list[str]:
    """The words of a name: customerId, customer_id and "Customer ID" have the same."""
    return [word.lower() for word in _WORDS.findall(name)]


def unit_of(texts: Any) -> str:
    """What stands beside a number in all of the texts, " kg" or "$"; empty if nothing does."""
    first = _UNIT.search(texts[0].strip())
    if first is None:
        return ""
    mark = first[0].strip()
    bare = texts.str.strip_chars()
    cut = bare.str.strip_prefix(mark) if first[1] else bare.str.strip_suffix(mark)
    is_marked = bare.str.len_chars() > cut.str.len_chars()
    is_number = cut.str.strip_chars().str.contains(_NUMBER)
    return mark if bool((is_marked & is_number).all()) else ""


def _names_rows(ordered: np.ndarray, words: list[str]) -> bool:
    """Of sorted whole numbers."""
    repeated = pairs_of(ordered)
    is_named = bool(NAMES & set(words)) or (bool(words) and words[-1] in WEAK)
    if is_named and not repeated:
        return True
    if TIMES & set(words) or _is_time(ordered):
        return False
    counts = ordered[-1] - ordered[0] == len(ordered) - 1 and not repeated
    least = EXPECTED if counts or ordered[0] >= SHORT else DESIGNED
    expected = expected_pairs(ordered)
    return expected >= least and repeated <= REPEATED * expected


def pairs_of(ordered: np.ndarray) -> float:
    """How many pairs of sorted values are equal."""
    starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf))
    counts = np.diff(starts, append=len(ordered)).astype(np.float64)
    return float((counts * (counts - 1.0)).sum() / 2.0)


def expected_pairs(ordered: np.ndarray) -> float:
    """How many pairs would be equal by chance, were values drawn anew from their own density."""
    n = len(ordered)
    edges = np.linspace(0, n - 1, max(2, int(n**0.5)) + 1).astype(np.int64)
    counts = np.diff(edges).astype(np.float64)
    widths = np.maximum(np.diff(ordered[edges]), 1.0)
    return float(0.5 * n * (n - 1) * np.sum((counts / (n - 1)) ** 2 / widths))


def _is_time(ordered: np.ndarray) -> bool:
    low, high = ordered[0], ordered[-1]
    if any(least <= low and high <= most for least, most in (YEARS, SECONDS, MILLISECONDS)):
        return True
    if not (DAYS[0] <= low and high <= DAYS[1]):
        return False
    month, day = ordered // 100 % 100, ordered % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())
