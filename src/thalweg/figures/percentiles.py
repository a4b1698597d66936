"""What comes out of layers over a training: its 15th, 50th and 85th percentile.

The figure by which batch normalization was argued for: with it the distributions that a layer
receives stand still, without it they wander. One panel a layer, the middle 70 % as a band, the
median as a line; all panels have the same y axis, so that they can be compared.
Ioffe & Szegedy, ICML 2015, Figure 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.core.checks import check_count
from thalweg.core.errors import InputError, suggest
from thalweg.figures.spec import LINEAR, Axis, Band, Curve, Figure, Panel
from thalweg.figures.styles import BLUE, Style
from thalweg.figures.thinning import LIMIT, said_of_many, thin
from thalweg.figures.ticks import span

MOST = 6  # panels


def percentiles(record: Any, names: Sequence[str] | None = None, *, limit: int = LIMIT) -> Figure:
    """Draw the percentiles of the outputs of `names`; of up to six layers, spread out, without.

    A curve has `limit` points at most.
    """
    limit = check_count("limit", limit, at_least=8)
    every = [layer.name for layer in record.layers]
    low, middle, high = (np.asarray(record.columns[name]) for name in ("p15", "p50", "p85"))
    measured = [name for k, name in enumerate(every) if np.isfinite(middle[:, k]).any()]
    if not measured:
        raise InputError("record must have percentiles of a layer, got none: look at more steps")
    chosen = _spread_out(measured) if names is None else list(names)
    for name in chosen:
        if name not in measured:
            known = suggest(str(name), measured)
            raise InputError(f"names must be layers with percentiles, got {name!r}: {known}")
    looks = np.asarray(record.columns["look"], float)
    columns = [every.index(name) for name in chosen]
    ends = span([low[:, columns], high[:, columns]], LINEAR, None, None)
    panels: list[Panel] = []
    left_out: dict[str, tuple[int, int]] = {}
    for name, k in zip(chosen, columns, strict=True):
        has = np.isfinite(low[:, k] + middle[:, k] + high[:, k])
        x, triple = looks[has], [each[has, k] for each in (low, middle, high)]
        kept = thin(x, *triple, limit=limit, log=False)
        left_out[name] = (len(kept), len(x))
        band = Band("15th to 85th percentile", x[kept], triple[0][kept], triple[2][kept],
                    Style(BLUE))  # fmt: skip
        median = Curve("median", x[kept], triple[1][kept], Style(BLUE))
        panels.append(
            Panel(Axis("step"), Axis("output", low=ends[0], high=ends[1]), (band, median), name)
        )
    notes = said_of_many(left_out)
    if len(chosen) < len(measured):
        notes.insert(0, f"showing {len(chosen)} of {len(measured)} layers")
    return Figure(
        "Percentiles of what comes out of layers", tuple(panels), _summary(chosen, columns, middle),
        tuple(notes), columns=2,
    )  # fmt: skip


def _spread_out(names: Sequence[str]) -> list[str]:
    """The first, the last and some between."""
    at = np.unique(np.linspace(0, len(names) - 1, min(MOST, len(names))).round().astype(int))
    return [names[k] for k in at]


def _summary(chosen: Sequence[str], columns: Sequence[int], middle: np.ndarray) -> str:
    sentences = []
    for name, k in zip(chosen, columns, strict=True):
        seen = middle[np.isfinite(middle[:, k]), k]
        sentences.append(f"{name}: median {seen[0]:.3g} → {seen[-1]:.3g}.")
    return " ".join(sentences)
