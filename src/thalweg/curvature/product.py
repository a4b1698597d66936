"""A symmetric matrix known only by what it does to a vector: v ↦ Hv, checked and counted.

The products may be a network's double backward pass or a difference of two gradients, so they are
trusted with nothing: not the shape, not finiteness, not that they leave v alone or return a
fresh array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thalweg.core.checks import check_callable, check_count, describe
from thalweg.core.errors import InputError

Matvec = Callable[[np.ndarray], Any]  # float64[dim] to anything that NumPy reads as real[dim]


class Product:
    """v ↦ Hv in float64; `count` is how often it was called, `eps` how coarse the products are."""

    def __init__(self, matvec: Matvec, dim: int) -> None:
        check_callable("matvec", matvec, signature="of a vector v that returns Hv")
        self.dim = check_count("dim", dim)
        self.count = 0
        self.eps = float(np.finfo(np.float64).eps)
        self._matvec = matvec

    def __call__(self, v: np.ndarray) -> np.ndarray:
        """Hv, a fresh float64[dim], or an error that says what is wrong with it."""
        result = self._matvec(v.copy())
        self.count += 1
        result, eps = check_product(result, self.dim, self.count)
        self.eps = max(self.eps, eps)
        return result.copy()


def check_product(result: Any, dim: int, count: int) -> tuple[np.ndarray, float]:
    """What `matvec` returned, as float64[dim], and how coarse it is; or what is wrong with it."""
    array = np.asarray(result)
    if array.shape != (dim,):
        raise InputError(
            f"matvec must return a vector of {dim} entries, as v has, "
            f"got {describe(array)}: flatten it with .ravel(), or correct dim"
        )
    if array.dtype.kind not in "iuf":
        raise InputError(f"matvec must return real numbers, got {array.dtype}")
    if not np.isfinite(array).all():
        bad = np.flatnonzero(~np.isfinite(array))
        raise InputError(
            f"matvec must return finite numbers, got {array[bad[0]]} at position {bad[0]} of "
            f"product {count}: the Hessian is not defined here, or it overflows"
        )
    eps = float(np.finfo(array.dtype).eps) if array.dtype.kind == "f" else 0.0
    return array.astype(np.float64, copy=False), eps


def check_generator(rng: Any) -> np.random.Generator:
    """`rng`, if it is one: no curvature is estimated from a hidden seed."""
    if not isinstance(rng, np.random.Generator):
        raise InputError(
            f"rng must be a numpy.random.Generator, got {describe(rng)}: "
            "pass numpy.random.default_rng(seed)"
        )
    return rng
