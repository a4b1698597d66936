"""Any Python function as an objective: what is missing is made from differences.

    ∂f/∂wᵢ ≈ (f(w + hᵢeᵢ) − f(w − hᵢeᵢ)) / 2hᵢ            hᵢ = ε^⅓·sᵢ,   sᵢ = max(1, |wᵢ|)
    Hv ≈ D(t) = (∇f(w + tv) − ∇f(w − tv)) / 2t            t = ε^⅓ / maxᵢ(|vᵢ|/sᵢ)

ε is the spacing of float64 at 1: central differences err by O(h²) in the formula and O(ε/h) in
rounding, and ε^⅓ balances the two. Where there is no gradient to difference, D is built from
four values per coordinate,

    D(t)ᵢ = (f(w + hᵢeᵢ + tv) − f(w − hᵢeᵢ + tv) − f(w + hᵢeᵢ − tv) + f(w − hᵢeᵢ − tv)) / 4hᵢt

whose rounding is O(ε/h²) and wants a longer step. Its O(h²) is removed by extrapolation,
Hv ≈ (4D(t) − D(2t))/3 with step ε^⅕, which leaves O(h⁴).

Cost of what is missing: gradient 2·dim values, Hv two gradients, or 8·dim values.
Nocedal & Wright, Numerical Optimization, section 8.1; Gill et al., Practical Optimization, 8.6.
"""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from typing import Any, TypedDict, Unpack

import numpy as np

from thalweg.core.checks import (
    check_callable,
    check_count,
    check_known,
    check_number,
    check_reals,
    check_vector,
    describe,
)
from thalweg.core.errors import InputError
from thalweg.objectives.differences import (
    EPS,
    STEP,
    central,
    difference_gradient,
    double,
    moves,
    reach,
    scales,
)
from thalweg.objectives.gradient_check import check_gradient as compare
from thalweg.objectives.gradient_check import tolerant

SECOND_STEP = EPS ** (1 / 5)


class Known(TypedDict, total=False):
    """What is known of f besides its values."""

    smoothness: float | None  # of ∇f: ‖∇²f‖ is nowhere larger
    strong_convexity: float | None
    minimizer: Any
    minimum: float | None
    bounds: Any  # [dim, 2], where to look at it


