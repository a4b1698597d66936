"""A table: features as numbers, what is to be predicted, and how both came to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from thalweg.core.card import NEUTRAL, html_card, text_card
from thalweg.scaling.moments import mean_and_spread

if TYPE_CHECKING:
    from thalweg.tables.encoding import Encoding


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """What `read` returns; `tw.LinearProblem(table.X, table.y)` takes it as it is."""

    X: Any  # float[n, p], or CSR
    y: np.ndarray | None  # float64[n], or int64[n] places in `class_names`
    encoding: Encoding  # does the same to later data
    source: str
    format: str
    notes: tuple[str, ...] = ()  # what a reader should know, one sentence each
    missing: Mapping[str, int] = field(default_factory=dict)  # missing values by column, if any

    @property
    def rows(self) -> int:
        """n."""
        return self.X.shape[0]

    @property
    def feature_names(self) -> list[str]:
        """Of the columns of X, `wd=NNW` for a category."""
        return self.encoding.feature_names

    @property
    def class_names(self) -> list[str] | None:
        """Of the classes 0, 1, … of y, None for a regression."""
        target = self.encoding.target
        return list(target.classes) if target is not None and target.classes else None

    @property
    def memory(self) -> int:
        """Bytes of X and y."""
        X = self.X
        parts = (X.data, X.indices, X.indptr) if scipy.sparse.issparse(X) else (X,)
        return sum(part.nbytes for part in parts) + (0 if self.y is None else self.y.nbytes)

    def describe(self) -> str:
        """Shape, types, target, missing values and scaling on one screen, then the notes."""
        return text_card(*self._headline(), [f"{head:<9}{text}" for head, text in self.card()])

    __repr__ = __str__ = describe

    def _repr_html_(self) -> str:
        return html_card(*self._headline(), self.card(), tone=NEUTRAL)

    def _headline(self) -> tuple[str, str]:
        n, p = self.X.shape
        return "TABLE", f"{self.source} ({self.format}): {n:,} rows × {p:,} features"

    def card(self) -> list[tuple[str, str]]:
        """What the data are: label and text, line by line."""
        kinds = self.encoding.counts
        lines = [
            ("columns", ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())),
            ("numbers", f"{_layout(self.X)}, {self.X.dtype}, {size(self.memory)}"),
            ("target", self._target()),
            ("missing", listed(self.missing) if self.missing else "none"),
            ("scaling", self._scaling()),
        ]
        return lines + [("note", note) for note in self.notes]

    def _target(self) -> str:
        target = self.encoding.target
        if self.y is None or target is None:
            return "none"
        if not target.classes:
            low, mean, high = self.y.min(), self.y.mean(), self.y.max()
            return f"{target.name}, from {low:g} to {high:g}, mean {mean:.4g}"
        counts = np.bincount(self.y[self.y >= 0], minlength=len(target.classes))
        return f"{target.name}, {len(target.classes)} classes: " + listed(
            dict(zip(target.classes, counts.tolist(), strict=True)), 10
        )

    @cached_property
    def mean_and_spread(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of every feature, float64[p] each; two passes over X."""
        return mean_and_spread(self.X)

    def _scaling(self) -> str:
        """The largest and the smallest spread of a column."""
        _, spread = self.mean_and_spread
        moving = np.flatnonzero(spread > 0.0)
        if not moving.size:
            return "every column is constant"
        low, high = moving[spread[moving].argmin()], moving[spread[moving].argmax()]
        names = self.feature_names
        return (
            f"standard deviations from {spread[low]:.3g} ({names[low]}) to {spread[high]:.3g} "
            f"({names[high]}), ratio {spread[high] / spread[low]:.3g}"
        )


def listed(counts: Mapping[str, int], most: int = 5) -> str:
    """Names with their numbers, the first few of them."""
    shown = ", ".join(f"{name} {count:,}" for name, count in list(counts.items())[:most])
    return shown + (f" and {len(counts) - most:,} more" if len(counts) > most else "")


def size(count: int) -> str:
    """Bytes for a reader."""
    if count >= 1e10:
        return f"{count / 1e9:,.1f} GB"
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"


def _layout(X: Any) -> str:
    if not scipy.sparse.issparse(X):
        return "dense"
    return f"sparse, {X.nnz / max(1, X.shape[0] * X.shape[1]):.2%} stored"
