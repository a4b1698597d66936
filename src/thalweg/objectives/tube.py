"""Losses with corners: nothing within a tube about the target, and straight lines outside.

    ℓ(z, y) = κ₊ max(0, t − ε) + κ₋ max(0, −t − ε)        t = z − y
    ℓ*(θ, y) = yθ + ε|θ|  where −κ₋ ≤ θ ≤ κ₊, infinite elsewhere

κ₊ = `above` is what a score above the tube pays, κ₋ = `below` one below it, ε = `width`. The
pinball loss of the quantile q is the tube of no width with κ₊ = 1 − q and κ₋ = q, the absolute
value that of κ₊ = κ₋ = 1, and support vector regression has these and a width.

Squared outside, without lines, is the other loss of support vector regression, which is smooth:

    ℓ(z, y) = max(0, |t| − ε)²          ℓ*(θ, y) = yθ + ε|θ| + ¼θ²

A tube has no slope at its corners, where the optimum of many samples lies: methods of gradients do
not get there. `methods.interior_point` and `methods.dual_ascent` do, with θ in place of slopes.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from thalweg.core.checks import check_number
from thalweg.objectives.own_loss import Loss

EPS = float(np.finfo(np.float64).eps)


class Tube(Loss):
    """Lines of slopes −`below` and `above` outside a tube of half-width `width` about the target.

    >>> Tube(0.25, 0.75).values(np.array([1.0, 3.0]), np.array([2.0, 2.0])).tolist()
    [0.75, 0.25]
    """

    has_corners: ClassVar[bool] = True
    is_of_differences: ClassVar[bool] = True

    def __init__(self, above: float, below: float, width: float = 0.0) -> None:
        self.above = check_number("above", above, above=0.0)
        self.below = check_number("below", below, above=0.0)
        self.width = check_number("width", width, at_least=0.0)
        self.bound = self.steepest = max(self.above, self.below)
        self.name, self.check = "tube", False
        self._curvature, self._conjugate = self.curvatures, self.conjugates

    @property
    def hinges(self) -> tuple[tuple[float, float, float], ...]:
        """(s, e, κ) with θ = `base` + Σ sλ, 0 ≤ λ ≤ κ, and ℓ = `base`·t + Σ κ max(0, st − e)."""
        if self.width == 0.0:
            return ((1.0, 0.0, self.above + self.below),)
        return ((1.0, self.width, self.above), (-1.0, self.width, self.below))

    @property
    def base(self) -> float:
        """θ where all λ are 0."""
        return -self.below if self.width == 0.0 else 0.0

    def values(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ(zᵢ, yᵢ), float64[n]."""
        t = z - y
        up, down = np.maximum(t - self.width, 0.0), np.maximum(-t - self.width, 0.0)
        return self.above * up + self.below * down

    def slopes(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ′(zᵢ, yᵢ), float64[n]; at a corner the side of the tube."""
        t = z - y
        return np.where(t > self.width, self.above, np.where(t < -self.width, -self.below, 0.0))

    def curvatures(self, z: np.ndarray, y: np.ndarray, unit: float = 1.0) -> np.ndarray:
        """ℓ″, which is 0 but at the corners."""
        return np.zeros_like(z)

    def conjugates(self, theta: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ*(θᵢ, yᵢ), float64[n]."""
        is_inside = (theta <= self.above) & (theta >= -self.below)
        return np.where(is_inside, y * theta + self.width * np.abs(theta), math.inf)

    def best_constant(self, y: np.ndarray, c: np.ndarray) -> float:
        """argmin over b of Σ cᵢℓ(b, yᵢ), the middle one where there are several.

        The slope in b rises by κ₋cᵢ at yᵢ − ε and by κ₊cᵢ at yᵢ + ε, from −κ₋: it is 0 where the
        rises add up to κ₋.
        """
        corners = np.concatenate([y - self.width, y + self.width])
        rises = np.concatenate([self.below * c, self.above * c])
        order = np.argsort(corners, kind="stable")
        corners, reached = corners[order], np.cumsum(rises[order])
        goal, slack = self.below * float(c.sum()), 4.0 * EPS * reached.size * reached[-1]
        low = corners[min(np.searchsorted(reached, goal - slack), corners.size - 1)]
        high = corners[min(np.searchsorted(reached, goal + slack), corners.size - 1)]
        return float(0.5 * (low + high))


class SquaredTube(Loss):
    """The square of what is outside a tube of half-width `width` about the target.

    >>> SquaredTube(0.5).values(np.array([1.0, 4.0]), np.array([1.25, 2.0])).tolist()
    [0.0, 2.25]
    """

    is_of_differences: ClassVar[bool] = True
    bound = 2.0

    def __init__(self, width: float = 0.0) -> None:
        self.width = check_number("width", width, at_least=0.0)
        self.name, self.check = "squared tube", False
        self._curvature, self._conjugate = self.curvatures, self.conjugates

    def values(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ(zᵢ, yᵢ), float64[n]."""
        return np.maximum(np.abs(z - y) - self.width, 0.0) ** 2

    def slopes(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ′(zᵢ, yᵢ), float64[n]."""
        t = z - y
        return 2.0 * (t - np.clip(t, -self.width, self.width))

    def curvatures(self, z: np.ndarray, y: np.ndarray, unit: float = 1.0) -> np.ndarray:
        """ℓ″(zᵢ, yᵢ), float64[n]: 2 or 0, on the tube itself 2 where it has no width."""
        return np.where(np.abs(z - y) >= self.width, 2.0, 0.0)

    def conjugates(self, theta: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ*(θᵢ, yᵢ), float64[n]."""
        return theta * (y + 0.25 * theta) + self.width * np.abs(theta)
