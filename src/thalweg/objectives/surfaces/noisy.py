"""An objective seen through noise, as a stochastic gradient sees it.

    value(w) = f(w)        gradient(w) = ∇f(w) + σ·ξ,   ξ ~ N(0, I) fresh at every call

The value and the Hessian-vector product stay exact, and so does all that the objective states of
itself (L, μ, its minimizer): they describe f, not the noise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from thalweg.core.checks import check_count, check_number, describe
from thalweg.core.errors import InputError
from thalweg.core.objective import ObjectiveProtocol, is_composite, name_of


@dataclass(frozen=True, eq=False)
class Noisy:
    """`surface` (any objective) with N(0, σ²I) added to every gradient.

    Each gradient draws from `rng`, which `seed` starts. A run that is to be decided by its own
    seed takes `bind(rng)`, a copy that draws from the run's generator instead.
    """

    surface: ObjectiveProtocol
    sigma: float
    seed: int = 0
    rng: np.random.Generator = field(default=None, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if is_composite(self.surface):
            raise InputError(
                f"surface must be smooth, got {describe(self.surface)}, which has a penalty: "
                "add noise to its smooth part, Regularized(Noisy(f, sigma), ...)"
            )
        if not isinstance(self.surface, ObjectiveProtocol):
            raise InputError(
                "surface must have dim, value, gradient, value_and_gradient and hessian_vector, "
                f"got {describe(self.surface)}: wrap a plain function in Objective(...)"
            )
        object.__setattr__(self, "sigma", check_number("sigma", self.sigma, at_least=0.0))
        object.__setattr__(self, "seed", check_count("seed", self.seed, at_least=0))
        if self.rng is None:
            object.__setattr__(self, "rng", np.random.default_rng(self.seed))

    @property
    def name(self) -> str:
        """The name of the surface, and its noise."""
        return f"{name_of(self.surface)} with noise {self.sigma:g}"

    @property
    def dim(self) -> int | None:
        """Number of variables."""
        return self.surface.dim

    @property
    def exact(self) -> ObjectiveProtocol:
        """The surface without its noise."""
        return self.surface

    def bind(self, rng: np.random.Generator) -> Noisy:
        """The same noisy surface, drawing from `rng` from now on."""
        return replace(self, rng=rng)

    def value(self, w: np.ndarray) -> Any:
        """f(w), without noise."""
        return self.surface.value(w)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """∇f(w) + σξ; two calls at one point differ."""
        return self._disturb(self.surface.gradient(w))

    def value_and_gradient(self, w: np.ndarray) -> tuple[Any, np.ndarray]:
        """f(w) and ∇f(w) + σξ."""
        value, gradient = self.surface.value_and_gradient(w)
        return value, self._disturb(gradient)

    def hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """∇²f(w)·v, without noise."""
        return self.surface.hessian_vector(w, v)

    def _disturb(self, gradient: np.ndarray) -> np.ndarray:
        # Drawn in float64 whatever the dtype, so that float32 and float64 runs see the same noise.
        noise = self.sigma * self.rng.standard_normal(gradient.shape)
        return gradient + noise.astype(gradient.dtype, copy=False)

    def __getattr__(self, attribute: str) -> Any:
        # What f states of itself. Names with an underscore are not asked of f: copying and
        # pickling look for some before `surface` exists.
        if attribute.startswith("_") or attribute == "surface":
            raise AttributeError(attribute)
        return getattr(self.surface, attribute)
