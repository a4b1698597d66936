"""How far a linear problem is from its optimum, provably: the Fenchel duality gap.

    P(w, b) − P* ≤ P(w, b) − D(θ)        for every θ that is feasible for the dual problem

whatever tool (w, b) came from, and wherever θ came from. θ is the best of these:

    given      by a method that works in the dual, and kept with its run: two passes over X
    slopes     of the losses at w, made feasible (`dual_point`): two passes over X, or none for the
               squared loss where its sums are known (`least_squares`)
    Newton     slopes at the point where Newton's step on the support of w leads (`support_step`):
               some 30 passes more, for a gap that is not small enough by the first

Near the optimum the first gap is of second order in the distance where l2 > 0, as P(w, b) − P* is,
but of first order where l2 = 0: scaling θ into ‖v‖∞ ≤ l1 costs what v is outside by. The second is
of second order there too, once the support is right.

Without any penalty R* is infinite but at v = 0, and there is no gap (`decrement` is what there is);
nor is there one where a user's own loss came without ℓ*, or a user's own penalty without R*.
All of it is computed in float64; `rounding` is added to the gap.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.certificates.column_dual import column_dual
from thalweg.certificates.column_levels import levelled
from thalweg.certificates.dual_point import (
    EPS,
    best_shift,
    dual_value,
    loss_rounding,
    lower_bound,
    slopes,
    unit,
)
from thalweg.certificates.least_squares import primal_and_bound
from thalweg.certificates.polished import affordable, polished
from thalweg.certificates.support_step import support_step
from thalweg.certificates.unheld import is_unheld, unheld_bound
from thalweg.core.certificate import Certificate
from thalweg.core.vector import dot
from thalweg.objectives.linear import MULTINOMIAL, LinearProblem
from thalweg.objectives.one_score import OneScore
from thalweg.objectives.own_score import OwnScore
from thalweg.objectives.tube import Tube

DUALITY_GAP = "duality gap"  # the kind of these certificates
PASSES = 3.0  # the time of a gap, in passes of value and gradient: 1.5 (imdb) to 3 (covtype)
PRODUCTS = 30  # Hessian-vector products for a tighter one at most
BISECTIONS = 100  # at most, of the best constant
CONSTANT = 1e-9  # of its size, that a target varies by at least
FAR = 1e-2  # of P: a gap above this is worth a search for the best scale of θ
NOISE = 1e-2  # of a gap from sums: more of it is rounding, and a look at the data is worth it


class Gap(NamedTuple):
    """A primal value, a dual value, and what rounding may have done to their difference."""

    primal: float  # P(w, b)
    dual: float  # D(θ), −inf where no feasible θ was found
    rounding: float
    passes: float  # over X, what it cost

    @property
    def gap(self) -> float:
        """P(w, b) − P* is at most this."""
        return max(0.0, self.primal - self.dual) + self.rounding

    @property
    def floor(self) -> float:
        """P* is at least this."""
        return self.dual - self.rounding

    def above(self, floor: float) -> Gap:
        """The gap for a lower bound from elsewhere, if that is higher."""
        return self if self.dual >= floor else self._replace(dual=floor)


def has_gap(objective: Any) -> bool:
    """Whether the objective has a duality gap: a linear problem with a penalty, R* and ℓ* known."""
    return isinstance(objective, LinearProblem) and not objective.lacks


def duality_gap(
    problem: LinearProblem,
    w: np.ndarray,
    *,
    dual: np.ndarray | None = None,
    thorough: bool = False,
    enough: float = 0.0,
) -> Gap:
    """The gap at `w` by its own slopes; `thorough` makes it tighter far from the optimum.

    That costs a second look at the n samples, none at X. A point `dual` is tried first, and the
    slopes where it is not `enough`. A problem whose `least_squares` are at hand has a gap for
    nothing; it is taken if it is `enough`, or far above its rounding.
    """
    w = np.asarray(w, dtype=np.float64)
    if problem.is_summed and problem.is_built_in and has_gap(problem):
        primal, error, bound = primal_and_bound(problem, w)
        found = Gap(primal, bound.value, error + bound.rounding, 0.0)
        if found.gap <= enough or found.rounding <= NOISE * found.gap:
            return found
    z = problem.scores(w)
    losses, theta = slopes(problem, z)
    coefficients, _ = problem.split(w)
    penalties = problem.ridge(coefficients) + problem.penalty(w)
    primal = losses + penalties
    if not has_gap(problem):
        return Gap(primal, -np.inf, 0.0, PASSES)
    rounding = loss_rounding(problem, w, z, losses, theta) + unit(problem.p) * penalties
    if is_unheld(problem):
        bound = unheld_bound(problem, w, theta if dual is None else dual)
        return Gap(primal, bound.value, rounding + bound.rounding, PASSES)
    floor = -np.inf
    if dual is not None:
        bound = dual_value(problem, dual)
        found = Gap(primal, bound.value, rounding + bound.rounding, PASSES)
        if found.gap <= enough:
            return found
        floor = bound.floor
    bound = lower_bound(problem, w, z, theta, (1.0 - FAR) * primal if thorough else -np.inf)
    return Gap(primal, bound.value, rounding + bound.rounding, PASSES).above(floor)


def tightened(problem: LinearProblem, w: np.ndarray, found: Gap) -> Gap:
    """The gap `found` at `w`, or a tighter one by Newton's step on its support.

    What the support of a penalty of a user's own is, only that user knows; a loss with corners has
    no such step.
    """
    w = np.asarray(w, dtype=np.float64)
    if problem.by_column is not None and not problem.term.is_matrix:
        better = _levelled_gap(problem, w, found.primal)
        return min(found, better, key=lambda each: each.gap)._replace(passes=found.passes + PASSES)
    if problem.own_penalty is not None or problem.has_corners:
        return found
    point, cost = support_step(problem, w, PRODUCTS)
    passes = found.passes + cost + PASSES
    if not np.all(np.isfinite(point)):
        return found._replace(passes=passes)
    z = problem.scores(point)
    bound = lower_bound(problem, point, z, slopes(problem, z)[1], (1.0 - FAR) * found.primal)
    return found.above(bound.floor)._replace(passes=passes)


def _levelled_gap(problem: LinearProblem, w: np.ndarray, primal: float) -> Gap:
    """The gap by slopes that are moved to where columns ask them to be."""
    z, held = problem.scores(w), column_dual(problem, w).relaxed(w[: problem.p])
    losses, theta = slopes(problem, z)
    rounding = loss_rounding(problem, w, z, losses, theta) + unit(problem.p) * (primal - losses)
    theta = levelled(problem, held, w, z, theta, unit(problem.n))
    bound = dual_value(problem, theta, held)
    return Gap(primal, bound.value, rounding + bound.rounding, PASSES)


def price_of_tightening(problem: LinearProblem, w: np.ndarray) -> float:
    """What `tightened` costs at most, in passes."""
    return min(PRODUCTS, int(np.count_nonzero(w)) + problem.outputs) + 1 + PASSES


def constant_value(problem: LinearProblem) -> float:
    """F(w = 0, best constant b), the scale of the tolerance; without an intercept F(0).

    Targets that are a constant to nine digits leave nothing to explain, and rounding alone to be
    judged by: their own size, times that, stands in for what they vary by.
    """
    # Sums have that of the squared loss too, to other bits.
    name = "F(w = 0, best b), by sums" if problem.is_summed else "F(w = 0, best b)"
    return problem.constant(name, lambda: _scale(problem))


def _scale(problem: LinearProblem) -> float:
    size = 1.0  # of labels
    if problem.loss in ("squared", "huber") or problem.has_own_loss:
        size = dot(problem.weights, (problem.y + problem.term.origin) ** 2)
    elif isinstance(problem.term, OneScore) and not problem.has_bound:
        # Half a deviance of a mean that is off by the share ε is ½ε² of this.
        size = dot(problem.weights, problem.y) ** (2.0 - problem.term.power)
    return max(_constant_value(problem), 0.5 * CONSTANT**2 * size)


def squared_scales(about: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The same of several targets of the squared loss, from Σ c(y − ȳ)² and Σ cy² of each."""
    return 0.5 * np.maximum(about, CONSTANT**2 * sizes)


