"""Numbers with names, the largest on top: bars as long as they are large, two hues for their signs.

Bars begin at zero, so that lengths compare; what is below zero is outlined, broken and in another
hue, and its label has its sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.errors import InputError
from thalweg.figures.spec import Axis, Bars, Figure, Panel
from thalweg.figures.styles import BLUE, DASHED, VERMILION, Style

MOST = 12
SIGNS = (Style(BLUE), Style(VERMILION, DASHED))


def ranked_bars(
    title: str,
    names: Sequence[str],
    values: Sequence[float],
    axis: str,
    signs: tuple[str, str] = ("raises", "lowers"),
) -> Figure:
    """Draw the first `MOST` of them, in the order given, which is that of their size."""
    if not len(names):
        raise InputError("names must have an entry at least, got none")
    size = np.asarray(values[:MOST], dtype=np.float64)
    rows = np.arange(len(size), dtype=np.float64)
    marks = tuple(
        Bars(name, rows[here], np.abs(size[here]), style, 0.7, tuple(map(spelled, size[here])))
        for name, style, here in zip(signs, SIGNS, (size >= 0.0, size < 0.0), strict=True)
        if here.any()
    )
    panel = Panel(Axis(axis, low=0.0), Axis("", categories=tuple(names[:MOST])), marks)
    notes = (f"showing {len(size)} of {len(names):,}",) if len(names) > len(size) else ()
    told = ", ".join(
        f"{name} {spelled(value)}" for name, value in zip(names, size.tolist(), strict=False)
    )
    return Figure(title, (panel,), f"{axis}: {told}.", notes)


def spelled(value: float) -> str:
    """Three digits, with a minus that is one."""
    return f"{value:.3g}".replace("-", "−", 1) if value < 0 else f"{value:.3g}"
