"""A race from above: the surface as lines of equal height, and the way that each method took.

Heights are such that about the same area lies between neighbours, closer at the bottom: a valley
that is narrow and flat is seen as well as walls that are steep. A way that leaves the box is cut at
its edge, and a note says so. Circle: start. Cross: the minimum, where it is known. Of more than two
variables the picture is of the plane of the race: heights are those of a slice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.checks import check_count
from thalweg.core.objective import known, name_of
from thalweg.figures.convergence import names
from thalweg.figures.spec import Axis, Contour, Curve, Figure, Mark, Panel, Point
from thalweg.figures.styles import style_of
from thalweg.figures.thinning import said, thin
from thalweg.objectives.surfaces.surface import Surface
from thalweg.planner.race import Race

GRID, COARSE = 108, 41  # points along each side, of two variables and of more
SHARES = (0.03, 0.07, 0.13, 0.22, 0.32, 0.43, 0.54, 0.65, 0.76, 0.86, 0.94)


def race(found: Race, *, upto: int | None = None) -> Figure:
    """Draw a race; with `upto`, as it stood after so many iterations."""
    box = _box(found)
    marks: list[Mark] = [_contour(found, box)]
    notes = []
    if found.plane is not None:
        notes.append(f"{found.plane.share:.0%} of the ways lies in this plane")
    for k, (run, path, name) in enumerate(
        zip(found.runs, found.paths, names(found.runs), strict=True)
    ):
        if upto is not None:
            path = path[: check_count("upto", upto, at_least=0) // found.stride + 1]
        way = path
        way = way[np.isfinite(way).all(1)]
        kept = thin(np.arange(len(way), dtype=float), way[:, 0], way[:, 1], log=False)
        repeat = sum(other.method == run.method for other in found.runs[:k])
        marks.append(Curve(name, way[kept, 0], way[kept, 1], style_of(run.method, repeat)))
        notes.append(said(name, len(kept), len(way)))
        if np.any((way < box[:, 0]) | (way > box[:, 1])):
            notes.append(f"{name} leaves the box")
    marks.append(Point("start", *_pair(found.start), "circle"))
    minimizer = known(found.objective, "minimizer")
    if minimizer is not None:
        place = np.asarray(minimizer, float)
        place = place if found.plane is None else found.plane.seen(place)
        marks.append(Point("minimum", *_pair(place), "cross"))
    heads = ("w₁", "w₂") if found.plane is None else ("along v₁", "along v₂")
    panel = Panel(Axis(heads[0]), Axis(heads[1]), tuple(marks))
    return Figure(
        f"Race on {name_of(found.objective)}",
        (panel,),
        _summary(found),
        tuple(note for note in notes if note),
    )


def _box(found: Race) -> np.ndarray:
    """What the surface says is worth drawing, with the start; else where the ways were."""
    bounds = None if found.plane else known(found.objective, "bounds")
    if bounds is None:
        points = np.concatenate(found.paths)
        points = points[np.isfinite(points).all(1)]
        low, high = np.quantile(points, [0.02, 0.98], axis=0)
        low, high = np.minimum(low, found.start), np.maximum(high, found.start)
        pad = 0.15 * np.maximum(high - low, 1e-3 + 0.1 * np.abs(high))
        return np.column_stack([low - pad, high + pad])
    bounds = np.asarray(bounds, float)
    pad = 0.03 * (bounds[:, 1] - bounds[:, 0])
    low = np.minimum(bounds[:, 0], found.start - pad)
    return np.column_stack([low, np.maximum(bounds[:, 1], found.start + pad)])


def _contour(found: Race, box: np.ndarray) -> Contour:
    objective, plane = found.objective, found.plane
    objective = known(objective, "exact") or objective  # without the noise of its gradients
    x, y = (np.linspace(low, high, GRID if plane is None else COARSE) for low, high in box)
    height = getattr(objective, "value", objective)
    points = np.stack(np.meshgrid(x, y), -1)
    with np.errstate(all="ignore"):
        if isinstance(objective, Surface) and plane is None:  # takes them all at once
            values = height(points)
        else:
            at = np.asarray if plane is None else plane.point
            values = np.array([[float(height(at(place))) for place in row] for row in points])
    finite = values[np.isfinite(values)]
    levels = np.unique(np.quantile(finite, SHARES)) if finite.size else np.empty(0)
    return Contour(x, y, values, levels)


def _pair(point: Any) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _summary(found: Race) -> str:
    return " ".join(
        f"{run.method}: {run.outcome.word.lower()} after {run.iterations:,} iterations"
        f"{found.spelled_place(run)} with f = {run.value:.3g}."
        for run in found.leaders
    )
