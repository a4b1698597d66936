"""Input checks: each returns the cleaned value or raises one clear sentence.

A message reads: argument, condition, what came, way out.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from thalweg.core.errors import InputError, suggest


def describe(value: Any) -> str:
    """What came, short enough to stand in a sentence."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}... ({type(value).__name__})"


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    advice: str = "",
) -> float:
    """`value` as a finite float within the given limits."""
    left = "(" if above is not None else "["
    right = ")" if below is not None else "]"
    low = above if above is not None else at_least
    high = below if below is not None else at_most
    if low is not None and high is not None:
        condition = f"in {left}{low:g}, {high:g}{right}"
    elif low is not None:
        condition = f"{'above' if above is not None else 'at least'} {low:g}"
    elif high is not None:
        condition = f"{'below' if below is not None else 'at most'} {high:g}"
    else:
        condition = "finite"
    tail = f": {advice}" if advice else ""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        kind = "a finite number" if condition == "finite" else f"a number {condition}"
        raise InputError(f"{name} must be {kind}, got {describe(value)}{tail}")
    try:
        number = float(value)
    except OverflowError:  # a whole number of Python may be beyond all floats
        number = math.inf
    inside = (
        math.isfinite(number)
        and (above is None or number > above)
        and (at_least is None or number >= at_least)
        and (below is None or number < below)
        and (at_most is None or number <= at_most)
    )
    if not inside:
        raise InputError(f"{name} must be {condition}, got {number!r}{tail}")
    return number


def check_count(name: str, value: Any, *, at_least: int = 1, advice: str = "") -> int:
    """`value` as an int of at least `at_least`."""
    tail = f": {advice}" if advice else ""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or int(value) < at_least:
        raise InputError(
            f"{name} must be a whole number, at least {at_least}, got {describe(value)}{tail}"
        )
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """`value` if it is one of `choices`, else an error that suggests the nearest."""
    if isinstance(value, str) and value in choices:
        return value
    raise InputError(f"{name} must be a known name, got {value!r}: {suggest(str(value), choices)}")


def check_known(owner: str, kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise unless every name of `given` is one that `owner` knows: a field, an option."""
    names = list(known)
    for name in given:
        if name not in names:
            raise InputError(f"{owner} has no {kind} {name!r}: {suggest(str(name), names)}")


def check_vector(name: str, value: Any, *, dim: int | None = None) -> np.ndarray:
    """`value` as a fresh finite vector; float32 and float64 are kept, integers become float64."""
    try:
        array = np.asarray(value)
    except Exception as problem:
        raise InputError(
            f"{name} must be a vector of numbers, got {describe(value)} ({problem}): "
            "pass a list or a one-dimensional array"
        ) from problem
    if array.dtype.kind not in "iuf":
        raise InputError(
            f"{name} must hold real numbers, got {array.dtype} ({describe(value)}): "
            "pass float32 or float64"
        )
    if array.dtype.kind in "iu":
        array = array.astype(np.float64)
    if array.dtype not in (np.float32, np.float64):
        raise InputError(
            f"{name} must be float32 or float64, got {array.dtype}: convert it with .astype"
        )
    if array.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, got shape {array.shape}: flatten it with .ravel()"
        )
    if array.size == 0:
        raise InputError(f"{name} must have at least one entry, got an empty vector")
    if dim is not None and array.size != dim:
        raise InputError(
            f"{name} must have {dim} entries, as the objective has variables, got {array.size}"
        )
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InputError(
            f"{name} must be finite, got {array[bad[0]]} at position {bad[0]}"
            + (f" and {bad.size - 1} more" if bad.size > 1 else "")
            + ": replace it by a number"
        )
    return np.array(array, order="C")


def check_reals(name: str, value: Any) -> np.ndarray:
    """`value` as an array of any shape; float32 and float64 are kept, integers become float64."""
    try:
        array = np.asarray(value)
    except ValueError as problem:
        raise InputError(
            f"{name} must hold real numbers, got {describe(value)} ({problem}): "
            "pass an array, or lists of equal length"
        ) from problem
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind not in "iuf":
        raise InputError(
            f"{name} must hold real numbers, got {array.dtype} ({describe(value)}): "
            "pass float32 or float64"
        )
    return array.astype(np.float64)


def check_callable(name: str, value: Any, *, signature: str) -> None:
    """Raise unless `value` can be called; `signature` says how it will be."""
    if not callable(value):
        raise InputError(f"{name} must be a function {signature}, got {describe(value)}")
