"""A deep linear chain: n layers that share one weight matrix W = diag(a, b).

    h = Wⁿx = (aⁿx₁, bⁿx₂)        ∂hᵢ/∂wᵢ = n·wᵢⁿ⁻¹xᵢ        f(a, b) = ½‖h − t‖²

The gradient of the output is (n·aⁿ⁻¹, n·bⁿ⁻¹) for x = (1, 1): with a = 1, b = 2 it is
(n, n·2ⁿ⁻¹) and explodes with the depth, with a = ½, b = 0.9 it vanishes, and below the precision
of the floating-point numbers it is zero. The loss f against a target t inherits both: a plain
where |wᵢ| < 1, a cliff where |wᵢ| > 1.

    ∂f/∂wᵢ = rᵢhᵢ′        ∂²f/∂wᵢ² = hᵢ′² + rᵢ·n(n−1)wᵢⁿ⁻²xᵢ        r = h − t,  hᵢ′ = n·wᵢⁿ⁻¹xᵢ
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.core.checks import check_count, check_vector
from thalweg.objectives.surfaces.surface import Surface


@dataclass(frozen=True, repr=False)
class LinearChain(Surface):
    """½‖Wⁿx − target‖² as a function of the diagonal (a, b) of W."""

    key: ClassVar[str] = "linear-chain"
    dim = 2

    layers: int = 10  # n
    x: tuple[float, float] = (1.0, 1.0)
    target: tuple[float, float] = (1.0, 1.0)  # t

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", check_count("layers", self.layers))
        for field in ("x", "target"):
            pair = check_vector(field, getattr(self, field), dim=2).astype(np.float64)
            object.__setattr__(self, field, tuple(pair.tolist()))

    def output(self, w: np.ndarray) -> np.ndarray:
        """h = Wⁿx, float[..., 2]."""
        w = self._points(w)
        with np.errstate(all="ignore"):
            return w**self.layers * np.array(self.x, w.dtype)

    def output_gradient(self, w: np.ndarray) -> np.ndarray:
        """(∂h₁/∂a, ∂h₂/∂b) = n·wⁿ⁻¹x, float[..., 2]; the other two derivatives are zero."""
        w = self._points(w)
        with np.errstate(all="ignore"):
            return self.layers * w ** (self.layers - 1) * np.array(self.x, w.dtype)

    def _value(self, w: np.ndarray) -> np.ndarray:
        r = self._residual(w)
        return 0.5 * np.sum(r * r, axis=-1)

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        return self._residual(w) * self.output_gradient(w)

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        n = self.layers
        # For one layer h is linear: the power is then irrelevant, but must not divide by zero.
        bend = n * (n - 1) * w ** max(n - 2, 0) * np.array(self.x, w.dtype)
        return (self.output_gradient(w) ** 2 + self._residual(w) * bend) * v

    def _residual(self, w: np.ndarray) -> np.ndarray:
        return self.output(w) - np.array(self.target, w.dtype)

    @property
    def bounds(self) -> np.ndarray:
        """The plain, and the cliff around it."""
        return np.tile([-1.5, 1.5], (2, 1))

    @property
    def start(self) -> np.ndarray:
        """(½, 0.9), where the gradient vanishes as the chain grows."""
        return np.array([0.5, 0.9])

    @property
    def minimizer(self) -> np.ndarray:
        """The n-th roots of tᵢ/xᵢ; 0 where there is none, for then wᵢ = 0 comes closest."""
        return np.array(
            [_root(t, x, self.layers) for t, x in zip(self.target, self.x, strict=True)]
        )


def _root(target: float, x: float, layers: int) -> float:
    """argmin over w of |wⁿx − t|."""
    if x == 0 or (layers % 2 == 0 and target / x < 0):
        return 0.0
    return math.copysign(abs(target / x) ** (1 / layers), target / x)