def _constant_value(problem: LinearProblem) -> float:
    y, c = problem.y, problem.weights
    if problem.is_summed:
        return 0.5 * problem.least_squares.s
    if problem.loss == MULTINOMIAL:
        if not problem.fit_intercept:
            return float(np.log(problem.outputs))
        shares = np.bincount(y, weights=c, minlength=problem.outputs)
        seen = shares[shares > 0]
        return float(-np.sum(seen * np.log(seen)))
    if problem.loss in ("logistic", "squared-hinge") and problem.fit_intercept:
        share = float(np.sum(c, where=y > 0))  # at the best b the loss is that of the shares alone
        if problem.loss == "squared-hinge":
            return 2.0 * share * (1.0 - share)
        if 0.0 < share < 1.0:
            return float(-share * np.log(share) - (1.0 - share) * np.log1p(-share))
    b = best_constant(problem) if problem.fit_intercept else 0.0
    theta = np.empty(problem.n)
    return problem.term.slopes(c, np.full(problem.n, b), theta)


def exactly(
    problem: LinearProblem, w: np.ndarray, found: Gap, limit: float
) -> tuple[Gap, np.ndarray | None]:
    """The gap `found` at `w`, or one by twice the digits, and the point that proves it, if any."""
    if not affordable(problem) or not np.isfinite(found.primal):
        return found, None
    with np.errstate(all="ignore"):
        better = polished(problem, w, limit)
    exact = Gap(better.primal, better.dual, better.rounding, found.passes)
    if not (np.isfinite(exact.gap) and exact.gap < found.gap):
        return found, None
    return exact, better.w


