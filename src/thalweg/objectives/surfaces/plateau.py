"""A plain with one basin: far from it the gradient says almost nothing.

    f(w) = 1 − exp(−‖w‖²/2s²)        ∇f(w) = e·w/s²,   e = exp(−‖w‖²/2s²)
    ∇²f(w)·v = (e/s²)(v − w(wᵀv)/s²)

s is the radius of the basin: f is convex within ‖w‖ ≤ s. Along w the curvature is
(e/s²)(1 − ‖w‖²/s²), across it e/s², so L = 1/s², reached at the bottom. At four radii the
gradient has fallen to 0.0013/s: gradient descent with step 1/L creeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.objectives.surfaces.surface import Surface


@dataclass(frozen=True, repr=False)
class Plateau(Surface):
    """1 − exp(−‖w‖²/2·radius²), minimal at the origin."""

    key: ClassVar[str] = "plateau"

    radius: float = 1.0  # s
    dim: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check_number("radius", self.radius, above=0.0))
        object.__setattr__(self, "dim", check_count("dim", self.dim))

    def _value(self, w: np.ndarray) -> np.ndarray:
        z = w / self.radius
        # expm1 keeps the digits near the bottom, where 1 − exp(…) cancels.
        return -np.expm1(-0.5 * np.sum(z * z, axis=-1))

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        z = w / self.radius
        return np.exp(-0.5 * (z @ z)) * z / self.radius

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        z = w / self.radius
        return np.exp(-0.5 * (z @ z)) * (v - z * (z @ v)) / self.radius**2

    @property
    def bounds(self) -> np.ndarray:
        """Five radii around the basin."""
        return np.tile([-5.0, 5.0], (self.dim, 1)) * self.radius

    @property
    def start(self) -> np.ndarray:
        """On the plain, four radii out."""
        return np.full(self.dim, 4.0 * self.radius / np.sqrt(self.dim))

    @property
    def minimizer(self) -> np.ndarray:
        """The origin."""
        return np.zeros(self.dim)

    @property
    def smoothness(self) -> float:
        """L = 1/s²."""
        return self.radius**-2
