"""The short way through a small linear problem: compiled steps, one proof, nothing in between.

    newton      steps of `kernels.small` until ½gᵀH⁻¹g ≤ 10⁻¹⁸ F(w = 0, best b); for K classes those
                of `kernels.small_classes`, and one more when the gap is reached
    newton-cg   K classes alone: the same, that step only where data are as small as the loop asks
    cholesky    one step: the squared loss is its own quadratic
    with l1     the minimum of that quadratic plus l1 (`l1_quadratic`); squared loss alone

On data that fit in cache a step takes microseconds, and what the loop (`loop`) does around it, for
runs that may fail, be stopped or go on tomorrow, takes a hundred times as long. So a run that
nobody listens to first tries this. It ends in a duality gap within the tolerance, of the point that
is returned, as any run does; or there is no run, and the loop begins where it would have begun: all
that is hard, badly conditioned or without a minimum is decided there alone.

Cost: that of the steps, and one gap. Memory: a copy of X about the mean, in float64, which all
targets of the same features share.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.certificates.duality import (
    Gap,
    constant_value,
    duality_gap,
    exactly,
    gap_certificate,
    has_gap,
)
from thalweg.certificates.small_gap import small_gap
from thalweg.core.clock import Clock
from thalweg.core.environment import environment
from thalweg.core.outcome import Outcome
from thalweg.core.plan import Plan
from thalweg.core.run import Run
from thalweg.core.trace import Trace
from thalweg.core.vector import dot
from thalweg.kernels import small
from thalweg.kernels import small_classes as classes
from thalweg.kernels.threads import blas_threads
from thalweg.methods.cholesky import Cholesky
from thalweg.methods.l1_quadratic import minimise_quadratic
from thalweg.methods.method import Method
from thalweg.methods.newton import Newton
from thalweg.methods.newton_cg import SMALL, NewtonCG
from thalweg.methods.prox_newton import EXACT, thresholds
from thalweg.methods.reason import reached
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.one_score import OneScore

MOST_VARIABLES = 256  # of one score: a system of more is better factorised by BLAS
MOST_ENTRIES = 500_000  # of A: a copy is made, and stays in cache
A_QUADRATIC = 150_000  # the same of a squared loss, which is read once: by several threads sooner
A_ROW = 2  # entries that a row is worth there
MOST_PRODUCTS = 2_000_000  # of A with the classes: beyond, several threads are worth waking
FEW = 5_000  # samples of a squared loss whose sums are at hand: with more, those are shorter
MOST_STEPS = 60
NEAR = 1e-9  # of F(w = 0, best b): ½gᵀH⁻¹g from which on one factor serves several steps
SETTLED = 1e-18  # likewise: coefficients have all their digits, in directions of no curvature too
LOOSE = 1e-2  # η² at least, of steps for K classes, but for the last
WITHIN = 0.5  # of the gap that is allowed, which the slopes of the intercepts have a part of
STUCK = 3  # steps near the minimum that do not lower ½gᵀH⁻¹g: rounding is what is left


class Way(NamedTuple):
    """Where the steps led, and what they took."""

    w: np.ndarray  # float64[dim]
    rows: list[list[float]]  # of the trace
    looks: int  # at F and its gradient
    products: int  # with the Hessian; all of it counts as dim


def short_way(
    objective: Any,
    method: Method,
    w0: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    seed: int,
    plan: Plan | None = None,
) -> Run | None:
    """The run of `method` from `w0`, if the problem is small and easy enough for this.

    `plan` is what chose the method.
    """
    if not has_short_way(objective, method):
        return None
    clock = Clock()
    problem: LinearProblem = objective.centred
    scale = constant_value(problem)
    A, w = problem.features.dense, objective.enter(w0.astype(np.float64), problem)
    is_there = w0.any() and _gap(problem, A, w, tol * scale).gap <= tol * scale
    most = 0 if is_there else min(max_iter, MOST_STEPS)
    if problem.l1 > 0.0:
        with blas_threads(1):  # waking another takes longer than such a system
            way = _with_l1(problem, A, w.copy(), most, clock)
    elif problem.term.is_matrix:
        is_cheap = problem.matrix.entries * problem.outputs < SMALL
        goes_beyond = isinstance(method, Newton) or is_cheap
        goal = (tol * scale, goes_beyond)
        with blas_threads(1):  # whose bits depend on their number
            way = _of_classes(problem, A, w.copy(), most, goal, clock)
    else:
        way = _of_one_score(problem, A, w.copy(), most, scale, clock)
    if way is None:
        return None
    # What is proved is proved of the point that is returned, whose intercept is rounded once more.
    w = objective.settled(problem.enter(way.w, objective)).astype(w0.dtype, copy=False)
    there = objective.enter(w.astype(np.float64), problem)
    found = _gap(problem, A, there, tol * scale)
    if found.gap > tol * scale:
        found, _ = exactly(problem, there, found, tol * scale)
    certificate = gap_certificate(found, scale, tol, problem.l2)
    if not certificate.holds:
        return None
    last = way.rows[-1]
    last[3], last[6] = clock.seconds, found.gap
    iterations = len(way.rows) - 1
    outcome = Outcome.CONVERGED
    return Run(
        objective=objective.name,
        method=method.name,
        w=w.copy() if w is w0 else w,
        value=found.primal,
        outcome=outcome,
        reason=reached(outcome, certificate, iterations),
        trace=Trace(np.array(way.rows)),
        certificate=certificate,
        w0=w0,
        tol=tol,
        seed=seed,
        options=method.options,
        counts={
            "values": way.looks,
            "gradients": way.looks,
            "hessian_vectors": way.products,
            "passes": int(last[1]),
        },
        environment=environment(),
        plan=None if plan is None else plan.after(method.name, iterations, last[3]),
        compiled=clock.compiled,
    )


def has_short_way(objective: Any, method: Method) -> bool:
    """Whether the method has a short way, and a penalty makes the end of it provable."""
    if not isinstance(method, Newton | NewtonCG | Cholesky) or not has_gap(objective):
        return False
    if not (objective.is_built_in and objective.has_bound):
        return False
    is_square = objective.loss == "squared"
    return (
        objective.centre
        and not (is_square and objective.is_summed and objective.n > FEW)
        and objective.p < MOST_VARIABLES
        and objective.n * (objective.p + 1) <= MOST_ENTRIES
        and not (is_square and objective.n * (objective.p + 1 + A_ROW) > A_QUADRATIC)
        and objective.n * objective.dim <= MOST_PRODUCTS
        and (objective.l1 == 0.0 or is_square)
        and (isinstance(method, Newton) or is_square or objective.term.is_matrix)
    )


def _gap(problem: LinearProblem, A: np.ndarray, w: np.ndarray, enough: float) -> Gap:
    """The duality gap at `w`, float64[dim]."""
    if problem.term.is_matrix:
        return duality_gap(problem, w, enough=enough)
    return small_gap(problem, A, w)


def _of_one_score(
    problem: LinearProblem, A: np.ndarray, w: np.ndarray, most: int, scale: float, clock: Clock
) -> Way | None:
    """The way to where nothing is left to gain, or None; of no step where `most` is 0."""
    term, c, l2, p = problem.term, problem.weights, problem.l2, problem.p
    assert isinstance(term, OneScore)
    near, settled, least, idle = NEAR * scale, SETTLED * scale, math.inf, 0
    z, g = np.empty(problem.n), np.empty_like(w)
    known = (term.code, A, term.y, c, term.delta, l2, p)
    value, looks, passes = small.look(*known, w, z, g), 1, 1
    rows = [[0, 1, 1, clock.seconds, value, small.largest(g), math.nan]]
    for count in range(1, most + 1):
        value, left, taken = small.newton_step(*known, near, w, z, g, value)
        if not (math.isfinite(value) and math.isfinite(left)):
            return None
        passes += int(taken)
        looks += int(taken) - 2  # a Hessian and the scores of a direction are the others
        evaluations, seconds = looks + count * w.size, clock.seconds
        rows.append([count, passes, evaluations, seconds, value, small.largest(g), math.nan])
        idle = 0 if left < least or left > near else idle + 1
        least = min(left, least)
        if left <= settled or idle >= STUCK:
            return Way(w, rows, looks, count * w.size)
    return None if most else Way(w, rows, looks, 0)


def _of_classes(
    problem: LinearProblem,
    A: np.ndarray,
    w: np.ndarray,
    most: int,
    goal: tuple[float, bool],
    clock: Clock,
) -> Way | None:
    """The same for K classes: `goal` is the gap to reach, and whether to take one step more."""
    term, c, l2, p = problem.term, problem.weights, problem.l2, problem.p
    allowed, goes_beyond = goal
    null = math.log(term.outputs)
    W, P = w.reshape(-1, term.outputs), np.empty(problem.score_shape)
    g = np.empty_like(w)
    G = g.reshape(W.shape)
    known = (A, term.y, c, l2, p)
    value, looks, products, is_last = classes.look(*known, W, P, G), 1, 0, False
    rows = [[0, 1, 1, clock.seconds, value, small.largest(g), math.nan]]
    for count in range(1, most + 1):
        least = 0.0 if is_last else LOOSE
        value, left, taken, more = classes.newton_step(*known, null, least, W, P, G, value)
        if not (math.isfinite(value) and math.isfinite(left)):
            return None
        looks, products = looks + int(more), products + int(taken)
        passes, evaluations = looks + products + count, looks + products
        seconds = clock.seconds
        rows.append([count, passes, evaluations, seconds, value, small.largest(g), math.nan])
        # What the slopes at w prove, but for the intercepts: ‖∇F‖²/(2·l2).
        slopes = g[: p * term.outputs]
        has_arrived = dot(slopes, slopes) <= 2.0 * l2 * WITHIN * allowed
        if is_last or (has_arrived and not goes_beyond):
            return Way(w, rows, looks, products)
        if not has_arrived and left <= SETTLED * null:
            return Way(w, rows, looks, products)  # in these units rounding hides it from the slopes
        is_last = has_arrived and count < most
    return None if most and not has_arrived else Way(w, rows, looks, products)


def _with_l1(
    problem: LinearProblem, A: np.ndarray, w: np.ndarray, most: int, clock: Clock
) -> Way | None:
    """The minimum of the squared loss with l1, which one quadratic has."""
    term, c, l2, p, z = problem.term, problem.weights, problem.l2, problem.p, np.empty(problem.n)
    assert isinstance(term, OneScore)
    g, H = np.empty_like(w), np.empty((w.size, w.size))
    known = (term.code, A, term.y, c, term.delta, problem.l1, l2, p, w, z, g)
    value, far = small.l1_look(*known)
    rows = [[0, 1, 1, clock.seconds, value, far, math.nan]]
    if not most:
        return Way(w, rows, 1, 0)
    if problem.is_summed:  # as several targets share them
        H = problem.least_squares.hessian()
        H[np.arange(p), np.arange(p)] += l2
    else:
        small.quadratic(A, c, l2, p, H)
    if not np.isfinite(H).all():
        return None
    minimise_quadratic(H, g.copy(), thresholds(problem), w, 0.0, EXACT)
    value, far = small.l1_look(*known)
    rows.append([1, 3, 2 + w.size, clock.seconds, value, far, math.nan])
    return Way(w, rows, 2, w.size) if math.isfinite(value) else None
