"""The plane in which ways through many dimensions are best seen.

It passes through the lowest point that any way reached, w̄, and lies along the two directions in
which the points of all ways differ most from it: with P the matrix of all w − w̄, a row each,

    P = UΣVᵀ     axes v₁, v₂     (w − w̄)ᵀv₁, (w − w̄)ᵀv₂ are where a point is seen

and (σ₁² + σ₂²)/Σσᵢ² is the share of all that is seen. Heights in the picture are those of the slice
f(w̄ + av₁ + bv₂), which the points themselves are above or below. Points that are not finite have
no place in it. The signs are such that all ways begin at a ≥ 0, b ≥ 0.

Cost: O(m²d) for m points of d coordinates, since PPᵀ has the same σ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Plane(NamedTuple):
    """A plane through the lowest point."""

    origin: np.ndarray  # w̄, float64[d]
    axes: np.ndarray  # v₁ and v₂, float64[2, d], of length one and orthogonal
    share: float  # of the squared distances from w̄, that lies in it

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Where points float64[m, d] are seen, float64[m, 2]."""
        return (points - self.origin) @ self.axes.T

    def point(self, place: np.ndarray) -> np.ndarray:
        """The point of a place in it, float64[d]."""
        return self.origin + place @ self.axes


def plane_of(ways: Sequence[np.ndarray], lowest: np.ndarray) -> Plane:
    """The plane through `lowest` in which most of the ways, float64[m, d] each, lies."""
    points = np.concatenate(ways)
    P = points[np.isfinite(points).all(1)] - lowest
    far = float(np.abs(P).max(initial=0.0)) or 1.0
    P = P / far  # squares of points that ran away are to stay finite
    squares, U = np.linalg.eigh(P @ P.T)
    axes = [P.T @ U[:, -1], P.T @ U[:, -2]] if len(P) > 1 else [P.sum(0)]
    basis = _orthonormal(axes, lowest.size)
    begin = (ways[0][0] - lowest) @ basis.T
    basis = basis * np.where(begin < 0.0, -1.0, 1.0)[:, None]
    total = float(np.maximum(squares, 0.0).sum())
    share = float(np.sum((P @ basis.T) ** 2)) / total if total > 0.0 else 1.0
    return Plane(lowest, basis, min(share, 1.0))


def _orthonormal(axes: Sequence[np.ndarray], dim: int) -> np.ndarray:
    """Two directions of length one along these, or along coordinates where they have no length."""
    basis: list[np.ndarray] = []
    for axis in (*axes, *np.eye(2, dim)):
        rest = axis - sum(((axis @ b) * b for b in basis), np.zeros(dim))
        length = float(np.linalg.norm(rest))
        if len(basis) < 2 and length > 1e-9 * max(float(np.linalg.norm(axis)), 1e-9):
            basis.append(rest / length)
    return np.array(basis)
