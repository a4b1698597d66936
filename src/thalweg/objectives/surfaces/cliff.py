"""A gentle slope that ends at a wall, as exploding gradients leave it.

    f(x, y) = −gx + Hs·log(1 + exp(x/s)) + ½y²
    ∇f(x, y) = (−g + Hσ(x/s), y)        ∂²f/∂x² = (H/s)σ(x/s)(1 − σ(x/s))

σ is the logistic function. For x ≪ 0 the slope is g, gentle, and leads towards the wall at x = 0;
for x ≫ 0 it is H, steep; s is the width of the bend between them. The minimum lies at the foot of
the wall, x* = s·log(g/(H − g)).

f is convex, with L = H/4s. A step size η that is safe at the wall, η < 2/L, creeps along the slope;
a larger one meets a gradient of up to H at the wall and throws the iterate ηH away. With the
gradient clipped to norm u no step is longer than ηu.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from thalweg.core.checks import check_number
from thalweg.objectives.surfaces.surface import Surface


@dataclass(frozen=True, repr=False)
class Cliff(Surface):
    """Slope `gentle` down to a wall of slope `steep`; the bend between them is `width` wide."""

    key: ClassVar[str] = "cliff"
    dim = 2

    gentle: float = 0.1  # g
    steep: float = 100.0  # H
    width: float = 0.01  # s

    def __post_init__(self) -> None:
        gentle = check_number("gentle", self.gentle, above=0.0)
        steep = check_number(
            "steep", self.steep, above=2 * gentle, advice="the wall must outdo the gentle slope"
        )
        object.__setattr__(self, "gentle", gentle)
        object.__setattr__(self, "steep", steep)
        object.__setattr__(self, "width", check_number("width", self.width, above=0.0))

    def _value(self, w: np.ndarray) -> np.ndarray:
        x, y = w[..., 0], w[..., 1]
        wall = self.steep * self.width * np.logaddexp(0.0, x / self.width)
        return wall - self.gentle * x + 0.5 * y * y

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        x, y = w
        return np.array([self.steep * expit(x / self.width) - self.gentle, y], w.dtype)

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        z = w[0] / self.width
        bend = self.steep / self.width * expit(z) * expit(-z)
        return np.array([bend * v[0], v[1]], w.dtype)

    @property
    def bounds(self) -> np.ndarray:
        """The slope, and enough of the wall to see it rise."""
        return np.array([[-3.0, 0.5], [-2.0, 2.0]])

    @property
    def start(self) -> np.ndarray:
        """On the slope, well before the wall."""
        return np.array([-2.0, 1.0])

    @property
    def minimizer(self) -> np.ndarray:
        """The foot of the wall."""
        return np.array([self.width * math.log(self.gentle / (self.steep - self.gentle)), 0.0])

    @property
    def smoothness(self) -> float:
        """L = H/4s, or 1 if that is less."""
        return max(self.steep / (4 * self.width), 1.0)

    @property
    def strong_convexity(self) -> float:
        """Zero: convex, but straight along x far from the wall."""
        return 0.0
