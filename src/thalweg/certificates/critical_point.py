"""Is this point a minimum, a maximum, a saddle, or none of them? The Hessian's two ends decide.

    not stationary   ‖∇f(w)‖∞ > tol · max(1, ‖∇²f‖), what the rounding of w explains beside
    minimum          λ_min > ε
    maximum          λ_max < −ε
    saddle           λ_min < −ε and λ_max > ε, with the eigenvector of λ_min as the way out
    degenerate       anything else: some eigenvalue is zero within ε, and none speaks against
                     a minimum or none against a maximum

ε is what the eigenvalues may be off by: rounding, the error of difference-based products
(`hessian_vector_error`), their change between w and the stationary point that it is near, and for a
minimum or maximum in many variables, where only part of the spectrum was seen, Lanczos's bound,
which holds with the stated confidence. A negative eigenvalue needs no confidence: uᵀ∇²f·u < 0 is a
fact about u.

tol·max(1, ‖∇²f‖) for the gradient means: within about `tol` of a stationary point of the local
quadratic. Second derivatives cannot settle a degenerate point; there f itself is probed along
the flat directions, and a fall that is found is reported as the escape.

Cost: at most min(dim, 100) Hessian-vector products and as many vectors, and two products more to
measure the residuals; no matrix is formed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.certificates.stationarity import norm
from thalweg.core.card import BAD, GOOD, NEUTRAL, html_card, text_card
from thalweg.core.checks import check_count, check_number, check_vector, describe
from thalweg.core.errors import InputError
from thalweg.core.objective import ObjectiveProtocol, is_composite, known, name_of
from thalweg.curvature.lanczos import SpectrumEnds, extreme_eigenvalues

MINIMUM, MAXIMUM, SADDLE = "minimum", "maximum", "saddle"
DEGENERATE, NOT_STATIONARY = "degenerate", "not stationary"
PROBES = 10.0 ** np.arange(-4, 0.5, 0.5)  # distances at which a flat direction is probed


@dataclass(frozen=True, eq=False, repr=False)
class CriticalPoint:
    """The verdict on a point, with its evidence."""

    kind: str  # "minimum", "maximum", "saddle", "degenerate" or "not stationary"
    objective: str
    gradient_norm: float  # ‖∇f(w)‖∞
    gradient_limit: float
    smallest: float  # λ_min, or an upper bound on it
    largest: float  # λ_max, or a lower bound on it
    error: float  # ε: eigenvalues within it count as zero
    confidence: float  # 1 where the whole spectrum was seen
    products: int  # Hessian-vector products used
    escape: np.ndarray | None  # unit vector along which f falls, float64[dim]
    drop: float  # how much f falls along it, measured; 0 where there is no escape
    explanation: str

    def __repr__(self) -> str:
        return text_card(self.kind.upper(), self.objective, [text for _, text in self._rows()])

    def _repr_html_(self) -> str:
        tone = {MINIMUM: GOOD, SADDLE: BAD, NOT_STATIONARY: BAD}.get(self.kind, NEUTRAL)
        return html_card(self.kind.upper(), self.objective, self._rows(), tone=tone)

    def _rows(self) -> list[tuple[str, str]]:
        relation = "≤" if self.gradient_norm <= self.gradient_limit else ">"
        sure = "" if self.confidence == 1.0 else f" with confidence {self.confidence:g}"
        # Away from a stationary point the curvature decides nothing, and drifts as it may.
        error = f", error ≤ {self.error:.2g}{sure}" if self.kind != NOT_STATIONARY else ""
        way_out = "" if self.escape is None else f"f falls by {self.drop:.3g} along .escape"
        return [
            ("verdict", self.explanation),
            (
                "gradient",
                f"‖∇f‖∞ = {self.gradient_norm:.3g} {relation} {self.gradient_limit:.3g}",
            ),
            (
                "curvature",
                f"λ_min = {self.smallest:.6g}, λ_max = {self.largest:.6g}{error} "
                f"({self.products} products)",
            ),
            ("escape", way_out),
        ]


def classify(
    objective: Any,
    w: Any,
    *,
    tol: float = 1e-5,
    confidence: float = 0.999,
    max_products: int = 100,
    seed: int = 0,
) -> CriticalPoint:
    """Say what kind of point `w` is, from the gradient and Hessian-vector products alone.

    >>> import thalweg as tw
    >>> tw.classify(tw.surfaces.Saddle(), [0.0, 0.0]).kind
    'saddle'
    """
    if is_composite(objective):
        raise InputError(
            f"objective must be smooth, got {name_of(objective)}, which has a penalty without "
            "second derivatives: classify its smooth part, objective.smooth"
        )
    if isinstance(objective, type) or not isinstance(objective, ObjectiveProtocol):
        raise InputError(
            f"objective must be a smooth objective, got {describe(objective)}: pass a surface, or "
            "wrap a function in tw.Objective(value, gradient)"
        )
    tol = check_number("tol", tol, above=0.0)
    seed = check_count("seed", seed, at_least=0)
    smooth = known(objective, "exact") or objective
    w = check_vector("w", w, dim=objective.dim)
    with np.errstate(all="ignore"):
        value, gradient = smooth.value_and_gradient(w)
    gradient = np.asarray(gradient)
    if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
        raise InputError(
            f"w must be a point where the objective and its gradient are finite, got f(w) = {value}"
        )
    ends = extreme_eigenvalues(
        lambda v: smooth.hessian_vector(w, v.astype(w.dtype)),
        w.size,
        rng=np.random.default_rng(seed),
        error_tol=tol,
        max_steps=check_count("max_products", max_products, at_least=2),
        confidence=confidence,
    )
    drift = _drift(smooth, w, gradient, ends)
    noise = _product_error(smooth, w, ends) + drift + ends.rounding
    # w is known to its rounding only, and the gradient with it: it counts where w is huge.
    rounding = 4.0 * float(np.finfo(w.dtype).eps) * ends.norm * float(np.max(np.abs(w)))
    gradient_norm, limit = norm(gradient), tol * max(1.0, ends.norm) + rounding
    kind, explanation = _kind(gradient_norm, limit, ends, noise, drift)
    escape, drop = None, 0.0
    if kind == SADDLE:
        escape, drop = _downhill(smooth, w, float(value), gradient, [ends.smallest.vector])
    elif kind in (DEGENERATE, MAXIMUM):
        flat = [ends.smallest.vector, ends.largest.vector]
        if w.size <= max_products:
            flat += list(np.eye(w.size))
        escape, drop = _downhill(smooth, w, float(value), gradient, flat)
        if kind == DEGENERATE and escape is not None:
            explanation += "; f falls along a direction found by probing, so it is no minimum"
    return CriticalPoint(
        kind=kind,
        objective=name_of(objective),
        gradient_norm=gradient_norm,
        gradient_limit=limit,
        smallest=ends.smallest.value,
        largest=ends.largest.value,
        error=noise + (0.0 if ends.exact else max(ends.smallest.error, ends.largest.error)),
        # Signs that were seen are facts; that there are no others holds with confidence.
        confidence=1.0 if ends.exact or kind in (SADDLE, NOT_STATIONARY) else confidence,
        products=ends.products,
        escape=escape,
        drop=drop,
        explanation=explanation,
    )


def _drift(objective: Any, w: np.ndarray, gradient: np.ndarray, ends: SpectrumEnds) -> float:
    """How much the end curvatures may change between w and the stationary point nearby.

    Newton's step along the eigenvector leads to that point if the curvature there is about the
    same. Where it is not, as near the minimum of x⁴, the change shows, and twice the change covers
    what is left. Infinite where the step leads out of the domain.
    """
    change = 0.0
    for end in (ends.smallest, ends.largest):
        if abs(end.value) <= ends.rounding:
            continue
        step = -float(gradient @ end.vector) / end.value
        if step == 0.0:
            continue
        u = end.vector.astype(w.dtype)
        with np.errstate(all="ignore"):
            there = float(end.vector @ objective.hessian_vector(w + step * u, u))
        change = max(change, 2.0 * abs(there - end.value)) if math.isfinite(there) else math.inf
    return change


def _product_error(objective: Any, w: np.ndarray, ends: SpectrumEnds) -> float:
    """What the products at both ends may be off by, where the objective says so."""
    error = known(objective, "hessian_vector_error")
    if error is None:
        return 0.0
    vectors = (ends.smallest.vector, ends.largest.vector)
    return max(float(error(w, vector.astype(w.dtype))) for vector in vectors)


def _kind(
    gradient_norm: float, limit: float, ends: SpectrumEnds, noise: float, drift: float
) -> tuple[str, str]:
    """The kind and its explanation; `drift` is part of `noise`."""
    low, high = ends.smallest.value, ends.largest.value
    if gradient_norm > limit:
        return NOT_STATIONARY, "the gradient is not small: nothing is stationary here"
    if low < -noise and high > noise:
        return SADDLE, "curvatures of both signs: f rises one way and falls another"
    # Beyond the part of the spectrum that was seen, an end may lie `error` further out.
    if low - ends.smallest.error > noise:
        return MINIMUM, "all curvatures are positive beyond their error"
    if high + ends.largest.error < -noise:
        return MAXIMUM, "all curvatures are negative beyond their error"
    if not ends.exact and min(abs(low), abs(high)) > noise:
        return DEGENERATE, (
            "no curvature of the other sign was found, but with so few products none can be "
            "excluded: raise max_products"
        )
    zero = f"the smallest |curvature| is zero within its error, {noise:.2g}"
    if drift > 0.5 * noise:
        zero += ", by which it changes on the way to the stationary point that it points to"
    if low < -noise:
        return DEGENERATE, f"{zero}, and some curvature is negative: no minimum"
    return DEGENERATE, f"{zero}: second derivatives cannot tell a minimum from a saddle here"


def _downhill(
    objective: Any,
    w: np.ndarray,
    value: float,
    gradient: np.ndarray,
    directions: list[np.ndarray],
) -> tuple[np.ndarray | None, float]:
    """The direction, with its sign, along which f falls most, and by how much.

    f must fall from w on: the first change that rounding and what is left of the gradient cannot
    explain decides, so that neither a lower place beyond a rise nor the way to a minimum nearby
    counts.
    """
    found, drop = None, 0.0
    distances = PROBES * max(1.0, float(np.max(np.abs(w))))
    for direction in directions:
        for sign in (1.0, -1.0):
            for distance in distances:
                point = w + (sign * distance * direction).astype(w.dtype)
                with np.errstate(all="ignore"):
                    fall = value - float(objective.value(point))
                allowance = 100.0 * np.finfo(w.dtype).eps * max(abs(value), abs(value - fall))
                allowance += 2.0 * abs(float(gradient @ direction)) * distance
                if not fall > -allowance:
                    break
                if fall > max(drop, allowance):
                    found, drop = sign * direction, fall
    return found, drop
