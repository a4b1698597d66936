"""The monkey saddle: three ways down, three ways up, and a Hessian that is zero.

    f(x, y) = x³ − 3xy²        ∇f = (3x² − 3y², −6xy)        ∇²f = 6·[[x, −y], [−y, −x]]

At the origin both derivatives vanish, so the eigenvalues of the Hessian cannot tell what kind of
point it is: the verdict there is "degenerate". Everywhere else the eigenvalues are ±6‖w‖.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.objectives.surfaces.surface import Surface


@dataclass(frozen=True, repr=False)
class MonkeySaddle(Surface):
    """x³ − 3xy², unbounded below."""

    key: ClassVar[str] = "monkey-saddle"
    dim = 2

    def _value(self, w: np.ndarray) -> np.ndarray:
        x, y = w[..., 0], w[..., 1]
        return x * (x * x - 3 * y * y)

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        x, y = w
        return np.array([3 * (x * x - y * y), -6 * x * y], w.dtype)

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        x, y = w
        return 6 * np.array([x * v[0] - y * v[1], -y * v[0] - x * v[1]], w.dtype)

    @property
    def bounds(self) -> np.ndarray:
        """A box around the saddle."""
        return np.tile([-1.5, 1.5], (2, 1))

    @property
    def start(self) -> np.ndarray:
        """On a ridge that leads to the saddle, a little beside it."""
        return np.array([1.0, 0.01])
