"""Two wells of unequal depth: where you start, or how fast you go, decides which you get.

    f(x, y) = (x² − 1)² + tx + (c/2)‖y‖²        ∂f/∂x = 4x³ − 4x + t

y stands for the coordinates after the first. The tilt t makes the well on the side of −t the
deeper one. For |t| < 8/(3√3) = 1.5396… the cubic has three real roots (Viète):

    x_k = (2/√3)·cos(⅓ arccos(−(3√3/8)t) − 2πk/3),   k = 0, 1, 2

the well on the right, the barrier, the well on the left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.objectives.surfaces.surface import Surface

STEEPEST_TILT = 8 / (3 * math.sqrt(3))  # at this tilt one well and the barrier merge


@dataclass(frozen=True, repr=False)
class DoubleWell(Surface):
    """(x² − 1)² + tilt·x + (curvature/2)‖y‖², in one variable or more."""

    key: ClassVar[str] = "double-well"

    tilt: float = 0.3  # t
    curvature: float = 1.0  # c
    dim: int = 2

    def __post_init__(self) -> None:
        tilt = check_number(
            "tilt",
            self.tilt,
            above=-STEEPEST_TILT,
            below=STEEPEST_TILT,
            advice="a steeper one leaves a single well",
        )
        object.__setattr__(self, "tilt", tilt)
        object.__setattr__(self, "curvature", check_number("curvature", self.curvature, above=0.0))
        object.__setattr__(self, "dim", check_count("dim", self.dim))

    def _value(self, w: np.ndarray) -> np.ndarray:
        x, y = w[..., 0], w[..., 1:]
        bowl = 0.5 * self.curvature * np.sum(y * y, axis=-1)
        return (x * x - 1) ** 2 + self.tilt * x + bowl

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        g = self.curvature * w
        g[0] = 4 * w[0] * (w[0] * w[0] - 1) + self.tilt
        return g

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        Hv = self.curvature * v
        Hv[0] = (12 * w[0] * w[0] - 4) * v[0]
        return Hv

    @property
    def bounds(self) -> np.ndarray:
        """A box with both wells."""
        return np.tile([-2.0, 2.0], (self.dim, 1))

    @property
    def start(self) -> np.ndarray:
        """Above the shallower well, on its outer side."""
        w = np.ones(self.dim)
        w[0] = 1.8 if self.tilt >= 0 else -1.8
        return w

    @property
    def minimizers(self) -> np.ndarray:
        """Both local minima, float64[2, dim], the deeper one first."""
        right, _, left = self._roots()
        w = np.zeros((2, self.dim))
        w[:, 0] = (left, right) if self.tilt >= 0 else (right, left)
        return w

    @property
    def minimizer(self) -> np.ndarray:
        """The bottom of the deeper well; the left one where both are level."""
        return self.minimizers[0]

    @property
    def barrier(self) -> np.ndarray:
        """The point between the wells that a path from one to the other must climb to."""
        w = np.zeros(self.dim)
        w[0] = self._roots()[1]
        return w

    def _roots(self) -> list[float]:
        angle = math.acos(-self.tilt / STEEPEST_TILT) / 3
        roots = [2 / math.sqrt(3) * math.cos(angle - 2 * math.pi * k / 3) for k in range(3)]
        # The cosine leaves a few units in the last place; a Newton step takes them away.
        return [x - (4 * x**3 - 4 * x + self.tilt) / (12 * x * x - 4) for x in roots]