def about_the_mean(problem: LinearProblem, w: np.ndarray) -> tuple[LinearProblem, np.ndarray]:
    """The problem and a point of it about the mean of the features, where no digits are lost."""
    centred = problem.centred
    return centred, problem.enter(np.asarray(w, dtype=np.float64), centred)


def gap_certificate(found: Gap, scale: float, tol: float, l2: float = 0.0) -> Certificate:
    """The certificate of a gap, held to tol·scale; `scale` is the problem's `constant_value`.

    With l2, min over b of F(w, b) is l2-strongly convex: (l2/2)‖w − w*‖² ≤ F(w, b) − F*.
    """
    limit, gap = tol * scale, found.gap
    is_finite = bool(np.isfinite(found.dual))
    holds = is_finite and gap <= limit
    relation = "≤" if holds else ">"
    distance = (2.0 * gap / l2) ** 0.5 if is_finite and l2 > 0.0 else None
    if is_finite:
        statement = f"duality gap {gap:.3g} {relation} {limit:.3g} = tol·F(w = 0, best b)"
        shows = f"F(w) − F* ≤ {gap:.3g}"
        if scale > 0.0:
            shows += f", {gap / scale:.2g} of F(w = 0, best b)"
        if distance is not None:
            shows += f"; ‖w − w*‖ ≤ {distance:.3g}"
        does_not_show = ""
    else:
        statement = "no duality gap: no feasible point of the dual was found"
        shows = "nothing about the distance to the optimum"
        does_not_show = "how far F(w) is from F*"
    return Certificate(
        kind=DUALITY_GAP,
        holds=holds,
        measured=gap if is_finite else np.inf,
        limit=limit,
        statement=statement,
        shows=shows,
        does_not_show=does_not_show,
        gap=gap if is_finite else None,
        distance=distance,
        evidence={
            "primal": found.primal,
            "dual": found.dual,
            "rounding": found.rounding,
            "scale": scale,
            "tol": tol,
        },
    )


def best_constant(problem: LinearProblem) -> float:
    """argmin over b of Σ cᵢℓ(b, yᵢ)."""
    y, c = problem.y, problem.weights
    if problem.loss == "squared":
        return dot(c, y)
    if problem.loss in ("logistic", "squared-hinge"):
        share = dot(c, (y > 0).astype(np.float64))
        if problem.loss == "squared-hinge":
            return 2.0 * share - 1.0
        edge = 0.5 * EPS  # all weight on one class: b runs to infinity, F to 0
        share = min(max(share, edge), 1.0 - edge)
        return float(np.log(share) - np.log1p(-share))
    if isinstance(problem.term, OwnScore) and isinstance(problem.term.loss, Tube):
        return problem.term.loss.best_constant(y, c)
    if problem.has_own_loss or not problem.has_bound:
        return float(best_shift(problem, np.zeros(problem.n)))
    # The slope is a broken line: Newton's steps end on the piece that crosses zero.
    low, high = float(y.min()), float(y.max())
    b, delta = min(max(dot(c, y), low), high), problem.delta
    rounding = 2.0 * EPS * max(-low, high)  # of a residual, which is all that b is known by
    for _ in range(BISECTIONS):
        r = b - y
        slope = dot(c, np.clip(r, -delta, delta))
        if slope == 0.0 or not low < high:
            break
        low, high = (low, b) if slope > 0 else (b, high)
        inside = dot(c, (np.abs(r) <= delta).astype(np.float64))
        ahead = b - slope / inside if inside > 0.0 else math.nan
        if abs(ahead - b) <= rounding:
            break
        b = ahead if low < ahead < high else 0.5 * (low + high)
    return b
