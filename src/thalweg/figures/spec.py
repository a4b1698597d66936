"""A figure as data: what is drawn, in the units of the data, before any pixel.

    Figure ─ title, summary (for readers who do not see it), notes
      └─ Panel ─ two axes and the marks between them
           └─ Curve, Band, Bars, Histogram, Heatmap, Contour, Guide, Point

The renderers (`svg`, `pixels`, `animation`) read this and nothing else, so that a figure on a page,
in a paper and in a notebook shows the same numbers. Nothing here smooths: a curve goes through the
points it was given, and where some were left out, a note says how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg.core.checks import check_choice, check_reals
from thalweg.core.errors import InputError
from thalweg.figures.styles import PLAIN, Style

LINEAR, LOG = "linear", "log"


@dataclass(frozen=True)
class Axis:
    """What an axis measures. `categories` are names at 0, 1, 2, …, of rows or columns."""

    label: str
    scale: str = LINEAR
    low: float | None = None  # from the data where left out
    high: float | None = None
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, (LINEAR, LOG))


@dataclass(frozen=True, eq=False)
class Curve:
    """A line through points. A line breaks where a number is missing or cannot be shown."""

    name: str  # in the legend; "" stays out of it
    x: np.ndarray
    y: np.ndarray
    style: Style = PLAIN
    decides_range: bool = True  # False: the axes do not stretch for it

    def __post_init__(self) -> None:
        _same_length("x", self, "x", "y")


@dataclass(frozen=True, eq=False)
class Band:
    """What lies between two curves."""

    name: str
    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    style: Style = PLAIN

    def __post_init__(self) -> None:
        _same_length("x", self, "x", "low", "high")


@dataclass(frozen=True, eq=False)
class Bars:
    """Horizontal bars from the left edge, at `rows` of a y axis with categories."""

    name: str
    rows: np.ndarray
    values: np.ndarray
    style: Style = PLAIN
    thickness: float = 0.7  # of a row
    labels: tuple[str, ...] = ()  # at the ends of the bars

    def __post_init__(self) -> None:
        _same_length("rows", self, "rows", "values")


@dataclass(frozen=True, eq=False)
class Histogram:
    """Columns between `edges`, one more of them than `heights`."""

    name: str
    edges: np.ndarray
    heights: np.ndarray
    style: Style = PLAIN

    def __post_init__(self) -> None:
        _arrays(self, "edges", "heights")
        if self.edges.ndim != 1 or len(self.edges) != len(self.heights) + 1:
            raise InputError(
                f"edges must be one more than heights, got {self.edges.shape} and "
                f"{self.heights.shape}: a column stands between two edges"
            )


@dataclass(frozen=True, eq=False)
class Heatmap:
    """Cells coloured by `values`, float[rows, columns], the first row at the top."""

    label: str  # of the colours
    values: np.ndarray
    scale: str = LINEAR

    def __post_init__(self) -> None:
        _arrays(self, "values")
        if self.values.ndim != 2 or not self.values.size:
            raise InputError(
                f"values must be a table of rows and columns, got shape {self.values.shape}"
            )


@dataclass(frozen=True, eq=False)
class Contour:
    """Lines on which a surface has the same height; `values[i, j]` is that at x[j], y[i]."""

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    levels: np.ndarray

    def __post_init__(self) -> None:
        _arrays(self, "x", "y", "values", "levels")
        if self.values.shape != (len(self.y), len(self.x)) or min(self.values.shape) < 2:
            raise InputError(
                f"values must be float[{len(self.y)}, {len(self.x)}], one for each y and x, "
                f"at least 2 × 2, got {self.values.shape}"
            )


@dataclass(frozen=True)
class Guide:
    """A straight line across the panel: a tolerance, a limit, zero."""

    name: str
    at: float
    along: str = "x"  # "x": horizontal, at a height y; "y": upright, at an x

    def __post_init__(self) -> None:
        check_choice("along", self.along, ("x", "y"))


@dataclass(frozen=True)
class Point:
    """One place: a start, a minimum."""

    name: str
    x: float
    y: float
    shape: str = "circle"  # "circle", "cross", "square", "triangle", "diamond"


Mark = Curve | Band | Bars | Histogram | Heatmap | Contour | Guide | Point


@dataclass(frozen=True)
class Panel:
    """Two axes and what stands between them, drawn in this order."""

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    title: str = ""


@dataclass(frozen=True)
class Figure:
    """A title, panels, and the words that go with them."""

    title: str
    panels: tuple[Panel, ...]
    summary: str  # the figure in sentences, with its numbers
    notes: tuple[str, ...] = field(default=())  # points left out, what was assumed
    columns: int = 1  # panels beside each other, where there is room

    def __post_init__(self) -> None:
        if not self.panels:
            raise InputError("a figure must have at least one panel, got none")


def _arrays(mark: Any, *names: str) -> None:
    for name in names:
        value = np.array(check_reals(name, getattr(mark, name)), dtype=np.float64)
        object.__setattr__(mark, name, value)


def _same_length(first: str, mark: Any, *names: str) -> None:
    _arrays(mark, *names)
    sizes: Sequence[tuple[int, ...]] = [getattr(mark, name).shape for name in names]
    if len(sizes[0]) != 1 or len(set(sizes)) > 1:
        got = ", ".join(f"{name} {size}" for name, size in zip(names, sizes, strict=True))
        raise InputError(f"{first} must be a vector as long as the others, got {got}")
