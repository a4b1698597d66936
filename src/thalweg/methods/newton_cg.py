"""Truncated Newton: solve for Newton's step by conjugate gradients, only as well as it is worth.

    minimise over ‖p‖ ≤ Δ   m(p) = ∇f(w)ᵀp + ½pᵀ∇²f(w)p

by conjugate gradients from p = 0, stopped as soon as (Steihaug)

    the residual is small enough    ‖∇f + ∇²f·p‖ ≤ η‖∇f‖,  η = min(½, √(‖∇f‖/‖∇f(w₀)‖))
    p would leave the region        go to its edge
    a curvature dᵀ∇²f·d ≤ 0 is met  go along d to the edge, downhill: it is used, not ignored

Then ρ = (f(w) − f(w+p))/(m(0) − m(p)) says how good the quadratic was. With ρ > 10⁻⁴ the step is
taken, and Δ shrinks or grows with ρ. Otherwise p, which descends, is shortened until f falls, and
Δ becomes the length that did. η falls with the gradient, so that the last steps are Newton's and
converge faster than linearly.

Cost: a gradient, one or more values and a few Hessian-vector products a step; memory O(dim).
Nocedal & Wright, Numerical Optimization, 2nd ed., Algorithms 4.1 and 7.2; the shortening: Nocedal &
Yuan (1998); η after Eisenstat & Walker, SIAM J. Sci. Comput. 17 (1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.rounding import rounding_of

ACCEPT = 1e-4  # least ρ of a step that is taken
SHRINK, GROW = 0.25, 0.75  # ρ below which Δ shrinks, above which it may grow
ACCEPT_SLOPE = 1e-4  # a shortened step must gain this much of what its slope promises
REJECTIONS = 60  # halvings of a step at most: then it is lost in rounding


class NewtonCGState(NamedTuple):
    """All that truncated Newton carries from one step to the next."""

    w: np.ndarray  # iterate, float[dim]
    value: float  # f(w)
    gradient: np.ndarray  # ∇f(w), float[dim]
    radius: float  # Δ
    first_norm: float  # ‖∇f(w₀)‖


class Model(NamedTuple):
    """A step of the quadratic model."""

    p: np.ndarray  # float[dim]
    decrease: float  # m(0) − m(p)
    on_edge: bool


@dataclass(frozen=True)
class NewtonCG(Method):
    """Truncated Newton with a trust region. `radius`: the first Δ, None for max(1, ‖w₀‖)."""

    name: ClassVar[str] = "newton-cg"
    State: ClassVar[type] = NewtonCGState
    descends: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = False
    radius: float | None = None
    max_cg: int | None = None  # conjugate-gradient steps at most; None: 2·dim, at most 500

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.radius is not None:
            check_number("radius", self.radius, above=0.0)
        if self.max_cg is not None:
            check_count("max_cg", self.max_cg)

    def init(self, problem: Problem, w0: np.ndarray, rng: np.random.Generator) -> NewtonCGState:
        """The state at w₀."""
        value, gradient = problem.value_and_gradient(w0)
        norm = _dot(gradient, gradient) ** 0.5
        radius = self.radius or max(1.0, float(np.linalg.norm(w0)))
        return NewtonCGState(w0, value, gradient, radius, norm)

    def advance(self, problem: Problem, state: NewtonCGState) -> NewtonCGState:
        """Solve the model once, and shorten its step until f falls."""
        w, value, gradient, radius, first_norm = state
        noise = rounding_of(value, w.dtype)
        most = self.max_cg or min(2 * w.size, 500)
        p, decrease, on_edge = steihaug(problem, w, gradient, radius, first_norm, most)
        slope = _dot(gradient, p)
        is_shortened = False
        for _ in range(REJECTIONS):
            trial = w + p
            if decrease <= 0.0 or slope >= 0.0 or np.array_equal(trial, w):
                return state
            found = problem.value(trial)
            actual = value - found
            quality = (actual + noise) / (decrease + noise) if np.isfinite(found) else -np.inf
            if quality > ACCEPT:
                break
            # Solving again in a smaller region would cost products; going back along p costs a
            # value, and p descends.
            t = _shorter(slope, actual)
            p, slope, decrease = t * p, t * slope, ACCEPT_SLOPE * t * -slope
            is_shortened = True
        else:
            return state
        if is_shortened:
            radius = _dot(p, p) ** 0.5
        elif quality < SHRINK:
            radius = 0.25 * _dot(p, p) ** 0.5
        elif quality > GROW and on_edge:
            radius = 2.0 * radius
        value, gradient = problem.value_and_gradient(trial)
        return NewtonCGState(trial, value, gradient, radius, first_norm)


def steihaug(
    problem: Problem,
    w: np.ndarray,
    gradient: np.ndarray,
    radius: float,
    first_norm: float,
    most: int,
) -> Model:
    """Conjugate gradients on the quadratic model, inside the trust region."""
    norm = _dot(gradient, gradient) ** 0.5
    p = np.zeros_like(w)
    if norm == 0.0:
        return Model(p, 0.0, False)
    forcing = min(0.5, (norm / first_norm) ** 0.5 if first_norm > 0 else 0.5)
    # p is proportional to ∇f: solved for ∇f/‖∇f‖, so that products stay in the range of float32.
    p, decrease, on_edge = _unit_steihaug(problem, w, gradient / norm, radius / norm, forcing, most)
    return Model(norm * p, norm * norm * decrease, on_edge)


def _unit_steihaug(
    problem: Problem, w: np.ndarray, r: np.ndarray, radius: float, forcing: float, most: int
) -> Model:
    """The same for a gradient `r` of length one."""
    p = np.zeros_like(w)
    d = -r
    rr = _dot(r, r)
    decrease = 0.0
    for _ in range(most):
        Hd = problem.hessian_vector(w, d)
        curvature, slope = _dot(d, Hd), _dot(r, d)
        if not np.isfinite(curvature):
            break
        if curvature <= 0.0:
            t = _to_edge(p, d, radius)
            return Model(p + t * d, decrease - t * slope - 0.5 * t * t * curvature, True)
        t = rr / curvature
        ahead = p + t * d
        if _dot(ahead, ahead) >= radius * radius:
            t = _to_edge(p, d, radius)
            return Model(p + t * d, decrease - t * slope - 0.5 * t * t * curvature, True)
        p = ahead
        decrease -= t * slope + 0.5 * t * t * curvature
        r = r + t * Hd
        rr, before = _dot(r, r), rr
        if rr**0.5 <= forcing:
            break
        d = -r + (rr / before) * d
    return Model(p, decrease, False)


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """aᵀb in float64: dᵀ∇²f·d leaves the range of float32 long before its factors do."""
    return float(a.astype(np.float64, copy=False) @ b.astype(np.float64, copy=False))


def _to_edge(p: np.ndarray, d: np.ndarray, radius: float) -> float:
    """The t ≥ 0 with ‖p + td‖ = radius."""
    dd, pd, pp = _dot(d, d), _dot(p, d), _dot(p, p)
    return (-pd + (pd * pd + dd * (radius * radius - pp)) ** 0.5) / dd


def _shorter(slope: float, actual: float) -> float:
    """By how much to shorten a step: to the minimizer of the parabola that it revealed."""
    if not np.isfinite(actual):
        return 0.1
    # f(w + tp) ≈ f(w) + t·slope + t²·(−actual − slope)
    bend = -actual - slope
    return min(0.5, max(0.1, -slope / (2.0 * bend))) if bend > 0.0 else 0.5
