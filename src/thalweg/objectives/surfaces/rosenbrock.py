"""Rosenbrock's valley: easy to reach, hard to follow.

    f(x) = Σ_{i<n} (a − xᵢ)² + b(xᵢ₊₁ − xᵢ²)²

In two variables f = (a − x)² + b(y − x²)². The floor of the valley is the parabola y = x²; b says
how steep its walls are against the gentle slope along the floor.

With r = xᵢ₊₁ − xᵢ², term i contributes

    to the gradient   −2(a − xᵢ) − 4b·xᵢ·r  at i,   2b·r  at i + 1
    to the Hessian    2 − 4b(xᵢ₊₁ − 3xᵢ²)  at (i, i),   −4b·xᵢ  at (i, i + 1),
                      2b  at (i + 1, i + 1)

Two variables: (a, a²) is the only stationary point, and a minimum: there is no saddle. For n > 2
the same argument needs x₁ = … = xₙ₋₁ = a with a = a², so f* = 0 is reached for a = 1 (and a = 0)
only. From n = 4 on and with a = 1 there is a second, local minimum, with x₁ < 0.

Rosenbrock, Comput. J. 3 (1960); the sum over n variables: Shang & Qiu, Evol. Comput. 14 (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.objectives.surfaces.surface import Surface


@dataclass(frozen=True, repr=False)
class Rosenbrock(Surface):
    """Σ (a − xᵢ)² + b(xᵢ₊₁ − xᵢ²)², in two variables or more."""

    key: ClassVar[str] = "rosenbrock"

    a: float = 1.0
    b: float = 100.0
    dim: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", check_number("a", self.a))
        object.__setattr__(self, "b", check_number("b", self.b, above=0.0))
        object.__setattr__(self, "dim", check_count("dim", self.dim, at_least=2))

    def _value(self, w: np.ndarray) -> np.ndarray:
        x, after = w[..., :-1], w[..., 1:]
        return np.sum((self.a - x) ** 2 + self.b * (after - x * x) ** 2, axis=-1)

    def _gradient(self, w: np.ndarray) -> np.ndarray:
        x, after = w[:-1], w[1:]
        r = after - x * x
        g = np.zeros_like(w)
        g[:-1] = -2 * (self.a - x) - 4 * self.b * x * r
        g[1:] += 2 * self.b * r
        return g

    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        x, after = w[:-1], w[1:]
        Hv = np.zeros_like(w)
        Hv[:-1] = (2 - 4 * self.b * (after - 3 * x * x)) * v[:-1] - 4 * self.b * x * v[1:]
        Hv[1:] += -4 * self.b * x * v[:-1] + 2 * self.b * v[1:]
        return Hv

    @property
    def bounds(self) -> np.ndarray:
        """The valley from the customary start to the minimum, and some of its walls."""
        box = np.tile([-2.0, 2.0], (self.dim, 1)) * max(1.0, abs(self.a))
        box[-1] = np.array([-1.0, 3.0]) * max(1.0, self.a**2)
        return box

    @property
    def start(self) -> np.ndarray:
        """(−1.5, 2, −1.5, …): across the bend of the valley from the minimum."""
        return np.resize([-1.5, 2.0], self.dim)

    @property
    def minimizer(self) -> np.ndarray | None:
        """(a, a²) in two variables; (a, …, a) in more, where a is 0 or 1; None otherwise."""
        if self.dim > 2 and self.a not in (0.0, 1.0):
            return None
        return np.append(np.full(self.dim - 1, self.a), self.a**2)
