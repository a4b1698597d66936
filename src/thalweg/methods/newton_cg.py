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

A linear problem gives the diagonal of its Hessian for one pass. With M this diagonal, and I
elsewhere, everything happens in the variables M^½p: conjugate gradients with M as preconditioner,
the region ‖M^½p‖ ≤ Δ and the norms ‖M^−½∇f‖, so that no feature counts more for its units.

Cost: a gradient, one or more values and a few Hessian-vector products a step; memory O(dim). On a
linear problem scores are kept, n numbers or n·K: a product takes no exponential, a step costs one
pass besides the products and M, and one more if it had to be shortened.
Nocedal & Wright, Numerical Optimization, 2nd ed., Algorithms 4.1 and 7.2; the shortening: Nocedal &
Yuan (1998); η after Eisenstat & Walker, SIAM J. Sci. Comput. 17 (1996).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from thalweg.core.checks import check_count, check_number
from thalweg.methods.line import Line
from thalweg.methods.method import Method
from thalweg.methods.problem import Hessian, Point, Problem
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
    scores: np.ndarray  # of a linear problem at w, float64[n] or [n, K]; else empty
    radius: float  # Δ
    first_norm: float  # ‖M^−½∇f(w₀)‖; 0 before the first step


class Model(NamedTuple):
    """A step of the quadratic model."""

    p: np.ndarray  # float[dim]
    decrease: float  # m(0) − m(p)
    on_edge: bool


@dataclass(frozen=True)
class NewtonCG(Method):
    """Truncated Newton with a trust region.

    `radius`: the first Δ, None for max(1, ‖w₀‖), on a linear problem for 10√(2f(w₀)).
    """

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
        point = problem.point(w0)
        # ‖M^½p‖² of a Newton step is about twice what it gains, and a loss cannot fall below 0.
        is_linear = point.scores.size > 0
        usual = 10.0 * (2.0 * point.value) ** 0.5 if is_linear else np.linalg.norm(w0)
        radius = self.radius or max(1.0, float(usual))
        return NewtonCGState(*point, radius, 0.0)

    def advance(self, problem: Problem, state: NewtonCGState) -> NewtonCGState:
        """Solve the model once, and shorten its step until f falls."""
        *_, radius, first_norm = state
        point = Point(*state[:4])
        hessian = problem.hessian_at(point)
        scale = _scale(hessian, point.w)
        gradient = scale * point.gradient
        first_norm = first_norm or _dot(gradient, gradient) ** 0.5
        q, promised, on_edge = steihaug(
            lambda d: scale * hessian.vector(scale * d),
            gradient,
            radius,
            first_norm,
            self.max_cg or min(2 * point.w.size, 500),
        )
        p = (scale * q).astype(point.w.dtype, copy=False)
        noise = rounding_of(point.value, point.w.dtype)
        line = Line(problem, point, p)
        step = 1.0
        for _ in range(REJECTIONS):
            if promised <= 0.0 or line.slope >= 0.0 or np.array_equal(line.at(step), point.w):
                return state
            trial = line.glance(step)
            actual = point.value - trial.value
            quality = (actual + noise) / (promised + noise) if np.isfinite(actual) else -np.inf
            if quality > ACCEPT:
                break
            # Solving again in a smaller region would cost products; going back along p costs a
            # value, and p descends.
            slope = step * line.slope
            t = _shorter(slope, actual)
            step, promised = t * step, ACCEPT_SLOPE * t * -slope
        else:
            return state
        length = step * _dot(q, q) ** 0.5
        if step < 1.0:
            radius = length
        elif quality < SHRINK:
            radius = 0.25 * length
        elif quality > GROW and on_edge:
            radius = 2.0 * radius
        return NewtonCGState(*line.arrive(trial), radius, first_norm)


def steihaug(
    product: Callable[[np.ndarray], np.ndarray],
    gradient: np.ndarray,
    radius: float,
    first_norm: float,
    most: int,
) -> Model:
    """Conjugate gradients on the quadratic model, inside the trust region."""
    norm = _dot(gradient, gradient) ** 0.5
    if norm == 0.0:
        return Model(np.zeros_like(gradient), 0.0, False)
    forcing = min(0.5, (norm / first_norm) ** 0.5 if first_norm > 0 else 0.5)
    # p is proportional to ∇f: solved for ∇f/‖∇f‖, so that products stay in the range of float32.
    p, decrease, on_edge = _unit_steihaug(product, gradient / norm, radius / norm, forcing, most)
    return Model(norm * p, norm * norm * decrease, on_edge)


def _unit_steihaug(
    product: Callable[[np.ndarray], np.ndarray],
    r: np.ndarray,
    radius: float,
    forcing: float,
    most: int,
) -> Model:
    """The same for a gradient `r` of length one."""
    p = np.zeros_like(r)
    d = -r
    rr = _dot(r, r)
    decrease = 0.0
    for _ in range(most):
        Hd = product(d)
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


def _scale(hessian: Hessian, w: np.ndarray) -> np.ndarray:
    """M^−½: all ones in the dtype of `w`, or float64[dim] where the diagonal of ∇²f is known."""
    M = hessian.diagonal()
    if M is None:
        return np.ones_like(w)
    return 1.0 / np.sqrt(np.where(M > 0.0, M, M.max() or 1.0))


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
