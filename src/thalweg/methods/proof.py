"""What is proved of the point where a run is, and when that is worth its price.

    linear, with a penalty       the duality gap, by the best lower bound so far; where rounding
                                 widens it, by twice the digits
    linear, without              Newton's decrement, or a plane that shows that there is no minimum
    otherwise                    the norm of the gradient, or of the gradient mapping

Each costs passes over the data, so that cheap numbers decide when it is asked for. A method that
squares its error takes one more step in the end, where that is cheap: it is proved here that it
gained.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from thalweg.certificates.decrement import decrement_certificate, has_decrement, rough_decrement
from thalweg.certificates.duality import (
    Gap,
    duality_gap,
    exactly,
    gap_certificate,
    price_of_tightening,
    tightened,
)
from thalweg.certificates.separation import may_run_away, separated, separation_certificate
from thalweg.certificates.stationarity import norm, stationarity
from thalweg.core.certificate import Certificate
from thalweg.core.objective import known
from thalweg.methods.journey import BETWEEN_LOOKS, Best, Journey, carried
from thalweg.methods.payment import Payment
from thalweg.methods.rounding import rounding_of
from thalweg.objectives.linear import LinearProblem

STILL = 0.1  # of the limit: a step of Newton's that gains less has arrived, or gets nowhere
SETTLED = 1e-15  # of F(w = 0, best b): a gap that rounding leaves, and no step makes smaller
LEVEL = 1e-15  # of the largest gradient norm: there is no slope left to go down
SQUARING = 0.2  # of the gradient norm, that is left by a step of a method that squares its error
SMALL = 1_000_000  # entries of X, up to which a gap takes no time that anyone notices
FELL = 0.25  # of the rough decrement at the last Hessian: below this another one is worth it
NEAR = 1e3  # times the limit: a gap this near may be within it by a tighter lower bound


def runs_away(journey: Journey) -> bool:
    """Whether a plane between the classes shows that nothing ends the way of the coefficients."""
    problem = journey.problem.objective
    if not isinstance(problem, LinearProblem) or not may_run_away(problem):
        return False
    journey.plane = separated(problem, journey.state.w)
    if journey.plane is None:
        return False
    journey.certificate = None  # a small decrement proves nothing where there is no minimum
    return True


def is_converged(journey: Journey) -> bool:
    """Whether the certificate holds; cheap numbers decide whether it is worth its price."""
    measured = journey.trace.last["gradient_norm"]
    if has_decrement(journey.problem.objective):
        return _has_small_decrement(journey)
    if journey.payment is None:
        return measured <= journey.allowed and certify(journey).holds
    passes = journey.problem.passes
    stands_still = _stands_still(journey)
    if not (stands_still or _is_due(journey, journey.payment, measured)):
        return False
    found = _gap(journey, journey.payment, journey.state.w)
    if found.gap > journey.allowed and stands_still:
        journey.looked_exactly_at = journey.iteration
        found = _exact(journey, journey.state.w, found, may_move=True)
        if journey.has_better:
            journey.trace.annotate(value=journey.best.value)
    journey.certificate = gap_certificate(
        found, journey.scale, journey.tol, journey.problem.objective.l2
    )
    journey.payment = journey.payment.after(passes, measured, found)
    journey.trace.annotate(gap=found.gap)
    return journey.certificate.holds


def _has_small_decrement(journey: Journey) -> bool:
    """Whether a problem without a penalty has arrived; a Hessian is paid for when it may have."""
    rough = rough_decrement(journey.problem.objective, journey.state.gradient)
    if rough > min(journey.allowed, FELL * journey.rough):
        return False
    journey.rough = rough
    journey.certificate = certify(journey)
    return journey.certificate.holds


def _stands_still(journey: Journey) -> bool:
    """Whether steps that are to converge in a few gain nothing, and rounding may be why."""
    if not journey.method.is_second_order:
        return False
    values = journey.trace["value"]
    if len(values) < 2 or journey.iteration - journey.looked_exactly_at < BETWEEN_LOOKS:
        return False
    return bool(values[-2] - values[-1] <= STILL * journey.allowed)


def _exact(journey: Journey, w: np.ndarray, found: Gap, *, may_move: bool) -> Gap:
    """The gap of the point that would be returned, by twice the digits where that is affordable.

    Those may lead to a point that float64 does not reach. Where a run `may_move`, for it stands
    still, that is its end, if the gap there is within the tolerance, and that at `w` is not.
    """
    found, better = exactly(journey.problem.objective, _rounded(journey, w), found, journey.allowed)
    if not may_move or better is None or found.gap <= journey.allowed:
        return found
    problem, better = journey.problem.objective, better.astype(journey.problem.dtype)
    w = _rounded(journey, better)
    there, _ = exactly(problem, w, duality_gap(problem, w), journey.allowed)
    if there.gap > journey.allowed:
        return found
    journey.best, journey.has_better = Best(better, there.primal), True
    return there


def _rounded(journey: Journey, w: np.ndarray) -> np.ndarray:
    """The point that would be returned for `w`, about the mean again, float64[dim]."""
    there = carried(journey.returned(w), journey.objective, journey.problem.objective)
    return there.astype(np.float64)


def _is_due(journey: Journey, payment: Payment, measured: float) -> bool:
    """Whether the gap at the present point is worth its price.

    Where strong convexity is certain, ‖∇F‖²/(2μ) is that gap already: by the slopes at w, both are
    the same number. A method that descends has this gradient.
    """
    passes, value = journey.problem.passes, journey.state.value
    bound = journey.trace.last["gap"]
    if journey.method.descends and math.isfinite(bound) and passes != payment.passes:
        return min(bound, value - payment.floor) <= journey.allowed
    if payment.norm == 0.0 and _is_surely_far(journey):
        return False
    own = journey.method.lower_bound(journey.state)
    return payment.is_due(passes, measured, value, journey.allowed, own)


def _is_surely_far(journey: Journey) -> bool:
    """Whether a step along one coordinate alone would gain more than is allowed: gⱼ²/2Dⱼ.

    With D the bound on the diagonal of every Hessian; of a method whose gradient is that of w. An
    l1 penalty is in it at w = 0 only.
    """
    problem, state = journey.problem.objective, journey.state
    is_kinked = problem.own_penalty is not None or (problem.l1 and state.w.any())
    if not (journey.method.descends and problem.has_bound) or is_kinked:
        return False
    D = journey.problem.kept("curvature diagonal", lambda: problem.curvature_diagonal)
    return bool(0.5 * float(np.max(state.gradient**2 / D)) > journey.allowed)


def _gap(journey: Journey, payment: Payment, w: np.ndarray, *, thorough: bool = False) -> Gap:
    """The duality gap at `w`, by the best lower bound so far; tightened where that may end it.

    Where l1 = 0 a gap is as tight as the run needs. A method of second order that is done has
    arrived, or rounding stops it: the slopes of a rounded w alone may leave its gap wide.
    """
    problem = journey.problem.objective
    dual = journey.dual if w is journey.state.w else None
    # What is proved is proved of the point that is returned, whose intercept is rounded once more.
    w = carried(journey.returned(w), journey.objective, problem)
    found = duality_gap(problem, w, dual=dual, thorough=thorough, enough=journey.allowed)
    found = found.above(payment.floor)
    has_support = problem.l1 > 0 or problem.by_column is not None
    if has_support and journey.allowed < found.gap:
        price = found.passes + price_of_tightening(problem, w)
        is_near = found.gap <= NEAR * journey.allowed
        is_worth_it = is_near and payment.affords(journey.problem.passes, price)
        if is_worth_it or (thorough and journey.method.is_second_order):
            found = tightened(problem, w, found)
    return found


def certify(journey: Journey, best: Best | None = None, *, may_move: bool = False) -> Certificate:
    """The certificate at the present point, or at the best one, with what theory adds.

    A promise for the present point holds for the best one too: it is no higher.
    """
    promise = journey.method.guarantee(journey.problem, journey.state)
    return replace(_proof(journey, best, may_move), in_expectation=promise)


def _proof(journey: Journey, best: Best | None, may_move: bool) -> Certificate:
    """What is proved about the present point, or about the best one.

    A noisy gradient, or a gradient mapping that belongs to the point before, only says when to
    pay for this.
    """
    problem = journey.problem
    if journey.plane is not None:
        return separation_certificate(problem.objective, journey.plane)
    point = best or Best(journey.state.w, journey.state.value)
    if journey.payment is not None:
        found = _gap(journey, journey.payment, point.w, thorough=True)
        if found.gap > journey.allowed:
            found = _exact(journey, point.w, found, may_move=may_move)
        return gap_certificate(found, journey.scale, journey.tol, journey.problem.objective.l2)
    if has_decrement(problem.objective):
        return decrement_certificate(problem.objective, _rounded(journey, point.w), journey.tol)
    gradient = journey.state.gradient
    if best or problem.is_composite or problem.is_noisy:
        exact = known(problem.smooth, "exact") or problem.smooth
        gradient = np.asarray(exact.gradient(point.w), dtype=problem.dtype)
    if problem.is_composite:
        # A method without a step of its own, as newton with l1, is measured by the usual one.
        step = known(journey.state, "step") or 1.0 / problem.smooth.usual_smoothness
        gradient = problem.mapping(point.w, gradient, step)
    return stationarity(problem.objective, point.value, gradient, journey.allowed, journey.tol)


def settled(journey: Journey) -> bool:
    """Take one more step of a method that squares its error, where that is cheap, if it gains.

    A gap of tol leaves coefficients with half the digits of tol. They are what is read in the end,
    and a step that squares the error gives them the rest.
    """
    problem, state, before = journey.problem.objective, journey.state, journey.certificate
    norms = journey.trace["gradient_norm"]
    if not (
        isinstance(problem, LinearProblem)
        and before is not None
        and before.measured > SETTLED * journey.scale
        and journey.method.has_cheap_step(journey.problem, state, _share(before, journey))
        and norms[-1] > LEVEL * norms.max()
        and (norms[-1] <= SQUARING * norms[-2] if len(norms) > 1 else not state.w.any())
    ):
        return False
    with np.errstate(all="ignore"):
        journey.state = journey.method.last_step(journey.problem, state)
    proof = _proof_of_last_step(journey, state, before)
    if proof is None:
        journey.state = state
        return False
    journey.iteration += 1
    journey.note()
    journey.trace.annotate(gap=math.nan if proof.gap is None else proof.gap)
    journey.certificate = proof
    return True


def _share(proof: Certificate, journey: Journey) -> float:
    """What may be left, of F(w = 0, best b)."""
    return proof.measured / journey.scale if journey.scale > 0.0 else math.inf


def _proof_of_last_step(journey: Journey, state: Any, before: Certificate) -> Certificate | None:
    """What is proved of the point after `state`, which had the proof `before`; None if no more."""
    after, problem = journey.state, journey.problem.objective
    if not norm(after.gradient) < norm(state.gradient):
        return None
    if problem.matrix.entries * problem.outputs <= SMALL:
        proof = certify(journey)
        return proof if proof.measured < before.measured else None
    # What was proved holds for a lower point all the more, and a look at large data is saved.
    fell = state.value - after.value > rounding_of(state.value, journey.problem.dtype)
    return before if fell else None
