"""At most so many points of a long curve, and none of its spikes lost.

    cut the positions into k stretches of equal length (of equal ratio on a log axis);
    keep the lowest and the highest point of each, and the first and the last of all

So a picture a few hundred pixels wide looks as it would with every point: in each of its columns
the extremes are there. Nothing is averaged. `limit` = 2k + 2 points are kept at most; for a path in
the plane the extremes of both coordinates are, with k halved.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

LIMIT = 500


def thin(positions: np.ndarray, *heights: np.ndarray, limit: int = LIMIT, log: bool) -> np.ndarray:
    """Indices to keep, int[kept], sorted; `positions` grow along the curve, all are finite."""
    n = len(positions)
    if n <= limit:
        return np.arange(n)
    stretches = (limit - 2) // (2 * len(heights))
    # An entry at 0 has no place on a log axis; it joins the first stretch.
    least = positions[positions > 0].min(initial=np.inf) if log else 0.0
    place = np.log(np.maximum(positions, least)) if log else np.asarray(positions, float)
    span = place[-1] - place[0]
    share = (place - place[0]) / span if span > 0 else np.linspace(0.0, 1.0, n)
    stretch = np.minimum((share * stretches).astype(int), stretches - 1)
    kept = [np.array([0, n - 1])]
    for height in heights:
        order = np.lexsort((height, stretch))  # by stretch, then by height
        ends = np.flatnonzero(np.diff(stretch[order]))
        kept += [order[np.append(0, ends + 1)], order[np.append(ends, n - 1)]]
    return np.unique(np.concatenate(kept))


def said(name: str, kept: int, of: int) -> str:
    """What a figure says of points left out; empty where none were."""
    if kept == of:
        return ""
    return f"{name}: showing {kept:,} of {of:,} points, the extremes of each stretch"


def said_of_many(curves: Mapping[str, tuple[int, int]]) -> list[str]:
    """The same of curves, name → kept and of how many: of three and more in one sentence."""
    cut = {name: (kept, of) for name, (kept, of) in curves.items() if kept < of}
    if len(cut) < 3:
        return [said(name, *counts) for name, counts in cut.items()]
    most, longest = (max(column) for column in zip(*cut.values(), strict=True))
    return [
        f"showing at most {most:,} points of a curve, of up to {longest:,}: the extremes of each "
        "stretch"
    ]
