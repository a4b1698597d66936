"""What all test surfaces share: one formula for points and grids, no warnings far away.

A surface writes three formulas, `_value`, `_gradient` and `_hessian_vector`, and states what it
knows of itself. This base checks shapes, keeps the dtype and silences overflow: far from the
origin a value may be infinite, which is true enough for whoever judges the run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from thalweg.core.checks import check_reals
from thalweg.core.errors import InputError
from thalweg.objectives.surfaces.noisy import Noisy


class Surface(ABC):
    """A smooth function of `dim` real variables with its exact derivatives."""

    key: ClassVar[str]  # in the table SURFACES
    dim: int

    @abstractmethod
    def _value(self, w: np.ndarray) -> np.ndarray:
        """f at points `w`, float[..., dim]; returns float[...]."""

    @abstractmethod
    def _gradient(self, w: np.ndarray) -> np.ndarray:
        """∇f at one point, float[dim]."""

    @abstractmethod
    def _hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """∇²f(w)·v at one point, float[dim]."""

    def value(self, w: np.ndarray) -> Any:
        """f(w): a float at one point, float[...] at points float[..., dim]."""
        w = self._points(w)
        with np.errstate(all="ignore"):
            f = self._value(w)
        return float(f) if w.ndim == 1 else f

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """∇f(w), float[dim], of the dtype of `w`."""
        w = self._point("w", w)
        with np.errstate(all="ignore"):
            return self._gradient(w)

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """f(w) and ∇f(w)."""
        return self.value(w), self.gradient(w)

    def hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """∇²f(w)·v, float[dim], exact to rounding."""
        w = self._point("w", w)
        v = self._point("v", v).astype(w.dtype, copy=False)
        with np.errstate(all="ignore"):
            return self._hessian_vector(w, v)

    @property
    def bounds(self) -> np.ndarray | None:
        """The box worth drawing, float64[dim, 2]."""
        return None

    @property
    def start(self) -> np.ndarray | None:
        """A customary w₀."""
        return None

    @property
    def minimizer(self) -> np.ndarray | None:
        """A global minimizer w*, where one is known."""
        return None

    @cached_property
    def minimum(self) -> float | None:
        """f*, the least value, where it is known."""
        return None if self.minimizer is None else self.value(self.minimizer)

    @property
    def smoothness(self) -> float | None:
        """L with ‖∇f(u) − ∇f(w)‖ ≤ L‖u − w‖ everywhere, where there is one."""
        return None

    @property
    def strong_convexity(self) -> float | None:
        """μ ≥ 0 with f − (μ/2)‖w‖² convex everywhere; None for a surface that is not convex."""
        return None

    def noisy(self, sigma: float, seed: int = 0) -> Noisy:
        """This surface with gradients that carry N(0, σ²I) noise."""
        return Noisy(self, sigma, seed)

    def _points(self, w: np.ndarray) -> np.ndarray:
        w = check_reals("w", w)
        if w.ndim == 0 or w.shape[-1] != self.dim:
            raise InputError(
                f"w must have {self.dim} entries along its last axis, as {self!r} has variables, "
                f"got shape {w.shape}"
            )
        return w

    def _point(self, name: str, w: np.ndarray) -> np.ndarray:
        w = self._points(w)
        if w.ndim != 1:
            raise InputError(f"{name} must be one point of shape ({self.dim},), got {w.shape}")
        return w

    def __repr__(self) -> str:
        shown = [
            f"{field.name}={_plain(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.name != "dim" or self.dim != field.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _plain(parameter: Any) -> str:
    """A parameter without a trailing .0."""
    if isinstance(parameter, tuple):
        return f"({', '.join(map(_plain, parameter))})"
    return f"{parameter:g}" if isinstance(parameter, float) else repr(parameter)
