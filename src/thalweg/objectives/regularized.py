"""A smooth function with a simple penalty or constraint added to it.

    minimise  F(w) = f(w) + h(w),   h(w) = λ‖w‖₁ + [‖w‖₂ ≤ r]

[·] is 0 where its condition holds and ∞ elsewhere. The proximal step of h is the soft threshold S
followed by the projection P on the ball,

    prox(w, η) = P(S(w, ηλ)) = argmin over u of ηλ‖u‖₁ + ½‖u − w‖²  subject to  ‖u‖ ≤ r

Proof. Let z = S(w, ηλ), so w − z ∈ ηλ∂‖z‖₁. If ‖z‖ ≤ r, z is feasible and optimal without the
constraint, hence with it. Else put p = P(z) = cz with c = r/‖z‖ < 1. Scaling by c > 0 changes no
sign, so ∂‖p‖₁ = ∂‖z‖₁, and

    w − p = (w − z) + (1 − c)z ∈ ηλ∂‖p‖₁ + ν p     with ν = (1 − c)/c > 0 and ‖p‖ = r.

ν is a multiplier of the ball's constraint: p meets the optimality conditions of this strongly
convex problem, and is its solution. (The order matters: S(P(w)) is not the prox.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thalweg.core.checks import check_number, describe
from thalweg.core.errors import InputError
from thalweg.core.objective import ObjectiveProtocol, is_composite, known, name_of
from thalweg.rules.ball import project_ball
from thalweg.rules.soft_threshold import soft_threshold

SLACK = 16  # roundings by which a projected w may lie outside the ball and still be inside


@dataclass(frozen=True, eq=False)
class Regularized:
    """f + l1·‖w‖₁ subject to ‖w‖₂ ≤ radius; None leaves the ball out."""

    smooth: ObjectiveProtocol
    l1: float = 0.0  # λ
    radius: float | None = None  # r

    def __post_init__(self) -> None:
        if is_composite(self.smooth):
            raise InputError(
                f"smooth must have no penalty of its own, got {describe(self.smooth)}: "
                "penalties do not stack, state all of them at once"
            )
        if not isinstance(self.smooth, ObjectiveProtocol):
            raise InputError(
                "smooth must have dim, value, gradient, value_and_gradient and hessian_vector, "
                f"got {describe(self.smooth)}: wrap a plain function in Objective(...)"
            )
        object.__setattr__(self, "l1", check_number("l1", self.l1, at_least=0.0))
        if self.radius is not None:
            radius = check_number(
                "radius", self.radius, above=0.0, advice="pass None for no constraint"
            )
            object.__setattr__(self, "radius", radius)

    @property
    def name(self) -> str:
        """The name of the smooth part, and what is added to it."""
        penalty = f" + {self.l1:g}‖w‖₁" if self.l1 else ""
        ball = f", ‖w‖ ≤ {self.radius:g}" if self.radius is not None else ""
        return f"{name_of(self.smooth)}{penalty}{ball}"

    @property
    def dim(self) -> int | None:
        """Number of variables."""
        return self.smooth.dim

    @property
    def bounds(self) -> np.ndarray | None:
        """The box to draw, that of the smooth part."""
        return known(self.smooth, "bounds")

    @property
    def start(self) -> np.ndarray | None:
        """The start of the smooth part, moved into the ball."""
        start = known(self.smooth, "start")
        return None if start is None else self.prox(start, 0.0)

    @property
    def strong_convexity(self) -> float | None:
        """μ of the smooth part: h is convex and takes nothing away."""
        return known(self.smooth, "strong_convexity")

    def value(self, w: np.ndarray) -> Any:
        """F(w): a float at one point, float[...] at points float[..., dim]."""
        return self.smooth.value(w) + self.penalty(w)

    def penalty(self, w: np.ndarray) -> Any:
        """λ‖w‖₁, or inf outside the ball by more than rounding; shapes as in `value`."""
        w = np.asarray(w)
        h = self.l1 * np.sum(np.abs(w), axis=-1, dtype=np.float64)
        if self.radius is not None:
            eps = np.finfo(w.dtype).eps if w.dtype.kind == "f" else 0.0
            edge = self.radius * (1 + SLACK * float(eps))
            h = np.where(np.linalg.norm(w.astype(np.float64), axis=-1) <= edge, h, np.inf)
        return float(h) if w.ndim == 1 else h

    def prox(self, w: np.ndarray, step: float) -> np.ndarray:
        """argmin over u of h(u) + ‖u − w‖²/(2·step), of the dtype of `w`; a fresh array."""
        step = check_number("step", step, at_least=0.0)
        u = soft_threshold(w, step * self.l1) if self.l1 else w
        u = u if self.radius is None else project_ball(u, self.radius)
        return u.copy() if u is w else u

    def bind(self, rng: np.random.Generator) -> Regularized:
        """The same objective, the noise of its smooth part, if it has any, drawn from `rng`."""
        bind = known(self.smooth, "bind")
        return self if bind is None else replace(self, smooth=bind(rng))
