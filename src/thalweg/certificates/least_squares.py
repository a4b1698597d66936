"""The duality gap of the squared loss from its sums, without a look at the data.

With the residuals θᵢ = zᵢ − yᵢ at w, the intercept the best for it, as dual point (`dual_point`),
g the gradient of the loss there and A = Σ cᵢθᵢ², twice the loss:

    D(tθ) = −½t²A − t(wᵀg − A) − R*(−tg)

All of it follows from `objectives.least_squares`. D is concave in t, and the best t is looked for;
where l2 = 0 within |t|‖g‖∞ ≤ l1. Rounding is bounded by the sizes of the sums' terms, as elsewhere.
"""

from __future__ import annotations

import numpy as np

from thalweg.certificates.dual_penalty import WIDEST
from thalweg.certificates.dual_point import EPS, LowerBound, argmax, unit
from thalweg.objectives.linear import LinearProblem


def primal_and_bound(problem: LinearProblem, w: np.ndarray) -> tuple[float, float, LowerBound]:
    """P at `w`, float64[dim], its rounding, and a lower bound on P*."""
    sums, p = problem.least_squares, problem.p
    penalties = problem.ridge(w[:p]) + problem.penalty(w)
    loss, g = sums.loss_and_gradient(w)
    rounding = unit(problem.n) * (sums.sizes(w)[0] + penalties)
    if problem.fit_intercept:
        w = w.copy()
        w[p] -= g[p]  # the loss has curvature 1 along b: its slope is gone there
        at_best, g = sums.loss_and_gradient(w)
    else:
        at_best = loss
    return loss + penalties, rounding, _lower_bound(problem, w[:p], at_best, g[:p], sums.sizes(w))


def _lower_bound(
    problem: LinearProblem,
    w: np.ndarray,
    loss: float,
    g: np.ndarray,
    sizes: tuple[float, np.ndarray],
) -> LowerBound:
    """D(tθ) at the best t, with its rounding."""
    A, B = 2.0 * loss, float(w @ g) - 2.0 * loss
    steepest = float(np.max(np.abs(g)))
    largest = WIDEST
    if problem.l2 == 0.0 and steepest > 0.0:
        largest = min(WIDEST, problem.l1 / (steepest * (1.0 + 4.0 * EPS)))

    def beyond(t: float) -> np.ndarray:
        return np.maximum(t * np.abs(g) - problem.l1, 0.0)

    def value(t: float) -> float:
        outside = beyond(t)
        penalty = float(outside @ outside) / (2.0 * problem.l2) if problem.l2 > 0.0 else 0.0
        return -0.5 * t * t * A - t * B - penalty

    t = max(argmax(value, largest), min(1.0, largest), largest, 0.0, key=value)
    best = value(t)
    terms = sizes[0] + t * float(np.abs(w) @ np.abs(g))
    if problem.l2 > 0.0:
        terms += float(beyond(t) @ sizes[1]) / problem.l2 * t
    else:
        terms += max(best, 0.0) * float(np.max(sizes[1])) / problem.l1
    return LowerBound(best, unit(problem.n) * terms)
