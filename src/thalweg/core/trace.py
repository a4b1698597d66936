"""The history of a run: one row per iteration, columns as arrays.

    iteration      t, 0 at the start
    passes         traversals of the data: each value, gradient or Hessian-vector product is one,
                   a value and gradient taken together are one, a value from known scores none,
                   a look at some of the rows a fraction
    evaluations    gradients plus Hessian-vector products
    seconds        since the start, time before a resume included, compiling not
    value          f(w_t)
    gradient_norm  ‖∇f(w_t)‖∞ (of the gradient mapping where there is a penalty)
    gap            an upper bound on f(w_t) − f*, NaN where there is none

A network's trace has columns of its own after these (`extra`).

A trace holds at most `limit` rows. When it is full it drops every second row and from then on
records every second iteration; `stride` says where that has led. The first and the last row are
always kept.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import numpy as np

from thalweg.core.errors import InputError, suggest

COLUMNS = ("iteration", "passes", "evaluations", "seconds", "value", "gradient_norm", "gap")
LIMIT = 100_000  # rows: 5.6 MB


class Trace:
    """Rows of numbers under the names `columns`; `trace["value"]` is a column as an array."""

    COLUMNS = COLUMNS

    def __init__(
        self,
        rows: np.ndarray | None = None,
        *,
        stride: int = 1,
        limit: int = LIMIT,
        extra: Sequence[str] = (),
    ) -> None:
        self.columns = (*COLUMNS, *extra)
        empty = np.empty((0, len(self.columns)))
        rows = empty if rows is None else np.asarray(rows, dtype=np.float64)
        self._rows = rows
        self._size = len(rows)
        self.stride = stride
        self._limit = limit

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self.columns:
            known = suggest(str(column), self.columns)
            raise InputError(f"a trace has no column {column!r}: {known}")
        return self.rows[:, self.columns.index(column)].copy()

    def __iter__(self) -> Iterator[dict[str, float]]:
        for row in self.rows:
            yield dict(zip(self.columns, row.tolist(), strict=True))

    @property
    def rows(self) -> np.ndarray:
        """All rows, float64[len, 7 and the extra columns]: a view."""
        return self._rows[: self._size]

    @property
    def last(self) -> dict[str, float]:
        """The newest row."""
        return dict(zip(self.columns, self.rows[-1].tolist(), strict=True))

    def append(self, **row: float) -> None:
        """Record one iteration, thinning when the trace is full. Changes the trace in place."""
        # The newest row is always kept, so it may stand off the stride until the next one comes.
        if self._size > 1 and self._rows[self._size - 1, 0] % self.stride:
            self._size -= 1
        if self._size >= self._limit:
            kept = self.rows[::2]
            self._rows[: len(kept)] = kept
            self._size = len(kept)
            self.stride *= 2
        if self._size == len(self._rows):
            longer = np.empty((max(64, 2 * len(self._rows)), len(self.columns)))
            longer[: self._size] = self.rows
            self._rows = longer
        self._rows[self._size] = [row[column] for column in self.columns]
        self._size += 1

    def annotate(self, **row: float) -> None:
        """Fill in columns of the newest row that were not known before. Changes it in place."""
        for column, number in row.items():
            self._rows[self._size - 1, self.columns.index(column)] = number

    def to_csv(self) -> str:
        """The trace as text, each number with all its digits."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            whole, rest = row[:3], row[3:]
            writer.writerow([_plain(x) for x in whole] + [repr(float(x)) for x in rest])
        return out.getvalue()

    @classmethod
    def from_csv(cls, text: str, *, stride: int = 1) -> Trace:
        """Read back what `to_csv` wrote."""
        try:
            lines = list(csv.reader(io.StringIO(text)))
        except csv.Error as problem:
            raise InputError(f"a trace must be a table of commas, got another ({problem})") from (
                problem
            )
        if not lines or tuple(lines[0][: len(COLUMNS)]) != COLUMNS:
            raise InputError(
                f"a trace must begin with the columns {', '.join(COLUMNS)}, got "
                f"{lines[0] if lines else 'nothing'}"
            )
        rows = np.array([[float(x) for x in line] for line in lines[1:]])
        extra = lines[0][len(COLUMNS) :]
        return cls(rows.reshape(-1, len(lines[0])), stride=stride, extra=extra)

    def __repr__(self) -> str:
        if not self._size:
            return "Trace(empty)"
        thinned = f", every {self.stride}th iteration" if self.stride > 1 else ""
        last = self.last
        return (
            f"Trace({self._size} rows to iteration {last['iteration']:.0f}{thinned}: "
            f"value {self.rows[0, 4]:.6g} → {last['value']:.6g})"
        )


def _plain(number: float) -> str:
    """A count without a trailing .0; fractions of a pass keep theirs."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))
