"""Inside a network while it was trained: losses, gradients and outputs of layers, curvature.

`fit` writes its validation losses into the run's trace, other loops tell them to the watch: a
record without any is shown with those of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from thalweg.core.errors import InputError
from thalweg.core.run import Run
from thalweg.figures.layers import layers
from thalweg.figures.percentiles import percentiles
from thalweg.figures.spec import Figure
from thalweg.figures.training import curvature, training
from thalweg.reports.drawing import FEWEST, Detail, drawing
from thalweg.reports.markup import Markup, element, section
from thalweg.reports.subject import Subject

PERCENTILE_POINTS = 160  # of each of three curves in each of six panels


def layers_section(subject: Subject, detail: Detail) -> Markup:
    """The figures of the record; nothing without one."""
    if subject.record is None:
        return Markup()
    record = with_validation(subject.record, subject.runs[0])
    points = max(FEWEST, min(PERCENTILE_POINTS, detail.points))
    parts = [
        *_drawn("training", detail, lambda _: training(record)),
        *_drawn("gradients", detail, lambda cells: layers(record, most=cells)),
        *_drawn("percentiles", detail, lambda _: percentiles(record, limit=points)),
        *_drawn("curvature", detail, lambda _: curvature(record)),
    ]
    parts += [element("p", f"{note}.", class_="note") for note in record.notes]
    return section("layers", "Inside the network", parts) if parts else Markup()


def with_validation(record: Any, run: Run) -> Any:
    """The record, with the validation losses of the run where it has none of its own."""
    own = record.columns["validation_loss"]
    if np.isfinite(own).any() or "validation_loss" not in run.trace.columns or not len(own):
        return record
    losses, at = run.trace["validation_loss"], run.trace["iteration"]
    known = np.isfinite(losses)
    filled = np.full(len(own), np.nan)
    steps = np.searchsorted(record.columns["step"], at[known])
    filled[np.minimum(steps, len(own) - 1)] = losses[known]
    return replace(record, columns={**record.columns, "validation_loss": filled})


def _drawn(name: str, detail: Detail, draw: Callable[[int], Figure]) -> list[Markup]:
    """A figure at both widths; none where the record has no numbers for it, as figures say."""
    try:
        wide, narrow = draw(detail.cells), draw(detail.cells // 2)
    except InputError:
        return []
    return [drawing(wide, name, detail, narrow=narrow)]
