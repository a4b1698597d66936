"""A linear model with the columns it reads, as plain values that any language can hold.

    zₖ = bₖ + Σ over columns  x·w      of a number x
                              0·w or 1·w       of false and true
                              w of its category, 0 of one that is not known      of a text
                              Σ part·w of its parts                              of a date

in the order of the columns, which is the order in which Thalweg adds. What is missing stands for
`fill`; where there is none it has no answer. The link makes an answer of z:

    identity    z
    exp         e^z
    logistic    the second class where z > 0, with probability 1/(1 + e^(−z))
    sign        the second class where z > 0, without probabilities
    softmax     the class of the largest z, with probabilities e^zₖ / Σ e^z
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from thalweg.core.errors import InputError
from thalweg.runs.prediction import LINKS
from thalweg.runs.saved import Saved
from thalweg.tables.column import DATE, FLAG, TEXT, Column, has_names


@dataclass(frozen=True)
class Portable:
    """What answers for rows of the source's own columns."""

    target: str
    link: str
    classes: tuple[str, ...]  # in the order of scores; none of a number
    columns: tuple[Column, ...]
    coefficients: np.ndarray  # float64[p, K], a row a feature, in the order of columns
    intercepts: np.ndarray  # float64[K]
    is_table: bool  # whether columns have names of their own, or are those of a matrix

    @property
    def scores(self) -> int:
        """K, how many numbers a row is given."""
        return len(self.intercepts)

    @property
    def of_columns(self) -> Iterator[tuple[Column, np.ndarray]]:
        """Each column with its coefficients, float64[features, K]."""
        start = 0
        for column in self.columns:
            stop = start + len(column.features)
            yield column, self.coefficients[start:stop]
            start = stop


def portable(saved: Saved) -> Portable:
    """The linear model of a run with all that a row needs to be scored."""
    model, encoding = saved.linear_model, saved.encoding
    if model.loss not in LINKS:
        raise InputError(
            f"{saved.folder} has the loss {model.loss}, whose answers are not exported: use "
            "thalweg predict, or tw.load(run).estimator()"
        )
    return Portable(
        target=encoding.target.name if encoding.target else "y",
        link=LINKS[model.loss],
        classes=tuple(model.classes[code] for code in model.codes),
        columns=encoding.columns,
        coefficients=np.reshape(model.coefficients, (len(model.coefficients), -1)),
        intercepts=np.atleast_1d(model.intercepts),
        is_table=has_names(encoding.columns),
    )


def fills_of(column: Column) -> list[float] | None:
    """What stands for each part of a missing date."""
    return None if column.fill is None else list(column.fill)  # type: ignore[arg-type]


def refuse_dates(columns: Iterable[Column], what: str) -> None:
    """Raise where a column holds dates, which `what` cannot read."""
    dates = [column.name for column in columns if column.kind == DATE]
    if dates:
        raise InputError(
            f"{what} reads no dates as they are written, got {', '.join(map(repr, dates[:5]))}: "
            "export it --to json, python or c, or train without them, with --drop"
        )


def fill_of(column: Column) -> float | int | None:
    """What stands for a missing value, as it is counted: a number, or the place of a category."""
    if column.fill is None:
        return None
    if isinstance(column.fill, tuple):
        raise AssertionError("of a date each part is filled")
    if column.kind == TEXT:
        return column.categories.index(str(column.fill))
    return int(bool(column.fill)) if column.kind == FLAG else float(column.fill)
