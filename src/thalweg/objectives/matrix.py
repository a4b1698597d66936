"""The matrix of a linear problem: taken as it came, checked, and only converted where it must be.

C- and F-ordered arrays and CSR matrices of float32 or float64 are used in place, read-only and
memory-mapped ones too, with 32- or 64-bit indices. Other sparse forms become CSR and integers
become float64: one copy, which `notes` tells of. Nothing of what was passed is ever written to.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.core.finiteness import first_not_finite
from thalweg.kernels.rows import CSR


class Matrix(NamedTuple):
    """A checked matrix, in the form that kernels take."""

    rows: np.ndarray | CSR  # what kernels are given
    shape: tuple[int, int]  # n, p
    dtype: np.dtype
    entries: int  # stored ones
    notes: tuple[str, ...]  # conversions that took a copy

    @property
    def is_sparse(self) -> bool:
        """Whether zeros are left out."""
        return isinstance(self.rows, CSR)

    def take(self, rows: np.ndarray) -> Matrix:
        """Some of the rows, copied, in the same storage: kernels compile nothing new for them."""
        X, shape = self.rows, (len(rows), self.shape[1])
        if isinstance(X, CSR):
            part = scipy.sparse.csr_array((X.data, X.indices, X.indptr), shape=self.shape)[rows]
            kind = X.indices.dtype
            X = CSR(part.data, part.indices.astype(kind), part.indptr.astype(X.indptr.dtype))
            return self._replace(rows=X, shape=shape, entries=part.data.size, notes=())
        is_writeable = X.flags.writeable
        X = np.asarray(X[rows], order="C" if X.flags.c_contiguous else "F")
        X.flags.writeable = is_writeable  # it is part of the type that a kernel compiles for
        return self._replace(rows=X, shape=shape, entries=X.size, notes=())

    def between(self, start: int, stop: int) -> Matrix:
        """The rows from `start` to `stop`, as views; of sparse ones, their beginnings are new."""
        X, shape = self.rows, (stop - start, self.shape[1])
        if isinstance(X, CSR):
            indptr = X.indptr[start : stop + 1]
            here = slice(int(indptr[0]), int(indptr[-1]))
            part = CSR(X.data[here], X.indices[here], indptr - indptr[0])
            return self._replace(rows=part, shape=shape, entries=here.stop - here.start)
        rows = X[start:stop]
        if not (rows.flags.c_contiguous or rows.flags.f_contiguous):
            rows = np.asfortranarray(rows)  # by columns a slice of rows is not in one piece
            rows.flags.writeable = X.flags.writeable
        return self._replace(rows=rows, shape=shape, entries=rows.size)


def check_matrix(X: Any) -> Matrix:
    """`X` as a `Matrix`, or a sentence on why it cannot be used.

    Whether it is finite is seen when its columns are measured (`objectives.rows`).
    """
    notes: list[str] = []
    if scipy.sparse.issparse(X):
        return _sparse(X, notes)
    try:
        array = np.asarray(X)
    except ValueError as problem:
        raise InputError(
            f"X must be a matrix of numbers, got {describe(X)} ({problem}): "
            "give every row the same length"
        ) from problem
    _check_shape(array.shape)
    array = _floating(array, notes)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
        notes.append("X was copied: its rows are not contiguous")
    return Matrix(_unwritable(array), array.shape, array.dtype, array.size, tuple(notes))


def check_finite(matrix: Matrix) -> None:
    """Raise unless all entries are finite."""
    X = matrix.rows
    bad = first_not_finite(X.data if isinstance(X, CSR) else X)
    if bad is None:
        return
    if isinstance(X, CSR):
        row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
        value, column = X.data[bad[0]], X.indices[bad[0]]
    else:
        value, (row, column) = X[bad], bad
    raise InputError(
        f"X must be finite, got {value} in row {row}, column {column}: "
        "impute or drop NaN and infinite entries first"
    )


def _sparse(X: Any, notes: list[str]) -> Matrix:
    _check_shape(X.shape)
    if X.format != "csr":
        notes.append(f"X was converted from {X.format.upper()} to CSR, one copy")
        X = X.tocsr()
    data = _floating(X.data, notes)
    if not X.has_canonical_format:
        row = _row_with_duplicates(X.indices, X.indptr)
        if row is not None:
            raise InputError(
                f"X must have each entry once, got a column twice in row {row}: "
                "pass a copy after its sum_duplicates()"
            )
    rows = CSR(_unwritable(data), _unwritable(X.indices), _unwritable(X.indptr))
    return Matrix(rows, X.shape, data.dtype, data.size, tuple(notes))


def _unwritable(array: np.ndarray) -> np.ndarray:
    """A view that cannot be written to: of two types, each kernel would be compiled twice."""
    view = array.view()
    view.flags.writeable = False
    return view


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise InputError(
            f"X must have two axes, samples and features, got shape {shape}: "
            "use X.reshape(-1, 1) for a single feature"
        )
    if 0 in shape:
        raise InputError(f"X must have at least one sample and one feature, got shape {shape}")


def _floating(array: np.ndarray, notes: list[str]) -> np.ndarray:
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind in "iub":
        notes.append(f"X was converted from {array.dtype} to float64, one copy")
        return array.astype(np.float64)
    raise InputError(
        f"X must be float32, float64 or integer, got {array.dtype}: convert it, "
        "and encode text as numbers"
    )


def _row_with_duplicates(indices: np.ndarray, indptr: np.ndarray) -> int | None:
    for row, (start, stop) in enumerate(pairwise(indptr)):
        if np.unique(indices[start:stop]).size < stop - start:
            return row
    return None
