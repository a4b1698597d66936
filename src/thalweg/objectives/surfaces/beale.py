"""Beale's function: a curved valley between flat plains and steep corners.

    f(x, y) = Σ_{k=1..3} r_k²,   r_k = c_k − x(1 − yᵏ),   c = (1.5, 2.25, 2.625)

Gradient and Hessian follow from the residuals r_k and their derivatives:

    ∇f = 2 Σ r_k∇r_k        ∇²f = 2 Σ ∇r_k∇r_kᵀ + r_k∇²r_k
    ∂r_k/∂x = yᵏ − 1,   ∂r_k/∂y = kxyᵏ⁻¹,   ∂²r_k/∂x∂y = kyᵏ⁻¹,   ∂²r_k/∂y² = k(k−1)xyᵏ⁻²

The minimum is f(3, ½) = 0. Beale, On an iterative method for finding a local minimum (1958);
start from Moré, Garbow & Hillstrom, ACM TOMS 7 (1981).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.objectives.surfaces.surface import Surface

CONSTANTS = (1.5, 2.25, 2.625)  # c_k


@dataclass(frozen=True, repr=False)
class Beale(Surface):
    """Σ (c_k − x + xyᵏ)², minimal at (3, ½)."""

    key: ClassVar[str] = "beale"
    dim = 2

    def _value(self, w: np.ndarray) -> np.ndarray:
        x, y = w[..., 0], w[..., 1]
        residuals = [c - x * (1 - y**k) for k, c in enumerate(CONSTANTS, start=1)]
        return sum(r * r for r in residuals)

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        x, y = w
        g = np.zeros_like(w)
        for k, c in enumerate(CONSTANTS, start=1):
            r = c - x * (1 - y**k)
            g += 2 * r * np.array([y**k - 1, k * x * y ** (k - 1)], w.dtype)
        return g

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        x, y = w
        Hv = np.zeros_like(w)
        for k, c in enumerate(CONSTANTS, start=1):
            r = c - x * (1 - y**k)
            slope = np.array([y**k - 1, k * x * y ** (k - 1)], w.dtype)
            mixed = k * y ** (k - 1)
            bend = k * (k - 1) * x * y ** max(k - 2, 0)
            curved = np.array([mixed * v[1], mixed * v[0] + bend * v[1]], w.dtype)
            Hv += 2 * (slope * (slope @ v) + r * curved)
        return Hv

    @property
    def bounds(self) -> np.ndarray:
        """The customary box."""
        return np.tile([-4.5, 4.5], (2, 1))

    @property
    def start(self) -> np.ndarray:
        """(1, 1), where the valley is flat."""
        return np.array([1.0, 1.0])

    @property
    def minimizer(self) -> np.ndarray:
        """(3, ½)."""
        return np.array([3.0, 0.5])
