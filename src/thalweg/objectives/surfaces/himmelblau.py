"""Himmelblau's function: four minima of equal depth; where you start decides which you get.

    f(x, y) = (x² + y − 11)² + (x + y² − 7)²

With p = x² + y − 11 and q = x + y² − 7,

    ∇f = (4xp + 2q, 2p + 4yq)
    ∇²f = [[8x² + 4p + 2, 4x + 4y], [4x + 4y, 2 + 8y² + 4q]]

All four minima have f = 0; between them lie four saddles and one local maximum.
Himmelblau, Applied Nonlinear Programming (1972).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.objectives.surfaces.surface import Surface

# The first is exact, the others are roots of p = q = 0 to the last digit of float64.
MINIMIZERS = (
    (3.0, 2.0),
    (-2.805118086952745, 3.131312518250573),
    (-3.779310253377747, -3.2831859912861696),
    (3.5844283403304917, -1.8481265269644036),
)


@dataclass(frozen=True, repr=False)
class Himmelblau(Surface):
    """(x² + y − 11)² + (x + y² − 7)², with `minimizers` at four places."""

    key: ClassVar[str] = "himmelblau"
    dim = 2

    def _value(self, w: np.ndarray) -> np.ndarray:
        x, y = w[..., 0], w[..., 1]
        return (x * x + y - 11) ** 2 + (x + y * y - 7) ** 2

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        x, y = w
        p, q = x * x + y - 11, x + y * y - 7
        return np.array([4 * x * p + 2 * q, 2 * p + 4 * y * q], w.dtype)

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        x, y = w
        p, q = x * x + y - 11, x + y * y - 7
        mixed = 4 * (x + y)
        return np.array(
            [
                (8 * x * x + 4 * p + 2) * v[0] + mixed * v[1],
                mixed * v[0] + (2 + 8 * y * y + 4 * q) * v[1],
            ],
            w.dtype,
        )

    @property
    def bounds(self) -> np.ndarray:
        """A box with all four minima."""
        return np.tile([-5.0, 5.0], (2, 1))

    @property
    def start(self) -> np.ndarray:
        """The origin, near the local maximum: four basins meet around it."""
        return np.zeros(2)

    @property
    def minimizers(self) -> np.ndarray:
        """All four global minima, float64[4, 2]."""
        return np.array(MINIMIZERS)

    @property
    def minimizer(self) -> np.ndarray:
        """(3, 2), one of the four."""
        return self.minimizers[0]
