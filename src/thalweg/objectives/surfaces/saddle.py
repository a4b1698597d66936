"""The saddle: a minimum along some directions, a maximum along others.

    f(w) = ½ Σᵢ cᵢwᵢ²        ∇f(w) = c ∘ w        ∇²f = diag(c)

with some cᵢ positive and some negative; (1, −1) gives (x² − y²)/2. The origin is the only
stationary point. Gradient descent started near the rising axes is drawn towards it first and
leaves only at the pace (1 + η|cᵢ|)ᵗ at which its small falling coordinates grow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from thalweg.core.checks import check_vector
from thalweg.core.errors import InputError
from thalweg.objectives.surfaces.surface import Surface


@dataclass(frozen=True, repr=False)
class Saddle(Surface):
    """½ Σ cᵢwᵢ² with curvatures of both signs; unbounded below."""

    key: ClassVar[str] = "saddle"

    curvatures: tuple[float, ...] = (1.0, -1.0)  # c
    dim: int = field(init=False, default=2)

    def __post_init__(self) -> None:
        curvatures = check_vector("curvatures", self.curvatures).astype(np.float64)
        if not curvatures.min() < 0 < curvatures.max():
            raise InputError(
                f"curvatures must hold a positive and a negative number, got {self.curvatures!r}: "
                "without both there is no saddle, use Quadratic"
            )
        object.__setattr__(self, "curvatures", tuple(curvatures.tolist()))
        object.__setattr__(self, "dim", curvatures.size)

    def _value(self, w: np.ndarray) -> np.ndarray:
        return 0.5 * np.sum(np.array(self.curvatures, w.dtype) * w * w, axis=-1)

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        return np.array(self.curvatures, w.dtype) * w

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array(self.curvatures, w.dtype) * v

    @property
    def bounds(self) -> np.ndarray:
        """The box of half-width 2 around the saddle."""
        return np.tile([-2.0, 2.0], (self.dim, 1))

    @property
    def start(self) -> np.ndarray:
        """1 along what rises, 0.001 along what falls: drawn to the saddle before it escapes."""
        return np.where(np.array(self.curvatures) < 0, 1e-3, 1.0)

    @property
    def smoothness(self) -> float:
        """L = max|cᵢ|."""
        return max(map(abs, self.curvatures))
