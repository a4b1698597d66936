"""Rows that come one by one, as columns: at most `limit`, evenly spaced over all that came.

    stride ← 1;   rows number 0, stride, 2·stride, … are kept;
    a row that finds the table full:  keep rows 0, 2, 4, … of it;   stride ← 2·stride

A long training takes no more memory than a short one, and its first row is always there. `sparse`
columns are measured now and then (a validation loss): where a row is left out, its number goes to
the row before it, if that has none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.errors import InputError


class SpacedRows:
    """A table of rows of one shape, float64, that grows in place."""

    def __init__(self, shape: tuple[int, ...], limit: int, sparse: Sequence[int] = ()) -> None:
        if limit < 2 or limit % 2:
            raise InputError(f"limit must be an even number, at least 2, got {limit}")
        self.limit, self.sparse, self.stride = limit, list(sparse), 1
        self.came = 0  # rows that were offered
        self._rows = np.empty((min(64, limit), *shape))
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> np.ndarray:
        """The rows that are kept, float64[len, …]: a view."""
        return self._rows[: self._size]

    def offer(self, row: np.ndarray | Sequence[float]) -> bool:
        """One more row; whether it is kept."""
        number = self.came
        self.came += 1
        if number % self.stride:
            if self.sparse:
                _fill(self.rows[-1:], np.asarray(row)[None], self.sparse)
            return False
        if self._size == self.limit:
            self._thin()
        if self._size == len(self._rows):
            longer = np.empty((min(self.limit, 2 * self._size), *self._rows.shape[1:]))
            longer[: self._size] = self._rows
            self._rows = longer
        self._rows[self._size] = row
        self._size += 1
        return True

    def _thin(self) -> None:
        kept, dropped = self.rows[::2].copy(), self.rows[1::2]
        if self.sparse:
            _fill(kept, dropped, self.sparse)
        self._rows[: len(kept)] = kept
        self._size = len(kept)
        self.stride *= 2


def _fill(rows: np.ndarray, others: np.ndarray, columns: Sequence[int]) -> None:
    """Numbers of `others` where `rows` has none."""
    for column in columns:
        np.copyto(rows[:, column], others[:, column], where=np.isnan(rows[:, column]))
