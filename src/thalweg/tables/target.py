"""How the column to be predicted becomes y: itself for numbers, 0, 1, … for classes.

Text and true/false are classes. Numbers are classes where they are whole and of at most 20 values,
unless `task` says otherwise; the table says how they were taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.core.checks import check_choice
from thalweg.core.errors import InputError
from thalweg.tables.column import TEXT, kind_of
from thalweg.tables.extra import polars

CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = (CLASSIFICATION, REGRESSION)
FEW = 20  # values of whole numbers that are taken as classes
UNKNOWN = -1  # the code of a class that was not there at first


@dataclass(frozen=True, slots=True)
class Target:
    """The name of what is predicted, and the names of its classes, none for a regression."""

    name: str
    classes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()  # as the source writes the classes, where it names them apart

    def encode(self, values: Any) -> tuple[np.ndarray, str]:
        """y of later values, and a note where some class is new; missing ones stay NaN."""
        if not self.classes:
            return _floats(self.name, values), ""
        found, places = factorised(values)
        known = {label: code for code, label in enumerate(self.labels or self.classes)}
        codes = np.array([known.get(label_of(value), UNKNOWN) for value in found], dtype=np.int64)
        y = codes[places]
        new = int((y == UNKNOWN).sum())
        note = f"{new:,} rows have a class of {self.name!r} that is not known: their y is −1"
        return y, note if new else ""


def learn_target(
    name: str,
    values: Any,
    task: str | None = None,
    class_names: Sequence[str] | None = None,
) -> tuple[Target, np.ndarray, str]:
    """How `values`, none of them missing, become y, that y, and a note where it was a guess."""
    if task is not None:
        check_choice("task", task, TASKS)
    numeric = isinstance(values, np.ndarray) and values.dtype.kind in "iuf"
    if task == REGRESSION and not numeric:
        raise InputError(
            f"target {name!r} must hold numbers for a regression, got {str(values[0])!r}: "
            "leave task out, or give classes numbers"
        )
    if numeric:
        _check_finite(name, values)
    few = _few_whole(values) if numeric else None
    if task == REGRESSION or (task is None and numeric and few is None):
        if values.min() == values.max():
            raise _one_value(name, values[0])
        return Target(name), _floats(name, values), ""
    found, y = factorised(values)
    if len(found) == 1:
        raise _one_value(name, found[0])
    if len(found) > max(FEW, len(values) // 2):
        raise InputError(
            f"target {name!r} must have classes that repeat, got {len(found):,} in "
            f"{len(values):,} rows: choose another target, or task='regression' for numbers"
        )
    labels = tuple(map(label_of, found))
    if class_names is not None and len(class_names) == len(found):
        return Target(name, tuple(class_names), labels), y.astype(np.int64), ""
    note = f"target {name!r} has {len(found)} whole values and was taken as classes"
    is_guess = numeric and task is None and len(found) > 2
    return Target(name, labels), y.astype(np.int64), note if is_guess else ""


def target_values(series: Any) -> Any:
    """A polars series as what `learn_target` takes: an array, or the series itself for text."""
    return series if kind_of(series) == TEXT else series.to_numpy()


def later_values(target: Target, series: Any) -> tuple[np.ndarray | None, str]:
    """y of a column that may lack values, NaN or −1 there; None where it has no value at all."""
    if series.null_count() == len(series):
        return None, f"target {target.name!r} has no values here"
    return target.encode(target_values(series))


def factorised(values: Any) -> tuple[Any, np.ndarray]:
    """The distinct values in order, and the place of each value among them."""
    if isinstance(values, np.ndarray):
        return np.unique(values, return_inverse=True)
    pl = polars("text")
    # Missing text is a class of no name, so that it is none that is known.
    text = values.cast(pl.String).fill_null("")
    found = sorted(text.unique().to_list())
    return found, text.cast(pl.Enum(found)).to_physical().to_numpy()


def label_of(value: Any) -> str:
    """How a class is called: whole numbers without a point."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.decode() if isinstance(value, bytes) else str(value)


def _few_whole(values: np.ndarray) -> np.ndarray | None:
    """The distinct values if they are whole and few."""
    # Most regressions show in the first rows: a sort of all is not needed to know.
    for part in (values[:1000], values):
        found = np.unique(part)
        if len(found) > FEW or not np.all(found == np.round(found)):
            return None
    return found


def _floats(name: str, values: Any) -> np.ndarray:
    try:
        y = np.asarray(values).astype(np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(
            f"target {name!r} must hold numbers, as at first, got {str(values[0])!r}"
        ) from problem
    _check_finite(name, y)
    return y


def _check_finite(name: str, values: np.ndarray) -> None:
    if np.isinf(values).any():
        raise InputError(f"target {name!r} must be finite, got infinite values: remove those rows")


def _one_value(name: str, value: Any) -> InputError:
    return InputError(
        f"target {name!r} must have two values at least, got {label_of(value)} in every row: "
        "there is nothing to learn, choose another target"
    )
