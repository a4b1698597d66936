"""A lower bound on the optimum of a linear problem, from any point: a feasible point of its dual.

    P(w, b) = Σᵢ cᵢ ℓᵢ(xᵢᵀw + b) + R(w)            R(w) = (l2/2)‖w‖² + l1‖w‖₁, or another
    D(θ)    = −Σᵢ cᵢ ℓᵢ*(θᵢ) − R*(−v)              v = Σᵢ cᵢθᵢxᵢ

For every θ with Σ cᵢθᵢ = 0 (asked for by the intercept, which no penalty holds), D(θ) ≤ P*; R* is
that of `dual_penalty`. At the optimum the slopes ℓ′(zᵢ) are the best θ; elsewhere they are made
feasible, at a cost of O(n):

    shifted    where there is an intercept and Σ cᵢθᵢ is not small, slopes are taken at the
               intercept that is best for this w: there they cancel
    balanced   what is left is removed: the slopes of the heavier sign are shrunk until the two
               sides cancel; for K classes, mass of classes that are predicted too often is moved
               to those predicted too rarely, sample by sample
    scaled     θ is multiplied by an s that leaves −sv in the domain of R* (s ≤ l1/‖v‖∞ where
               l2 = 0), by 1 if that does; or, if asked for, by the s that maximises D(sθ), which
               is concave in s: far from the optimum

Balancing moves θ towards 0, or within the simplex, and so stays in the domain of ℓ*; a scale above
1 stops at its edge. As D(0) = 0, no bound is negative.

Rounding. A score is a sum of p products and off by an ulp of their sizes, δᵢ, so that a loss is off
by θᵢδᵢ + ½γδᵢ². vⱼ is a sum over the samples, off by eⱼ, an ulp of its own terms, and R* with it.
Σ cᵢθᵢ is zero but for rounding, which b multiplies. All of it is bounded by Cauchy and Schwarz,
without a pass, and part of a gap.

Cost: one pass over X besides the scores. Memory: two vectors of n (n·K) numbers, scores and slopes,
a third while a θ is scaled; and two of p (p·K), v and |∇R*|, or as many as there are threads.
Ndiaye, Fercoq, Gramfort & Salmon, J. Mach. Learn. Res. 18 (2017), for the scaling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thalweg.certificates.column_dual import column_dual
from thalweg.certificates.column_levels import levelled, must_level
from thalweg.certificates.dual_penalty import WIDEST, dual_penalty
from thalweg.kernels.duality import (
    class_shifted_slopes_pass,
    lengths_pass,
    shrink_pass,
    sides_pass,
)
from thalweg.objectives.linear import MULTINOMIAL, LinearProblem
from thalweg.objectives.one_score import OneScore, SingleScore
from thalweg.objectives.own_score import OwnScore

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
ROUNDING = 8.0  # ulps of the sizes of all terms, of a sum of few
SHIFTS = 30  # steps to the best intercept at most; near the optimum it takes one or two
# Σ cᵢθᵢ that is left to balancing. Shrinking costs a feature of large scale its small v, and moving
# mass to a class of probability 0 costs more than it seems, as q log q is steep there.
BALANCED = 1e-12  # of Σ cᵢ|θᵢ|
CLASSES_BALANCED = 1e-14
CONVERGED = 1e-7  # a Newton step this short has squared its error already
LOGIT = 40.0  # beyond the scores, no intercept of a logistic model needs to go further
GOLDEN = 0.5 * (5.0**0.5 - 1.0)
LOOKED_AT = 4_000  # samples, about, that the best scale is searched on
SECTIONS = 14  # leave 1e-3 of the range; D is flat at its best scale, and loses the square of that


def unit(terms: int) -> float:
    """What rounding may do to a sum of so many terms, in sizes of all of them.

    Errors of n additions one after the other are like a random walk: √n ulps (Higham & Mary, SIAM
    J. Sci. Comput. 41, 2019).
    """
    return EPS * (ROUNDING + terms**0.5)


class LowerBound(NamedTuple):
    """D(θ) at a feasible point, and what rounding may have added to it."""

    value: float
    rounding: float

    @property
    def floor(self) -> float:
        """P* is at least this."""
        return self.value - self.rounding


def lower_bound(
    problem: LinearProblem, w: np.ndarray, z: np.ndarray, theta: np.ndarray, worth: float
) -> LowerBound:
    """The bound from `w`, float64[dim], with its scores `z` and slopes `theta`, changed in place.

    The problem has a penalty. A bound below `worth` is worth a search for the best scale.
    """
    b = w[problem.p * problem.outputs :]
    with np.errstate(over="ignore", invalid="ignore"):
        if problem.fit_intercept:
            shift = best_shift(problem, z) if _leans(problem, theta) else 0.0
            if np.any(shift):
                b = b + shift
                z += shift
                slopes(problem, z, theta)
            theta = balanced(problem, theta)
        if must_level(problem):
            theta = levelled(problem, column_dual(problem, w), w, z, theta, unit(problem.n))
        held = dual_penalty(problem, w)
        found = _scaled(problem, held, b, theta, problem.transpose(theta), worth)
    # No loss is negative: at a w so huge that sums overflow, this much is still true.
    return found if np.isfinite(found.floor) else LowerBound(0.0, 0.0)


def dual_value(problem: LinearProblem, theta: np.ndarray, held: Any = None) -> LowerBound:
    """The bound from any dual point, float64[n] or [n, K], made feasible as slopes are.

    `held` is R*, or one that is nowhere less, in place of that of the problem.
    """
    if problem.fit_intercept:
        theta = balanced(problem, theta.copy())
    with np.errstate(over="ignore", invalid="ignore"):
        intercepts = np.zeros(problem.outputs * problem.fit_intercept)
        held = held or dual_penalty(problem)
        found = _scaled(problem, held, intercepts, theta, problem.transpose(theta), -np.inf)
    return found if np.isfinite(found.floor) else LowerBound(0.0, 0.0)


def slopes(
    problem: LinearProblem, z: np.ndarray, theta: np.ndarray | None = None
) -> tuple[float, np.ndarray]:
    """Σ cᵢℓᵢ and θᵢ = ℓ′ᵢ at the scores `z`, the latter written into `theta` if it is given."""
    if theta is None:
        theta = np.empty(z.shape)
    return problem.term.slopes(problem.weights, z, theta), theta


def loss_rounding(
    problem: LinearProblem, w: np.ndarray, z: np.ndarray, losses: float, theta: np.ndarray
) -> float:
    """What rounding may have done to Σ cᵢℓᵢ = `losses` at `w`, with these scores and slopes."""
    W, b = problem.features.enter(w)
    sizes = np.zeros(problem.outputs) + np.abs(b)
    squares = problem.rows.seen_squares
    if problem.features.offset is not None:  # its products are part of b
        squares = squares + problem.features.offset**2
    lengths_pass(squares, W.reshape(problem.p, problem.outputs), sizes)
    delta = 2.0**0.5 * unit(problem.p) * sizes  # at least √Σ cᵢδᵢ², of each class
    term, bend = problem.term, problem.curvature_bound
    if isinstance(term, OwnScore) and term.loss.has_corners:
        return float(np.sum(delta)) * term.loss.steepest + unit(1) * abs(losses)
    by_scores = float(np.sum(delta * _spread(problem, theta)))
    if isinstance(term, OneScore) and not term.has_bound:
        by_scores += unit(1) * term.target_size * float(_spread(problem, theta))
        bend = term.curvature_near(z)
    by_scores += 0.5 * bend * float(delta @ delta)
    return by_scores + unit(1) * abs(losses)


def _leans(problem: LinearProblem, theta: np.ndarray) -> bool:
    """Whether Σ cᵢθᵢ is more than balancing should remove."""
    if problem.loss == MULTINOMIAL:
        return bool(np.abs(problem.weights @ theta).sum() > CLASSES_BALANCED)
    up, down = sides_pass(theta, problem.weights)
    return abs(up - down) > BALANCED * (up + down)


def best_shift(problem: LinearProblem, z: np.ndarray) -> Any:
    """What to add to the intercept so that the slopes cancel, float or float64[K]."""
    if problem.loss == MULTINOMIAL:
        return _best_class_shift(problem, z)
    term, y, c = problem.term, problem.y, problem.weights
    assert isinstance(term, SingleScore)
    if isinstance(term, OneScore) and (shift := term.closed_shift(c, z)) is not None:
        return shift
    # The mean residual, or the place where two classes balance, lies among these.
    high = float(np.max(np.abs(z)) + np.max(np.abs(y))) + LOGIT
    low, shift = -high, 0.0
    for _ in range(SHIFTS):
        slope, size, curvature = term.shifted_slopes(c, z, shift)
        if not abs(slope) > BALANCED * size:
            break
        low, high = (low, shift) if slope > 0 else (shift, high)
        step = slope / curvature if curvature > 0 else np.inf
        shift = shift - step if low < shift - step < high else 0.5 * (low + high)
    return shift


def _best_class_shift(problem: LinearProblem, Z: np.ndarray) -> np.ndarray:
    """Newton's method where its step is short, iterative scaling, which cannot fail, elsewhere."""
    classes, c = problem.outputs, problem.weights
    shares = np.bincount(problem.y, weights=c, minlength=classes)
    shift, predicted, H = np.zeros(classes), np.empty(classes), np.empty((classes, classes))
    for _ in range(SHIFTS):
        class_shifted_slopes_pass(Z, shift, c, predicted, H)
        excess = predicted - shares
        if not np.abs(excess).sum() > CLASSES_BALANCED:
            break
        # A common shift of all classes changes nothing: the ones make H regular along it.
        step = np.linalg.lstsq(H + 1.0 / classes, excess, rcond=EPS)[0]
        if not np.abs(step).max() <= 1.0:
            tiny = np.finfo(np.float64).tiny
            step = np.log(np.maximum(predicted, tiny)) - np.log(np.maximum(shares, tiny))
            step = np.clip(step, -LOGIT, LOGIT)
        shift = shift - step
        if np.abs(step).max() <= CONVERGED:
            break
    return shift


