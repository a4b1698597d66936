"""Where a surface has a given height: marching squares on a grid.

In each cell of four corners, a level crosses the edges whose ends lie on different sides of it, at

    x = x₀ + (ℓ − f₀)/(f₁ − f₀) · (x₁ − x₀)

Two crossings are joined. With four, opposite corners lie on the same side, and the mean of all
four decides which pairs belong together. Cells with a corner that is not finite have no lines.

Cost: O(cells) a level, as array operations. Lorensen & Cline, SIGGRAPH 1987, in two dimensions.
"""

from __future__ import annotations

import numpy as np


def isolines(x: np.ndarray, y: np.ndarray, values: np.ndarray, level: float) -> np.ndarray:
    """Line segments of one level, float64[segments, 2 ends, 2 coordinates]."""
    # Corners and edges in the order: bottom left, bottom right, top right, top left.
    corners = np.stack([values[:-1, :-1], values[:-1, 1:], values[1:, 1:], values[1:, :-1]], -1)
    X = np.stack(np.broadcast_arrays(x[:-1], x[1:], x[1:], x[:-1]), -1)[None]
    Y = np.stack(np.broadcast_arrays(y[:-1], y[:-1], y[1:], y[1:]), -1)[:, None]
    X, Y = np.broadcast_to(X, corners.shape), np.broadcast_to(Y, corners.shape)
    above = corners > level
    inside = np.isfinite(corners).all(-1) & above.any(-1) & ~above.all(-1)
    f, px, py, up = corners[inside], X[inside], Y[inside], above[inside]
    crossed = up != np.roll(up, -1, 1)
    rise = np.where(crossed, np.roll(f, -1, 1) - f, 1.0)
    share = np.where(crossed, (level - f) / rise, 0.0)
    points = np.stack(
        [px + share * (np.roll(px, -1, 1) - px), py + share * (np.roll(py, -1, 1) - py)], -1
    )
    two = crossed.sum(1) == 2
    simple = points[two][crossed[two]].reshape(-1, 2, 2)
    # Four crossings: an edge is joined to the next one around a corner that stands alone.
    rest, f4, up4 = points[~two], f[~two], up[~two]
    turned = ((f4.mean(1) > level) == up4[:, 0])[:, None, None]
    first = np.where(turned, rest[:, [0, 1]], rest[:, [3, 0]])
    second = np.where(turned, rest[:, [2, 3]], rest[:, [1, 2]])
    return np.concatenate([simple, first, second])


def chained(segments: np.ndarray) -> list[np.ndarray]:
    """Segments that share an end as one line, float64[points, 2]: half as much to write."""
    size = float(np.abs(segments).max(initial=0.0)) or 1.0
    keys = [tuple(map(tuple, pair)) for pair in np.round(segments / size, 9).tolist()]
    at: dict[tuple[float, ...], list[int]] = {}
    for k, pair in enumerate(keys):
        for end in pair:
            at.setdefault(end, []).append(k)
    free = [True] * len(keys)
    lines = []
    for k in range(len(keys)):
        if not free[k]:
            continue
        free[k] = False
        line = list(keys[k])
        for _ in range(2):  # forwards, then from the other end
            while (found := next((j for j in at[line[-1]] if free[j]), None)) is not None:
                free[found] = False
                a, b = keys[found]
                line.append(b if a == line[-1] else a)
            line.reverse()
        lines.append(np.array(line) * size)
    return lines
