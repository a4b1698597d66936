"""A panel's place on the page: from the units of the data to those of the picture.

    linear   px = left + (x − low)/(high − low) · (right − left)
    log      the same of log x

and upside down for y, as pages count from the top. Lines are cut at the edges of the frame here,
not by the viewer, so that every number in a picture lies inside its axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.figures.spec import (
    LOG,
    Axis,
    Band,
    Bars,
    Contour,
    Curve,
    Guide,
    Heatmap,
    Histogram,
    Panel,
    Point,
)
from thalweg.figures.ticks import span


@dataclass(frozen=True)
class Frame:
    """The box of a panel's axes, in units of the picture, and what its edges stand for."""

    left: float
    top: float
    right: float
    bottom: float
    x_span: tuple[float, float]
    y_span: tuple[float, float]
    x_scale: str
    y_scale: str

    def across(self, x: np.ndarray | float) -> np.ndarray:
        """Where x lies; NaN where the axis cannot show it."""
        return self.left + _share(x, self.x_span, self.x_scale) * (self.right - self.left)

    def down(self, y: np.ndarray | float) -> np.ndarray:
        """Where y lies; NaN where the axis cannot show it."""
        return self.bottom - _share(y, self.y_span, self.y_scale) * (self.bottom - self.top)

    def lines(self, x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        """The line through these points as pieces inside the box, each float64[points, 2]."""
        path = np.column_stack([self.across(x), self.down(y)])
        low, high = np.array([self.left, self.top]), np.array([self.right, self.bottom])
        return _cut(path, low, high)


def _share(number: np.ndarray | float, ends: tuple[float, float], scale: str) -> np.ndarray:
    number, low, high = np.asarray(number, dtype=np.float64), *map(float, ends)
    if scale == LOG:
        with np.errstate(all="ignore"):
            number = np.log10(np.where(number > 0, number, np.nan))
        low, high = np.log10(low), np.log10(high)
    number = np.where(np.isfinite(number), number, np.nan)
    # Halves: the largest range of floats would overflow.
    return (number / 2 - low / 2) / (high / 2 - low / 2)


def _cut(path: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """Liang & Barsky: of each segment a + t(b − a), the t for which it is in the box."""
    if len(path) == 1:
        return [path] if np.all((path >= low) & (path <= high)) else []
    a, d = path[:-1], np.diff(path, axis=0)
    with np.errstate(all="ignore"):
        first, second = (low - a) / d, (high - a) / d
    flat, within = d == 0, (a >= low) & (a <= high)
    enter = np.where(flat, np.where(within, 0.0, np.inf), np.minimum(first, second))
    leave = np.where(flat, np.where(within, 1.0, -np.inf), np.maximum(first, second))
    start, end = np.maximum(enter.max(1), 0.0), np.minimum(leave.min(1), 1.0)
    seen = start <= end  # False where a number is missing
    pieces: list[list[np.ndarray]] = []
    for k in np.flatnonzero(seen):
        p, q = a[k] + start[k] * d[k], a[k] + end[k] * d[k]
        joins = pieces and k and seen[k - 1] and start[k] == 0.0 and end[k - 1] == 1.0
        if joins:
            pieces[-1].append(q)
        else:
            pieces.append([p, q])
    return [np.clip(np.array(piece), low, high) for piece in pieces]


def spans(panel: Panel) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ranges of both axes."""
    xs: list[np.ndarray] = []
    ys: list[np.ndarray] = []
    for mark in panel.marks:
        match mark:
            case Curve(decides_range=True):
                shown = _shown(mark.x, panel.x) & _shown(mark.y, panel.y)
                xs.append(mark.x[shown])
                ys.append(mark.y[shown])
            case Band():
                xs.append(mark.x)
                ys += [mark.low, mark.high]
            case Bars():
                xs.append(mark.values)
            case Histogram():
                xs.append(mark.edges)
                ys += [mark.heights, np.zeros(1)]
            case Contour():
                return _ends(mark.x), _ends(mark.y)
            case Guide():
                (ys if mark.along == "x" else xs).append(np.array([mark.at]))
            case Point():
                xs.append(np.array([mark.x]))
                ys.append(np.array([mark.y]))
            case Heatmap():
                return (-0.5, mark.values.shape[1] - 0.5), (mark.values.shape[0] - 0.5, -0.5)
    across = span(xs, panel.x.scale, panel.x.low, panel.x.high)
    if panel.y.categories:
        return across, (len(panel.y.categories) - 0.5, -0.5)  # the first row on top
    return across, span(ys, panel.y.scale, panel.y.low, panel.y.high)


def _shown(numbers: np.ndarray, axis: Axis) -> np.ndarray:
    return np.isfinite(numbers) & ((numbers > 0) if axis.scale == LOG else True)


def _ends(numbers: np.ndarray) -> tuple[float, float]:
    return float(numbers.min()), float(numbers.max())