def balanced(problem: LinearProblem, theta: np.ndarray) -> np.ndarray:
    """θ with Σ cᵢθᵢ = 0, moved as little as is simple; `theta` itself, changed in place."""
    c = problem.weights
    if problem.loss != MULTINOMIAL:
        up, down = sides_pass(theta, c)
        if up == down:
            return theta
        shrink_pass(theta, min(up, down) / max(up, down), 1.0 if up > down else -1.0)
        return theta
    # The label's own entry is q − 1, which 1 + θ would round: it is minus the others, always.
    samples = np.arange(problem.n)
    shares = np.bincount(problem.y, weights=c, minlength=problem.outputs)
    excess = c @ theta
    predicted = shares + excess
    over, lack = excess > 0, np.maximum(-excess, 0.0)
    if not lack.any():  # no class is predicted too rarely: what is over is rounding
        return theta
    taken = np.where(over, excess / np.where(predicted > 0, predicted, 1.0), 0.0)
    freed = theta @ taken + taken[problem.y]
    theta *= 1.0 - taken
    theta += np.outer(freed, lack / lack.sum())
    theta[samples, problem.y] = 0.0
    theta[samples, problem.y] = -theta.sum(axis=1)
    return theta


def _scaled(
    problem: LinearProblem,
    held: Any,
    b: np.ndarray,
    theta: np.ndarray,
    v: np.ndarray,
    worth: float,
) -> LowerBound:
    """The bound at the best multiple of θ that is found; θ came from a point of intercepts `b`."""
    largest = held.largest(v)
    best = _bound(problem, held, b, theta, v, min(1.0, largest))
    is_small = 1.0 < largest < WIDEST  # v is inside the domain of R* by a little
    if is_small or best.value < worth:
        high = min(largest, problem.term.stretch(problem.weights, theta), WIDEST)
        if is_small:
            best = max(best, _bound(problem, held, b, theta, v, high))
        if best.value < worth:
            scale = _best_scale(problem, held, theta, v, high)
            best = max(best, _bound(problem, held, b, theta, v, scale))
    return max(best, LowerBound(0.0, 0.0))


