"""Figures of labs in a few words: panels of curves, measured ones solid and theory's broken.

A curve takes the colour and dash of its method, as in every other figure; whatever is no method
takes the next hue. Long curves are thinned, and the figure says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thalweg.figures.spec import LINEAR, LOG, Axis, Band, Curve, Figure, Mark, Panel
from thalweg.figures.styles import HUES, METHODS, SHAPES, Style, style_of, theory_of
from thalweg.figures.thinning import LIMIT, thin


def curve(
    name: str,
    x: Any,
    y: Any,
    style: str | int | Style | None = None,
    *,
    theory: bool = False,
    dots: bool = False,
    decides_range: bool = True,
) -> Curve:
    """A line through points, of which at most 500 are kept, no extreme lost.

    Parameters
    ----------
    style
        A method's name, a number for a hue, or a `Style`; by default what `name` says.
    theory
        A bound or a prediction: thin and broken.
    dots
        Mark points along the line, where there are few of them.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) > LIMIT:
        # Its axis may be linear or logarithmic: half of the points for each.
        heights = np.where(np.isfinite(y), y, 0.0)
        scales = (False, True) if x.min() >= 0 else (False,)
        halves = [thin(x, heights, limit=LIMIT // len(scales), log=is_log) for is_log in scales]
        kept = np.unique(np.concatenate(halves))
        x, y = x[kept], y[kept]
    drawn = _style(name if style is None else style)
    if theory:
        drawn = theory_of(drawn)
    if dots:
        drawn = replace(drawn, shape=drawn.shape or SHAPES[0])
    return Curve(name, x, y, drawn, decides_range)


def band(name: str, x: Any, low: Any, high: Any, style: str | int | Style | None = None) -> Band:
    """What lies between two curves."""
    return Band(name, x, low, high, _style(name if style is None else style))


def panel(
    x: str | Axis, y: str | Axis, marks: Sequence[Mark], *, log: str = "", title: str = ""
) -> Panel:
    """Marks between two axes, given by their labels; `log` is "", "x", "y" or "xy"."""
    across, up = (
        Axis(axis, LOG if letter in log else LINEAR) if isinstance(axis, str) else axis
        for letter, axis in (("x", x), ("y", y))
    )
    return Panel(across, up, tuple(marks), title)


def figure(
    title: str, panels: Panel | Sequence[Panel], summary: str, *notes: str, columns: int = 1
) -> Figure:
    """Panels under a title; `summary` says in sentences, with numbers, what is to be seen."""
    every = (panels,) if isinstance(panels, Panel) else tuple(panels)
    return Figure(title, every, summary, notes, columns)


def _style(asked: str | int | Style) -> Style:
    if isinstance(asked, Style):
        return asked
    if isinstance(asked, int):
        return Style(HUES[asked % len(HUES)])
    named = style_of(asked)
    return named if named in METHODS.values() else replace(named, dash=())
