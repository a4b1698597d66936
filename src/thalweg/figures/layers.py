"""A number of each layer over a training, as a heat map: layers downwards, looks to the right.

Reads a record's columns (see `thalweg.core.record`): `look`, and one such as
`gradient_norm`, float64[looks, layers]. Norms have a log scale: what vanishes or explodes by orders
of magnitude is what one looks for. Where there are more looks than a row has room for, each cell is
the one of its looks that lies farthest from the layer's median, never a mean, and a note says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from thalweg.core.checks import check_count, check_reals
from thalweg.core.errors import InputError, suggest
from thalweg.figures.spec import LINEAR, LOG, Axis, Figure, Heatmap, Panel

MOST = 100  # cells of a row
LOGARITHMIC = ("gradient_norm", "weight_norm", "update_ratio", "std", "weight_std")
LABELS = {
    "gradient_norm": "norm of the gradient, ‖g‖",
    "weight_norm": "norm of the weights, ‖w‖",
    "update_ratio": "update against weights, ‖Δw‖/‖w‖",
    "dead": "share of dead units",
    "saturated": "share of saturated units",
}


def layers(record: Any, column: str = "gradient_norm", *, most: int = MOST) -> Figure:
    """Draw one column of a record, layer by look; layers without a number in it are left out.

    A row has `most` cells at most.
    """
    if column not in record.columns or np.ndim(record.columns[column]) != 2:
        tables = [name for name, values in record.columns.items() if np.ndim(values) == 2]
        raise InputError(f"column must be one of layers, got {column!r}: {suggest(column, tables)}")
    names = [layer.name for layer in record.layers]
    return heat(
        np.asarray(record.columns[column]), record.columns["look"], names, column, most=most
    )


def heat(
    values: Any,
    looks: Any,
    names: Sequence[str],
    column: str = "gradient_norm",
    *,
    most: int = MOST,
) -> Figure:
    """The same of arrays: `values` float[looks, layers], at steps `looks`, float[looks]."""
    most = check_count("most", most)
    values, looks = check_reals("values", values), check_reals("looks", looks)
    if values.ndim != 2 or values.shape != (len(looks), len(names)):
        raise InputError(
            f"values must be float[{len(looks)}, {len(names)}], one for each look and layer, "
            f"got {values.shape}"
        )
    scale = LOG if column in LOGARITHMIC else LINEAR
    measured = np.isfinite(values).any(0) if len(looks) else np.zeros(len(names), bool)
    if not measured.any():
        raise InputError(f"values must have a number, got none in {column!r}: look at more steps")
    table, steps = gathered(values[:, measured], looks, scale, most)
    shown = [name for name, has in zip(names, measured, strict=True) if has]
    notes = []
    if len(steps) < len(looks):
        notes.append(
            f"showing {len(steps)} of {len(looks):,} looks, of each stretch the one farthest "
            "from the layer's median"
        )
    if not np.isfinite(table).all():
        notes.append("An empty cell has no number; one that is infinite has the lightest colour")
    label = LABELS.get(column, column)
    mark = Heatmap(label, table.T, scale)
    x = Axis("step", categories=tuple(f"{step:,.0f}" for step in steps))
    panel = Panel(x, Axis("layers, in the order of the forward pass", categories=tuple(shown)),
                  (mark,))  # fmt: skip
    return Figure(f"Layers over the training: {label}", (panel,), _summary(table, shown, label),
                  tuple(notes))  # fmt: skip


def gathered(
    values: np.ndarray, looks: np.ndarray, scale: str, most: int = MOST
) -> tuple[np.ndarray, np.ndarray]:
    """At most `most` rows: of each stretch of looks, for each layer, the most unusual number."""
    if len(looks) <= most:
        return values, looks
    with np.errstate(all="ignore"):
        size = np.log(values) if scale == LOG else values
        size = np.where(np.isneginf(size), -1e9, size)
        usual = np.nanmedian(np.where(np.isfinite(size), size, np.nan), axis=0)
        strange = np.where(np.isnan(size), -1.0, np.abs(size - usual))
    edges = np.linspace(0, len(looks), most + 1).astype(int)
    rows = [
        values[a + strange[a:b].argmax(0), np.arange(values.shape[1])] for a, b in pairwise(edges)
    ]
    return np.array(rows), looks[edges[:-1]]


def _summary(table: np.ndarray, names: Sequence[str], label: str) -> str:
    """The last look, first and last layer: enough to hear whether it vanishes."""
    last = table[-1]
    return (
        f"{label}, {len(names)} layers, {len(table)} columns. At the end: {names[0]} "
        f"{last[0]:.3g}, {names[-1]} {last[-1]:.3g}."
    )
