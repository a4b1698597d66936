"""The objective as a method sees it: counted, in the dtype of the iterate, values as floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.errors import InputError
from thalweg.core.objective import known, name_of


class Point(NamedTuple):
    """A point and what one evaluation tells of it."""

    w: np.ndarray  # float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    scores: np.ndarray  # z = Xw + b of a linear problem, float64[n] or [n, K]; else empty


class Problem:
    """F = f + h, every look at it counted.

    The methods `value`, `value_and_gradient` and `hessian_vector` are those of the smooth part f;
    `penalty` and `prox` are those of h, which is zero for a plain objective.
    """

    def __init__(self, objective: Any, dim: int, dtype: np.dtype) -> None:
        self.objective = objective
        self.dim = dim
        smooth = known(objective, "smooth")  # asked for once: a linear problem makes a copy
        self.is_composite = smooth is not None
        self.smooth = smooth if self.is_composite else objective
        self.dtype = dtype
        self.no_scores = np.empty(0, dtype=dtype)
        self.values = 0
        self.gradients: float = 0  # a fraction where samples are visited one by one
        self.hessian_vectors = 0
        self.passes: float = 0  # a look at some of the rows is a fraction of one
        self.is_summed = False  # whether a method took the sums of a squared loss
        self._kept: dict[str, Any] = {}

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` returned when first asked for under this name.

        For what a method needs in every iteration and would find again after a resume, since it
        follows from the objective alone.
        """
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    @property
    def name(self) -> str:
        """What the objective is called in text."""
        return name_of(self.objective)

    @property
    def smoothness(self) -> float | None:
        """L, where f knows it."""
        L = known(self.smooth, "smoothness")
        return L if L is None or math.isfinite(L) else None

    @property
    def strong_convexity(self) -> float | None:
        """μ, where f knows it."""
        return known(self.smooth, "strong_convexity")

    @property
    def is_noisy(self) -> bool:
        """Whether gradients are right only on average."""
        return known(self.smooth, "exact") is not None

    @property
    def evaluations(self) -> float:
        """Gradients plus Hessian-vector products."""
        return self.gradients + self.hessian_vectors

    @property
    def counts(self) -> dict[str, Any]:
        """What was asked of the objective so far."""
        return {
            "values": self.values,
            "gradients": self.gradients,
            "hessian_vectors": self.hessian_vectors,
            "passes": self.passes,
        }

    def restore(self, counts: dict[str, Any], *, is_summed: bool = False) -> None:
        """Go on counting from `counts`. Changes the counters in place.

        Sums that were at hand are so again: gaps are taken from them where they are.
        """
        self.is_summed = is_summed
        if is_summed:
            _ = self.objective.least_squares
        self.values = counts["values"]
        self.gradients = counts["gradients"]
        self.hessian_vectors = counts["hessian_vectors"]
        self.passes = counts["passes"]

    def count_samples(self, visits: int) -> None:
        """Count gradients of single samples: n of them are one gradient, and one pass."""
        whole, rest = divmod(visits, self.objective.n)
        share: float = whole + rest / self.objective.n if rest else whole
        self.gradients += share
        self.passes += share

    def value(self, w: np.ndarray) -> float:
        """f(w)."""
        self.values += 1
        self.passes += 1
        with np.errstate(all="ignore"):  # a value that is not a number is the loop's to judge
            return float(self.smooth.value(w))

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """f(w) and ∇f(w)."""
        self.values += 1
        self.gradients += 1
        self.passes += 1
        with np.errstate(all="ignore"):
            value, gradient = self.smooth.value_and_gradient(w)
        return float(value), self._vector("gradient", gradient, w)

    def point(self, w: np.ndarray) -> Point:
        """The same as a point, with the scores that a linear problem's pass leaves behind."""
        scored = known(self.smooth, "value_gradient_scores")
        if scored is None:
            return Point(w, *self.value_and_gradient(w), self.no_scores)
        self.values += 1
        self.gradients += 1
        self.passes += 1
        with np.errstate(all="ignore"):
            return Point(w, *scored(w))

    def hessian_vector(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """∇²f(w)·v."""
        self.hessian_vectors += 1
        self.passes += 1
        with np.errstate(all="ignore"):
            product = self.smooth.hessian_vector(w, v)
        return self._vector("hessian_vector", product, w)

    def curvature_diagonal(self) -> np.ndarray | None:
        """A bound on the diagonal of ∇²f, float64[dim], where f knows one; counts as a pass."""
        bound = known(self.smooth, "curvature_diagonal")
        self.passes += bound is not None
        return bound

    def hessian_at(self, point: Point, floor: float = 0.0) -> Hessian:
        """∇²f at a point, for several products there; `floor` as in `objectives.hessian`."""
        return Hessian(self, point, floor)

    def hessian(self, w: np.ndarray) -> np.ndarray:
        """∇²f(w), float[dim, dim]: the objective's own, in one pass, or a product per variable.

        It counts as dim products either way.
        """
        own = known(self.smooth, "hessian")
        if own is None:
            units = np.eye(w.size, dtype=self.dtype)
            return np.stack([self.hessian_vector(w, unit) for unit in units])
        self.hessian_vectors += w.size
        self.passes += 1
        with np.errstate(all="ignore"):
            return np.array(own(w), dtype=self.dtype)

    def penalty(self, w: np.ndarray) -> float:
        """h(w)."""
        return float(self.objective.penalty(w)) if self.is_composite else 0.0

    def prox(self, w: np.ndarray, step: float) -> np.ndarray:
        """argmin over u of h(u) + ‖u − w‖²/(2·step)."""
        if not self.is_composite:
            return w
        return self._vector("prox", self.objective.prox(w, step), w)

    def mapping(self, w: np.ndarray, gradient: np.ndarray, step: float) -> np.ndarray:
        """(w − prox(w − η∇f(w), η))/η, zero exactly at the minimizers of F; without h it is ∇f."""
        if not self.is_composite:
            return gradient
        return (w - self.prox(w - step * gradient, step)) / step

    def _vector(self, what: str, vector: Any, w: np.ndarray) -> np.ndarray:
        # A copy: an objective that reuses one buffer would change the states that hold it.
        vector = np.array(vector, dtype=self.dtype)
        if vector.shape != w.shape:
            raise InputError(
                f"{what} of {self.name} must have shape {w.shape}, as w has, got {vector.shape}"
            )
        return vector


class Hessian:
    """∇²f at one point, every look at it counted; from the scores, where there are some."""

    def __init__(self, problem: Problem, point: Point, floor: float = 0.0) -> None:
        self._problem, self._w = problem, point.w
        self._own = problem.smooth.hessian_at(point.scores, floor) if point.scores.size else None

    def vector(self, v: np.ndarray) -> np.ndarray:
        """∇²f·v, in the dtype of `v`."""
        if self._own is None:
            return self._problem.hessian_vector(self._w, v)
        self._problem.hessian_vectors += 1
        self._problem.passes += 1
        return self._own.vector(v).astype(v.dtype, copy=False)

    def curvatures(self) -> np.ndarray | None:
        """Those of the samples of a linear problem, float64[n] or [n, K]; else None."""
        return None if self._own is None else self._own.curvatures

    def about_mean(self) -> tuple[np.ndarray, np.ndarray, float]:
        """As `LinearHessian` has it, of a linear problem with one score."""
        assert self._own is not None
        self._problem.passes += 1
        return self._own.about_mean()

    def diagonal(self) -> np.ndarray | None:
        """The diagonal of ∇²f, float64[dim], where it costs one pass; else None."""
        if self._own is None:
            return None
        self._problem.passes += 1
        return self._own.diagonal()

    def matrix(self) -> np.ndarray:
        """∇²f, float[dim, dim]; it counts as dim products."""
        if self._own is None:
            return self._problem.hessian(self._w)
        self._problem.hessian_vectors += self._w.size
        self._problem.passes += 1
        return self._own.matrix()
