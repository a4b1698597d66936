"""What to expect of each method on a problem: how hard it is, and what the methods make of it.

The methods know their own counts (`methods.expectation`); the geometry tells them

    κ = L/μ      r = L_mean/(nμ)      s = L/(nμ)      L_max/(nμ)

with μ the strong convexity that is certain or, with an intercept, l2: the intercept alone does not
slow a method down, but theorems do not know that. Beside these, how far an l1 penalty is below the
one that leaves no coefficient, and what a pilot on some rows found of the spectrum.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from thalweg.certificates.dual_point import EPS, slopes
from thalweg.certificates.duality import best_constant
from thalweg.core.vector import dot
from thalweg.methods.expectation import Difficulty, Expected, telling
from thalweg.methods.registry import METHODS
from thalweg.methods.short_way import has_short_way
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.cost import Cost
from thalweg.planner.geometry import Geometry, some_rows, spread_out

SHARE, CROWDING = LOOKS = ("share", "crowding")  # that take a reading of the data, or of some rows
SHORT = 1.0  # calls of a short way besides its steps
FEW = 4.0  # eigenvalues that hold most of the trace, of ordinary data
A_DIGIT = 1.6  # steps of conjugate gradients for a digit, of a typical problem,
USUAL = 0.19  # and times as many where p = r = 1
WHOLE = 2_000_000  # entries of X up to which all are looked at for l1_max;
ENTRIES = 200_000  # else so many: a sample is a copy, which takes longer than to read it
ROWS = 16  # of fewer samples than features, whether they are nearly orthogonal,
WORTH_A_LOOK = 2_000  # where there are so many entries
BOUNDED = 1e-2  # l1/l1_max of bounds without l1: some coefficients rest at them, as with such an l1
WORTH_A_READING = 15.0  # gradients that the fastest method takes, for one more to be no price
MANY = 200  # features, of which steps in one at a time are worth a thought


def difficulty(problem: LinearProblem, shape: Geometry, tol: float) -> Difficulty:
    """How hard the problem is to bring to `tol`."""
    smoothness = shape.L.value, shape.L_mean.value, shape.L_max.value
    return _difficulty(problem, tol, *smoothness, shape.mu.value)


def rough_difficulty(
    problem: LinearProblem, tol: float, looks: Collection[str] = LOOKS
) -> Difficulty:
    """The same from columns, which are measured already, and a few `looks` at the rows."""
    mean = problem.curvature_bound * float(np.sum(problem.column_squares)) + problem.l2
    L = mean * max(1.0 / FEW, 1.0 / min(problem.n, problem.p))
    return _difficulty(problem, tol, L, mean, mean, problem.strong_convexity, looks)


def _difficulty(
    problem: LinearProblem,
    tol: float,
    L: float,
    L_mean: float,
    L_max: float,
    certain: float,
    looks: Collection[str] = LOOKS,
) -> Difficulty:
    mu, n = certain or problem.l2, problem.n
    kappa, r, s, worst = (
        smoothness / (count * mu) if mu else math.inf
        for smoothness, count in ((L, 1), (L_mean, n), (L, n), (L_max, n))
    )
    # Sums are the same work for any l1.
    l1 = problem.usual_l1
    has_share = l1 > 0.0 and not problem.is_summed and SHARE in looks
    is_whole = problem.matrix.entries <= WHOLE
    top = l1_max(problem if is_whole else some_rows(problem, ENTRIES)) if has_share else 0.0
    share = l1 / top if top > l1 else 1.0
    if problem.by_column is not None and l1 == 0.0:
        share = BOUNDED
    steps = (1.0 - A_DIGIT * math.log10(min(tol, 1.0))) * usual_steps(n, problem.p, r)
    steps = min(steps, 1.0 + problem.p, 1.0 + 1.2 * math.log(max(kappa, 1.0)))
    # With l1 samples of classes are not apart, however near their rows are to that.
    may_ascend = problem.l1 == 0.0 or (problem.l2 > 0.0 and problem.classes is None)
    near = may_ascend and n < problem.p and problem.matrix.entries >= WORTH_A_LOOK
    crowding = crowding_of(problem) if near and CROWDING in looks else math.inf
    is_certain = certain > 0.0 and problem.has_bound  # else κ is that of ordinary scores
    return Difficulty(tol, kappa, r, s, worst, is_certain, crowding, share, steps)


def usual_steps(n: int, p: int, r: float) -> float:
    """p^0.25·r^0.05, or r^0.13 of fewer samples than features: of conjugate gradients, for a digit.

    Times A_DIGIT; usual of problems of even seeds, where a pilot takes up to twice or half of it.
    """
    power = 0.13 if n < p else 0.05
    return USUAL * p**0.25 * telling(r) ** power


def crowding_of(problem: LinearProblem) -> float:
    """n times the mean square of the cosine between two rows, from a few of them."""
    few = problem if problem.n <= ROWS else problem.sample(spread_out(problem.n, ROWS))
    K = few.features.row_products
    squares = np.diag(K).copy()
    seen = squares > 0.0
    if np.count_nonzero(seen) < 2:
        return math.inf
    cosines = K[np.ix_(seen, seen)] / np.sqrt(np.outer(squares[seen], squares[seen]))
    m = len(cosines)
    mean = (float(np.sum(cosines**2)) - m) / (m * (m - 1))
    return problem.n * max(mean, 0.0)


def is_worth_crossing(problem: LinearProblem, seconds: float, cost: Cost) -> bool:
    """Whether to look at the crossing of sparse features, where the fastest method takes so long.

    Of few features a system or lbfgs is as fast, and many dense ones cross.
    """
    may_be = problem.p >= MANY and problem.is_smooth and problem.is_built_in and problem.has_bound
    may_be = may_be and problem.outputs == 1 and problem.l2 > 0.0 and problem.matrix.is_sparse
    return may_be and seconds > WORTH_A_READING * cost.gradient


def crossing_of(problem: LinearProblem) -> float:
    """p times the mean square of the cosine between two columns, in units of their curvature.

    Of C = D^(−½)∇²F(0)D^(−½), without the intercept, ‖Cv‖² is the sum of all squares, on average
    over v of signs; those of its diagonal are 1. Cost: a reading of the data, or two.
    """
    p = problem.p
    d = 1.0 / np.sqrt(problem.curvature_diagonal[:p])
    v = np.random.default_rng(0).choice([-1.0, 1.0], p)
    seen = np.append(d * v, 0.0) if problem.fit_intercept else d * v
    Cv = d * (problem.curvature_bound * problem.features.gram_vector(seen)[:p] + problem.l2 * d * v)
    return max(dot(Cv, Cv) / p - 1.0, 0.0)


def l1_max(problem: LinearProblem) -> float:
    """The least l1 for which no coefficient is left: max |Σ cᵢℓ′(b)xᵢ| at the best constant b.

    Of columns with weights, and beside bounds, over what is asked of each; those without a weight,
    which no l1 holds, are left out.
    """
    z = np.zeros(problem.score_shape)
    if problem.fit_intercept:
        z += _best_constants(problem)
    _, theta = slopes(problem, z)
    own, v = problem.by_column, problem.transpose(theta)
    if own is None:
        return float(np.max(np.abs(v), initial=0.0))
    low, high, weight = (np.repeat(a, problem.outputs) for a in (own.low, own.high, own.weight))
    pull = np.maximum(np.where(high > 0.0, -v.ravel(), 0.0), np.where(low < 0.0, v.ravel(), 0.0))
    held = weight > 0.0
    return float(np.max(pull[held] / weight[held], initial=0.0))


def _best_constants(problem: LinearProblem) -> Any:
    """b, float or float64[K]; a class without weight is as rare as rounding."""
    if not problem.term.is_matrix:
        return best_constant(problem)
    shares = np.bincount(problem.y, weights=problem.weights, minlength=problem.outputs)
    return np.log(np.maximum(shares, EPS))


def candidates(
    problem: LinearProblem,
    hard: Difficulty,
    names: Iterable[str] = METHODS,
    *,
    is_short: bool,
) -> dict[str, Expected]:
    """What to expect of every method that says so, or of some, in their order.

    `is_short`: whether a method that has a short way takes it, as it does where a rule chose it and
    nobody listens; then that is priced.
    """
    hopes = {}
    for name in names:
        method = METHODS[name].usual()
        hope = method.expected(problem, hard)
        if hope is not None:
            if is_short and has_short_way(problem, method):
                passes = {"short_step": 1.0, "call": SHORT / hope.iterations}
                hope = hope._replace(passes=passes)
            hopes[name] = hope
    return hopes
