"""Targets, labels and weights of the samples, checked where they enter."""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.core.finiteness import first_not_finite


def check_targets(y: Any, n: int) -> np.ndarray:
    """Targets of a regression, float64[n]."""
    array = _one_axis("y", y, n)
    if array.dtype.kind not in "iufb":
        raise InputError(
            f"y must hold real numbers for a regression, got {array.dtype}: "
            "convert it, or use a classification loss"
        )
    array = array.astype(np.float64)
    _check_finite("y", array)
    return array


def check_means(y: np.ndarray, c: np.ndarray, loss: str) -> None:
    """Raise where targets are out of the range of a loss of means e^z, or all are zero."""
    least = np.finfo(np.float64).tiny if loss == "gamma" else 0.0
    bad = np.flatnonzero(y < least)
    if bad.size:
        other = "squared" if float(y.min()) < 0.0 else "poisson"  # which takes zeros
        raise InputError(
            f"y must be {'positive' if loss == 'gamma' else 'at least 0'} for the {loss} loss, got "
            f"{y[bad[0]]} at position {bad[0]}: drop that sample, or use loss='{other}'"
        )
    if not np.any(y[c > 0.0]):
        raise InputError(
            f"y must not be all zero for the {loss} loss, whose means e^z never are: "
            "there is nothing to fit"
        )


def check_labels(y: Any, n: int, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """The classes in order, and the labels as ∓1, or as 0 … K − 1 for the multinomial loss."""
    array = _one_axis("y", y, n)
    if array.dtype.kind == "f":
        _check_finite("y", array)
    if array.dtype.kind == "O":
        # Only a NaN differs from itself; sorting would make a class of it, or several.
        _check_finite("y", np.array([0.0 if label == label else np.nan for label in array]))
    if array.dtype.kind == "c":
        raise InputError(f"y must hold labels, got {array.dtype}: use numbers or text")
    try:
        classes, codes = _classes(array)
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for label in array.tolist()})
        raise InputError(
            f"y must hold labels of one kind, got {' and '.join(kinds)}: convert them to text"
        ) from problem
    if len(classes) < 2:
        raise InputError(
            f"y must hold at least two classes, got only {classes.tolist()[0]!r}: "
            "there is nothing to tell apart"
        )
    if loss == "multinomial":
        return classes, codes.astype(np.int64)
    if len(classes) > 2:
        raise InputError(
            f"y must hold two classes for the {loss} loss, got {len(classes)}: "
            "use loss='multinomial'"
        )
    return classes, 2.0 * codes - 1.0


def _classes(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels in order and the place of each one; two numbers are told without sorting.

    Sorting takes longer than several looks at dense data of fifty columns.
    """
    if array.dtype.kind in "iufb" and array.size:
        low, high = array.min(), array.max()
        is_high = array == high
        if low < high and np.all(is_high | (array == low)):
            return np.array([low, high]), is_high.astype(np.intp)
    return np.unique(array, return_inverse=True)


def check_weights(sample_weight: Any, n: int) -> np.ndarray:
    """The weights cᵢ = sᵢ/Σs, float64[n]."""
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    array = _one_axis("sample_weight", sample_weight, n)
    if array.dtype.kind not in "iufb":
        raise InputError(f"sample_weight must hold real numbers, got {array.dtype}")
    array = array.astype(np.float64)
    _check_finite("sample_weight", array)
    negative = np.flatnonzero(array < 0)
    if negative.size:
        raise InputError(
            f"sample_weight must not be negative, got {array[negative[0]]} at position "
            f"{negative[0]}: use 0 to leave a sample out"
        )
    largest = float(array.max())
    if largest == 0.0:
        raise InputError("sample_weight must not be all zero: give some sample a weight")
    array /= largest  # their sum could overflow
    return array / array.sum()


def _one_axis(name: str, values: Any, n: int) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as problem:
        raise InputError(
            f"{name} must have one axis, got {describe(values)} ({problem}): "
            "one entry for each row of X"
        ) from problem
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(
            f"{name} must have one axis, got {describe(array)}: one entry for each row of X"
        )
    if len(array) != n:
        raise InputError(f"{name} must have {n} entries, as X has rows, got {len(array)}")
    return array


def _check_finite(name: str, array: np.ndarray) -> None:
    bad = first_not_finite(array)
    if bad is not None:
        raise InputError(
            f"{name} must be finite, got {array[bad]} at position {bad[0]}: drop that sample"
        )
