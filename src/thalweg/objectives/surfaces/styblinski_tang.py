"""Styblinski and Tang's function: 2ⁿ minima, one of them the least.

    f(x) = ½ Σᵢ (xᵢ⁴ − 16xᵢ² + 5xᵢ)        ∂f/∂xᵢ = 2xᵢ³ − 16xᵢ + 5/2        ∂²f/∂xᵢ² = 6xᵢ² − 16

The coordinates do not interact. Each has two wells, and the left one, at x* = −2.9035…, is
deeper: f* = −39.166…·n. Styblinski & Tang, Neural Networks 3 (1990).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.core.checks import check_count
from thalweg.objectives.surfaces.surface import Surface


@dataclass(frozen=True, repr=False)
class StyblinskiTang(Surface):
    """½ Σ (xᵢ⁴ − 16xᵢ² + 5xᵢ) in any number of variables."""

    key: ClassVar[str] = "styblinski-tang"

    dim: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", check_count("dim", self.dim))

    def _value(self, w: np.ndarray) -> np.ndarray:
        return 0.5 * np.sum(((w * w - 16) * w + 5) * w, axis=-1)

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        return (2 * w * w - 16) * w + 2.5

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (6 * w * w - 16) * v

    @property
    def bounds(self) -> np.ndarray:
        """The customary box."""
        return np.tile([-5.0, 5.0], (self.dim, 1))

    @property
    def start(self) -> np.ndarray:
        """Uphill of the shallow well in the first coordinate, of the deep one in the others."""
        w = np.full(self.dim, -0.5)
        w[0] = 1.0
        return w

    @property
    def minimizer(self) -> np.ndarray:
        """x* in every coordinate."""
        return np.full(self.dim, _deep_well())


def _deep_well() -> float:
    """The least root of 2x³ − 16x + 5/2, by Newton's method."""
    x = -2.9
    for _ in range(4):  # the digits double: 2.9 has two, float64 has sixteen
        x -= ((2 * x * x - 16) * x + 2.5) / (6 * x * x - 16)
    return x