def _best_scale(
    problem: LinearProblem, held: Any, theta: np.ndarray, v: np.ndarray, high: float
) -> float:
    """The s that maximises D(sθ) in [0, high], nearly: some of the samples tell.

    D loses the square of the error of s, and any s gives a bound.
    """
    some = np.arange(0, problem.n, max(1, problem.n // LOOKED_AT))
    theta, term, c = theta[some], problem.term.on(some), problem.weights[some]
    c = c / max(float(c.sum()), TINY)

    def value(s: float) -> float:
        return -term.conjugates(c, s * theta)[0] - held.value(v, s)

    return argmax(value, high)


def argmax(concave: Callable[[float], float], high: float) -> float:
    """Where a concave function is largest in [0, high], by golden sections."""
    low = 0.0
    left, right = (1.0 - GOLDEN) * high, GOLDEN * high
    at_left, at_right = concave(left), concave(right)
    for _ in range(SECTIONS):
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = concave(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = concave(right)
    return left if at_left > at_right else right


def _bound(
    problem: LinearProblem, held: Any, b: np.ndarray, theta: np.ndarray, v: np.ndarray, scale: float
) -> LowerBound:
    """D(scale·θ) with its rounding."""
    if scale != 1.0:
        theta = scale * theta
    conjugates, size = problem.term.conjugates(problem.weights, theta)
    spread = _spread(problem, theta)
    error = problem.features.lengths()  # e, at least, as v
    if theta.ndim == 2:
        error = np.multiply.outer(error, spread)
        error *= unit(problem.n)
    else:
        error *= unit(problem.n) * float(spread)
    rounding = unit(1) * size
    if problem.fit_intercept:
        rounding += unit(problem.n) * float(np.sum(np.abs(b) * spread))
    penalty, by_error = held.with_rounding(v, scale, error, -conjugates)
    return LowerBound(-conjugates - penalty, rounding + (by_error + unit(1) * penalty))


def _spread(problem: LinearProblem, theta: np.ndarray) -> np.ndarray:
    """√(Σ cᵢθᵢ²) ≥ Σ cᵢ|θᵢ|, float64[] or [K]."""
    subscripts = "i,ik,ik->k" if theta.ndim == 2 else "i,i,i"
    return np.sqrt(np.einsum(subscripts, problem.weights, theta, theta))  # makes no θ²
