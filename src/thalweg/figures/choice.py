"""How a penalty was chosen, drawn: the loss on rows left out over the strength, and its error.

Where both l1 and l2 varied, each l1 stands with the l2 that is best beside it.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.chosen import Chosen, Tried
from thalweg.figures.spec import LINEAR, LOG, Axis, Band, Curve, Figure, Panel, Point
from thalweg.figures.styles import BLUE, SKY, Style


def choice(found: Chosen) -> Figure:
    """The curve with the point that was taken."""
    name = (found.varied or ("l2",))[0]
    place = ("l1", "l2").index(name)
    best: dict[float, Tried] = {}
    for point in found.points:
        size = point.sizes[place]
        if size not in best or point.mean < best[size].mean:
            best[size] = point
    best[found.point.sizes[place]] = found.point
    sizes = np.array(sorted(best))
    means, errors = (np.array([getattr(best[s], key) for s in sizes]) for key in ("mean", "error"))
    marks = (
        Band("± one standard error", sizes, means - errors, means + errors, Style(SKY)),
        Curve("mean of the folds", sizes, means, Style(BLUE, shape="circle")),
        Point("chosen", found.point.sizes[place], found.point.mean, "cross"),
    )
    beside = ", each with its best l2" if len(found.varied) > 1 else ""
    scale = LOG if np.count_nonzero(sizes > 0.0) > 1 else LINEAR
    panel = Panel(Axis(f"{name}{beside}", scale), Axis(found.measure), marks)
    return Figure("Loss on rows left out, over the penalty", (panel,), f"Chosen: {found}.")
