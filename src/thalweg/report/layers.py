"""Inside a network while it was trained: losses, gradients and outputs of layers, curvature."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.core.errors import InputError
from thalweg.figures.layers import layers
from thalweg.figures.percentiles import percentiles
from thalweg.figures.spec import Figure
from thalweg.figures.training import curvature, training
from thalweg.report.drawing import FEWEST, Detail, drawing
from thalweg.report.markup import Markup, element, section
from thalweg.report.subject import Subject

PERCENTILE_POINTS = 160  # of each of three curves in each of six panels


def layers_section(subject: Subject, detail: Detail) -> Markup:
    """The figures of the record; nothing without one."""
    record = subject.record
    if record is None:
        return Markup()
    points = max(FEWEST, min(PERCENTILE_POINTS, detail.points))
    parts = [
        *_drawn("training", detail, lambda _: training(record)),
        *_drawn("gradients", detail, lambda cells: layers(record, most=cells)),
        *_drawn("percentiles", detail, lambda _: percentiles(record, limit=points)),
        *_drawn("curvature", detail, lambda _: curvature(record)),
    ]
    parts += [element("p", f"{note}.", class_="note") for note in record.notes]
    return section("layers", "Inside the network", parts) if parts else Markup()


def _drawn(name: str, detail: Detail, draw: Callable[[int], Figure]) -> list[Markup]:
    """A figure at both widths; none where the record has no numbers for it, as figures say."""
    try:
        wide, narrow = draw(detail.cells), draw(detail.cells // 2)
    except InputError:
        return []
    return [drawing(wide, name, detail, narrow=narrow)]
