"""A network's training as its record has it: the loss over steps, and the Hessian's two ends.

Reads columns of a record (see `thalweg.core.record`). The loss is that of single batches, as
it came: noisy, and not smoothed. Beside λ_max stands 2/η, above which plain gradient descent on a
quadratic would grow (`thalweg.theory.stability`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.errors import InputError
from thalweg.figures.convergence import thinned
from thalweg.figures.spec import LINEAR, LOG, Axis, Curve, Figure, Guide, Mark, Panel
from thalweg.figures.styles import BLUE, DASHED, MUTED, SKY, THEORY, VERMILION, Style

LOSSES = {
    "loss": ("loss of a batch", Style(SKY, width=1.2)),
    "validation_loss": ("validation loss", Style(VERMILION, DASHED)),
}
NEAR = 3.0  # times λ_max: farther above, 2/η would flatten what is to be seen
ENDS = {
    "hessian_largest": ("λ_max", Style(VERMILION)),
    "hessian_smallest": ("λ_min", Style(BLUE, DASHED)),
}


def training(record: Any) -> Figure:
    """Draw the losses over the steps."""
    step = np.asarray(record.columns["step"], float)
    heights = {name: np.asarray(record.columns[name], float) for name in LOSSES}
    seen = np.concatenate(list(heights.values()))
    seen = seen[np.isfinite(seen)]
    if not seen.size:
        raise InputError("record must have a loss, got none: call step(loss) at least once")
    scale = LOG if seen.min() > 0 and seen.max() > 20.0 * seen.min() else LINEAR
    marks, notes = _curves(step, heights, LOSSES, scale)
    panel = Panel(Axis("step"), Axis("loss", scale), tuple(marks))
    return Figure("Loss over the training", (panel,), _summary(heights), tuple(notes))


def curvature(record: Any) -> Figure:
    """Draw the Hessian's two ends over the steps at which they were measured."""
    step, rate = (np.asarray(record.columns[name], float) for name in ("step", "rate"))
    heights = {name: np.asarray(record.columns[name], float) for name in ENDS}
    if not np.isfinite(heights["hessian_largest"]).any():
        raise InputError(
            "record must have a Hessian, got none: give watch a closure, or loss and data"
        )
    marks, notes = _curves(step, heights, ENDS, LINEAR)
    edge = np.full(len(rate), np.nan)
    np.divide(2.0, rate, out=edge, where=rate > 0)
    limit_line = thinned(step, edge)
    x, y = limit_line.x, limit_line.y
    if len(x) and y.max() <= NEAR * np.nanmax(heights["hessian_largest"]):
        marks.append(Curve("2/η", x, y, Style(MUTED, THEORY, 1.4)))
    elif len(x):
        notes.append(f"2/η, {y[-1]:.3g} at the end, lies above this figure")
    marks.append(Guide("0", 0.0))
    panel = Panel(Axis("step"), Axis("ends of the Hessian's spectrum"), tuple(marks))
    return Figure("Curvature over the training", (panel,), _summary(heights), tuple(notes))


def _curves(
    step: np.ndarray, heights: dict[str, np.ndarray], named: dict[str, Any], scale: str
) -> tuple[list[Mark], list[str]]:
    marks: list[Mark] = []
    notes: list[str] = []
    for column, height in heights.items():
        name, style = named[column]
        shown = thinned(step, height, y_scale=scale)
        notes += shown.notes(name, scale)
        if len(shown.x):
            marks.append(Curve(name, shown.x, shown.y, style))
    return marks, notes


def _summary(heights: dict[str, np.ndarray]) -> str:
    sentences = []
    for column, height in heights.items():
        seen = height[np.isfinite(height)]
        if seen.size:
            text = f"{column.replace('_', ' ')}: {seen[0]:.3g} → {seen[-1]:.3g}"
            sentences.append(f"{text}, between {seen.min():.3g} and {seen.max():.3g}.")
    return " ".join(sentences)