class Objective:
    """f given as `value(w)`, with as many of its derivatives as are known.

    `gradient(w)`, `hessian_vector(w, v)` and `value_and_gradient(w)` may be left out. A gradient
    that is given is compared with differences of `value` once, at the first point where it is
    asked for; `check_gradient=False` skips that. `known`: what is known of f, a `Known`.

    The functions receive copies of w, and what they return is copied: a function that works in
    place, returns its argument or reuses one buffer is then harmless. (A read-only view would turn
    the first into an error and leave the others to corrupt the iterate.) Their exceptions
    propagate unchanged. A value that is not finite is returned as such.

    >>> bowl = Objective(lambda w: (w[0] - 1) ** 2 + w[1] ** 2, dim=2)
    >>> bool(np.allclose(bowl.gradient(np.zeros(2)), [-2, 0]))
    True
    """

    def __init__(
        self,
        value: Callable[[np.ndarray], Any],
        gradient: Callable[[np.ndarray], Any] | None = None,
        hessian_vector: Callable[[np.ndarray, np.ndarray], Any] | None = None,
        *,
        value_and_gradient: Callable[[np.ndarray], tuple[Any, Any]] | None = None,
        dim: int | None = None,
        name: str | None = None,
        start: Any = None,
        check_gradient: bool = True,
        **known: Unpack[Known],
    ) -> None:
        check_callable("value", value, signature="of a vector w that returns a number")
        for role, function, signature in (
            ("gradient", gradient, "of a vector w that returns one as long"),
            ("hessian_vector", hessian_vector, "of vectors w and v that returns one as long"),
            ("value_and_gradient", value_and_gradient, "of a vector w that returns a pair"),
        ):
            if function is not None:
                check_callable(role, function, signature=signature)
        self._value = value
        self._gradient = gradient
        self._hessian_vector = hessian_vector
        self._value_and_gradient = value_and_gradient
        self._gradient_is_given = gradient is not None or value_and_gradient is not None
        self._gradient_is_unchecked = self._gradient_is_given and check_gradient

        self.dim = None if dim is None else check_count("dim", dim)
        self.name = name or getattr(value, "__name__", type(value).__name__)
        names = (*inspect.signature(Objective).parameters, *Known.__annotations__)
        check_known("Objective", "argument", known, names)
        self._state(**known)
        self.start = self._stated_vector("start", start)

    def _state(
        self,
        smoothness: float | None = None,
        strong_convexity: float | None = None,
        minimizer: Any = None,
        minimum: float | None = None,
        bounds: Any = None,
    ) -> None:
        """Check what is known of f, each against the others."""
        self.minimizer = self._stated_vector("minimizer", minimizer)
        self.bounds = self._stated_box(bounds)
        self.minimum = None if minimum is None else check_number("minimum", minimum)
        self.smoothness = (
            None if smoothness is None else check_number("smoothness", smoothness, at_least=0.0)
        )
        self.strong_convexity = (
            None
            if strong_convexity is None
            else check_number(
                "strong_convexity", strong_convexity, at_least=0.0, at_most=self.smoothness
            )
        )

    def value(self, w: np.ndarray) -> Any:
        """f(w): a float at one point, float64[...] at points float[..., dim]."""
        w = np.asarray(w)
        if w.ndim > 1:
            points = w.reshape(-1, w.shape[-1])
            return np.array([self._value_at(self._point(p)) for p in points]).reshape(w.shape[:-1])
        return self._value_at(self._point(w))

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """∇f(w), float[dim], of the dtype of `w`: given, or from 2·dim values."""
        w = self._point(w)
        if not self._gradient_is_given:
            return difference_gradient(self._value_at, double(w), STEP).astype(w.dtype)
        self._check_gradient_once(double(w))
        return self._given_gradient(w)

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """f(w) and ∇f(w)."""
        if self._value_and_gradient is None:
            return self.value(w), self.gradient(w)
        w = self._point(w)
        self._check_gradient_once(double(w))
        return self._given_pair(w)

    def hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """∇²f(w)·v, float[dim]: given, or from two gradients, or from 8·dim values."""
        w, v = self._point(w), self._point(v)
        if self._hessian_vector is not None:
            return _vector("hessian_vector", self._hessian_vector(w.copy(), v.copy()), w)
        return self._difference_product(double(w), double(v), 1.0).astype(w.dtype)

    def gradient_error(self, w: np.ndarray) -> float:
        """An estimate, meant to be too large, of ‖error of `gradient(w)`‖; 0 where it is given."""
        if self._gradient_is_given:
            return 0.0
        w = double(self._point(w))
        fine, coarse = (difference_gradient(self._value_at, w, k * STEP) for k in (1, 2))
        rounding = self._value_noise(w, STEP) / (STEP * scales(w))
        return float(np.linalg.norm(fine - coarse) + np.linalg.norm(rounding))

    def hessian_vector_error(self, w: np.ndarray, v: np.ndarray) -> float:
        """An estimate, meant to be too large, of ‖error of `hessian_vector(w, v)`‖.

        The change when all steps are doubled, which is three or more times the error of the
        formula, plus an allowance for rounding. 0 where `hessian_vector` is given.
        """
        if self._hessian_vector is not None:
            return 0.0
        precision = float(np.finfo(self._point(w).dtype).eps)
        w, v = double(self._point(w)), double(self._point(v))
        if not v.any():
            return 0.0
        fine, coarse = (self._difference_product(w, v, k) for k in (1.0, 2.0))
        if self._gradient_is_given:
            rounding = self._gradient_noise(w) / (STEP / reach(w, v))
        else:
            steps = SECOND_STEP * scales(w) * (SECOND_STEP / reach(w, v))
            rounding = np.linalg.norm(4 * self._value_noise(w, 2 * SECOND_STEP) / steps)
        rounding += precision * np.linalg.norm(fine)  # Hv is returned in the dtype of w
        return float(np.linalg.norm(fine - coarse) + rounding)

    def _difference_product(self, w: np.ndarray, v: np.ndarray, stretch: float) -> np.ndarray:
        """Hv by differences, all steps times `stretch`."""
        if not v.any():
            return np.zeros_like(w)
        if self._gradient_is_given:
            self._check_gradient_once(w)
            return central(self._given_gradient, w, v, stretch * STEP / reach(w, v))

        def product(step: float) -> np.ndarray:
            def slopes(at: np.ndarray) -> np.ndarray:
                return difference_gradient(self._value_at, at, step, scales(w))

            return central(slopes, w, v, step / reach(w, v))

        step = stretch * SECOND_STEP
        return (4 * product(step) - product(2 * step)) / 3

    def _value_noise(self, w: np.ndarray, step: float) -> float:
        """About how wrong f is near w: ε(|f| + Σ|∂f/∂wᵢ·wᵢ|), for w itself is only known to ε."""
        here = self._value_at(w)
        pairs = moves(w, step * scales(w))
        changes = [
            max(abs(self._value_at(up) - here), abs(self._value_at(down) - here))
            for up, down in pairs
        ]
        return EPS * (abs(here) + sum(changes) / step)

    def _gradient_noise(self, w: np.ndarray) -> float:
        """About how wrong ∇f is near w: 4ε(‖∇f‖ + ‖H‖‖w‖), ‖H‖ guessed along a random direction."""
        z = np.random.default_rng(0).standard_normal(w.size)
        # E‖Hz‖² is the squared Frobenius norm of H, at least ‖H‖².
        norm = np.linalg.norm(self._difference_product(w, z, 1.0))
        slope = np.linalg.norm(self._given_gradient(w))
        return float(4 * EPS * (slope + norm * np.linalg.norm(np.abs(w) + STEP)))

    def _value_at(self, w: np.ndarray) -> float:
        return _scalar(self._value(w.copy()))

    def _given_gradient(self, w: np.ndarray) -> np.ndarray:
        if self._gradient is not None:
            return _vector("gradient", self._gradient(w.copy()), w)
        return self._given_pair(w)[1]

    def _given_pair(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        assert self._value_and_gradient is not None
        pair = self._value_and_gradient(w.copy())
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(
                f"value_and_gradient must return a pair (value, gradient), got {describe(pair)}"
            )
        return _scalar(pair[0]), _vector("gradient", pair[1], w)

    def _check_gradient_once(self, w: np.ndarray) -> None:
        if not self._gradient_is_unchecked:
            return
        value = tolerant(self._value_at)
        if not np.isfinite(value(w)):
            return  # nothing to compare with here; the next point may be better
        self._gradient_is_unchecked = False
        for gradient in (self._gradient and self._given_gradient(w), self._pair_gradient(w)):
            if gradient is not None and np.isfinite(gradient).all():
                compare(value, gradient, w)

    def _pair_gradient(self, w: np.ndarray) -> np.ndarray | None:
        return None if self._value_and_gradient is None else self._given_pair(w)[1]

    def _point(self, w: np.ndarray) -> np.ndarray:
        w = check_reals("w", w)
        if w.ndim != 1 or (self.dim is not None and w.size != self.dim):
            length = "any length" if self.dim is None else f"{self.dim} entries"
            raise InputError(f"w must be a vector of {length}, got shape {w.shape}")
        return w

    def _stated_vector(self, name: str, vector: Any) -> np.ndarray | None:
        """A checked vector; the first to come decides `dim` if nothing else has."""
        if vector is None:
            return None
        vector = check_vector(name, vector, dim=self.dim)
        self.dim = vector.size
        return vector

    def _stated_box(self, bounds: Any) -> np.ndarray | None:
        if bounds is None:
            return None
        box = check_reals("bounds", bounds).astype(np.float64)
        rows = "dim" if self.dim is None else self.dim
        if box.ndim != 2 or box.shape[1] != 2 or self.dim not in (None, len(box)):
            raise InputError(f"bounds must have shape ({rows}, 2), got {describe(box)}")
        if not (np.isfinite(box).all() and (box[:, 0] < box[:, 1]).all()):
            raise InputError(f"bounds must be finite, each low below its high, got {bounds!r}")
        self.dim = len(box)
        return box

    def __repr__(self) -> str:
        variables = "" if self.dim is None else f", dim={self.dim}"
        return f"Objective({self.name}{variables})"


def _scalar(raw: Any) -> float:
    if isinstance(raw, numbers.Real) and not isinstance(raw, bool):
        return float(raw)
    array = np.asarray(raw)
    if array.ndim or array.dtype.kind not in "iuf":
        raise InputError(
            f"value must return one real number, got {describe(raw)}: "
            "return a float, for instance the sum of an array"
        )
    return float(array)


def _vector(what: str, raw: Any, w: np.ndarray) -> np.ndarray:
    array = np.asarray(raw)
    if array.shape != w.shape or array.dtype.kind not in "iuf":
        raise InputError(
            f"{what} must return {w.size} real numbers in shape {w.shape}, as w has, "
            f"got {describe(array if array.ndim else raw)}"
        )
    return np.array(array, dtype=w.dtype)
