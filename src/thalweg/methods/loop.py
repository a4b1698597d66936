"""The one loop that drives every method: stopping, tracing, time, divergence, stalls, checkpoints.

    state = init(w₀)
    until an outcome:  state = advance(state), note it, judge it

A method only knows how to advance. The loop measures each state, writes the trace, and ends the run
with an `Outcome`:

    converged        duality gap ≤ tol · F(w = 0, best b) where the problem has one, otherwise
                     ‖∇f(w)‖∞ ≤ tol · max(1, ‖∇f(w₀)‖∞); without a penalty, Newton's decrement in
                     place of a gap: as the certificate measures it
    diverged         a value or gradient that is no number, or a value out of all proportion
    stalled          the method cannot move, or nothing improved for long: half of the run, or
                     twenty iterations of a method that descends at every step; a value that keeps
                     falling, though not yet below the best, is no stall
    no minimum       a plane separates the classes, and nothing holds the coefficients
    iteration limit, time limit, interrupted

Checkpoints are taken between iterations, after the trace is written and before the callback is
called, and hold all that the next iteration depends on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.clock import Clock
from thalweg.core.environment import environment
from thalweg.core.errors import InputError
from thalweg.core.objective import known
from thalweg.core.outcome import Outcome
from thalweg.core.run import Run
from thalweg.methods.ending import Ending
from thalweg.methods.journey import Journey, Overseer, Relay, Step, carried
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem
from thalweg.methods.proof import certify, is_converged, runs_away, settled
from thalweg.methods.reason import explain
from thalweg.methods.resume import keep, put_aside, take_up
from thalweg.methods.roles import check_roles
from thalweg.methods.rounding import rounding_of
from thalweg.objectives.linear import LinearProblem
from thalweg.running import checkpoint as storage
from thalweg.running.checkpoint import Checkpoint, checkpoint_lost
from thalweg.running.interrupt import Interrupt
from thalweg.running.progress import Progress

GROWN = 1e8  # times max(1, |f(w₀)|): a value this far above the start is not coming back
FALLEN = 1e20  # likewise below it: f has no minimum
STALL_WINDOW = 1000  # iterations without improvement, and half of the run at least
DESCENT_WINDOW = 20  # the same for a method that is to improve at every step
FIRST_LOOK = 16  # iteration at which it is asked whether there is a minimum; then at 32, 64, …


class Limits(NamedTuple):
    """Where a run is to end at the latest."""

    tol: float
    max_iter: int
    seconds: float | None = None

    def reached(self, journey: Journey) -> Outcome | None:
        """The limit that the run has come to, if any."""
        if journey.iteration >= self.max_iter:
            return Outcome.ITERATION_LIMIT
        if self.seconds is not None and journey.seconds >= self.seconds:
            return Outcome.TIME_LIMIT
        return None


def drive(
    objective: Any,
    method: Method,
    w0: np.ndarray,
    limits: Limits,
    *,
    seed: int,
    callback: Callable[[Step], bool | None] | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool = False,
    overseer: Overseer | None = None,
    remedy: Callable[[Ending], str] | None = None,
    relay: Relay | None = None,
) -> Run:
    """Run `method` on `objective` from `w0` until there is an outcome.

    `overseer` looks at the run after every iteration, and may name another method to go on with;
    `remedy` knows what to change where the budget was too small. A `relay` has the state to begin
    with, if any, which is at w0, and is left the last one, in place.
    """
    journey = _journey(objective, method, w0, limits.tol, seed, overseer)
    _begin(journey, checkpoint, relay)
    last_kept = journey.seconds
    shown = Progress(method.name, limits.max_iter, shown=progress)
    with Interrupt() as interrupt, shown as display:
        while True:
            outcome = _judge(journey)
            if outcome is None:
                outcome = Outcome.INTERRUPTED if interrupt.requested else limits.reached(journey)
            if outcome is None and not _advance(journey):
                outcome = Outcome.STALLED
            if outcome is Outcome.STALLED and _goes_on(journey, checkpoint):
                continue
            if outcome is not None:
                break
            if checkpoint and checkpoint.is_due(journey.iteration, journey.seconds - last_kept):
                keep(checkpoint, journey)
                last_kept = journey.seconds
            display.update(journey.iteration, journey.trace.last, journey.allowed)
            if callback is not None and callback(journey.step()):
                outcome = Outcome.INTERRUPTED
                break
            if overseer is not None and (other := overseer(journey)) is not None:
                _hand_over(journey, other, checkpoint)
    if checkpoint:
        keep(checkpoint, journey)
    may_settle = outcome is Outcome.CONVERGED and journey.iteration < limits.max_iter
    if may_settle and settled(journey) and callback is not None:
        callback(journey.step())
    if relay is not None:
        is_last = outcome is Outcome.CONVERGED and not journey.has_better
        relay.method, relay.state = (journey.method, journey.state) if is_last else (None, None)
    return _finish(journey, outcome, checkpoint, remedy)


def _advance(journey: Journey) -> bool:
    """Take one iteration and note it; false where the method cannot move."""
    with np.errstate(all="ignore"):  # what overflows is judged, not warned of
        state = journey.method.advance(journey.problem, journey.state)
    if state is journey.state:
        return False
    journey.state = state
    journey.iteration += 1
    journey.note()
    return True


def _goes_on(journey: Journey, checkpoint: Checkpoint | None) -> bool:
    """Whether another method goes on where the present one has stalled short of the tolerance."""
    if journey.overseer is None or journey.payment is None:
        return False
    journey.certificate = certify(journey, may_move=True)
    if journey.certificate.holds:  # no gap was due, but it is small enough
        return False
    other = journey.overseer.after_stall(journey)
    if other is None:
        return False
    _hand_over(journey, other, checkpoint)
    return True


def _hand_over(journey: Journey, other: Method, checkpoint: Checkpoint | None) -> None:
    journey.hand_over(other)
    if checkpoint:  # a clock decided it, which would not decide so again
        keep(checkpoint, journey)


def _journey(
    objective: Any,
    method: Method,
    w0: np.ndarray,
    tol: float,
    seed: int,
    overseer: Overseer | None,
) -> Journey:
    """What is asked, before the first look at f."""
    clock = Clock()
    rng = np.random.Generator(np.random.PCG64(seed))
    bind = known(objective, "bind")
    objective = bind(rng) if bind else objective
    problem = Problem(known(objective, "centred") or objective, w0.size, w0.dtype)
    check_roles(method, problem)
    return Journey(objective, problem, method, rng, w0, seed, tol, clock, overseer)


def _begin(journey: Journey, checkpoint: Checkpoint | None, relay: Relay | None) -> None:
    """Begin at w₀, or where the checkpoint left it, or with the state that the relay has."""
    method, problem = journey.method, journey.problem
    saved = storage.load(checkpoint.file) if checkpoint else None
    if checkpoint and saved:
        take_up(checkpoint, saved, journey)
    else:
        if relay is not None and relay.method == method:
            state = method.moved(problem, relay.state, journey.rng)
        else:
            w0 = carried(journey.w0, journey.objective, problem.objective)
            state = method.init(problem, w0, journey.rng)
        _check_start(problem, state)
        journey.depart(state)
    if checkpoint:
        put_aside(checkpoint, journey)  # an unwritable place is bad input: say so before the work


def _check_start(problem: Problem, state: Any) -> None:
    """A start without a value or a gradient is bad input, not a run that ended badly."""
    if not math.isfinite(state.value):
        raise InputError(
            f"the value at w0 must be finite, got {state.value} from {problem.name}: "
            "start where the objective is defined"
        )
    bad = np.flatnonzero(~np.isfinite(state.gradient))
    if bad.size:
        raise InputError(
            f"the gradient at w0 must be finite, got {state.gradient[bad[0]]} at position "
            f"{bad[0]} from {problem.name}: start where the objective is differentiable"
        )


def _judge(journey: Journey) -> Outcome | None:
    """The outcome that the present state calls for, if any."""
    state, first = journey.state, journey.first_value
    scale = max(1.0, abs(first))
    if not math.isfinite(state.value) or not np.all(np.isfinite(state.gradient)):
        return Outcome.DIVERGED
    if not first - FALLEN * scale < state.value < first + GROWN * scale:
        return Outcome.DIVERGED
    if is_converged(journey):
        return Outcome.NO_MINIMUM if runs_away(journey) else Outcome.CONVERGED
    is_time = journey.iteration >= FIRST_LOOK and journey.iteration.bit_count() == 1
    if is_time and runs_away(journey):
        return Outcome.NO_MINIMUM
    patience = max(STALL_WINDOW, journey.iteration / 2)
    if journey.method.descends:
        patience = DESCENT_WINDOW
    idle = journey.iteration - journey.improved_at
    if idle < patience or journey.problem.is_noisy or journey.method.adds_noise:
        return None
    if not journey.method.descends and _still_falls(journey):
        journey.improved_at = journey.iteration
        return None
    return Outcome.STALLED


def _still_falls(journey: Journey) -> bool:
    """Whether the value, below that of the start, has kept falling since the last improvement.

    An early step may have touched a low place by chance and left it again: then nothing is better
    than that for long, and yet the run is on its way.
    """
    if journey.state.value >= journey.first_value:
        return False
    values = journey.trace["value"][journey.trace["iteration"] > journey.improved_at]
    older, newer = np.array_split(values, 2)
    return bool(newer.max() < np.median(older))


def _finish(
    journey: Journey,
    outcome: Outcome,
    checkpoint: Checkpoint | None,
    remedy: Callable[[Ending], str] | None,
) -> Run:
    """The record of the run, with the reason for its end."""
    ran_out = outcome in (Outcome.STALLED, Outcome.ITERATION_LIMIT, Outcome.TIME_LIMIT)
    if ran_out and runs_away(journey):
        outcome, ran_out = Outcome.NO_MINIMUM, False
    # A value that is lower by rounding says nothing of a point whose gradient may be far larger.
    noise = rounding_of(journey.state.value, journey.state.w.dtype)
    was_lower = journey.best.value < journey.state.value - noise and not journey.problem.is_noisy
    at_best = outcome is Outcome.DIVERGED or (ran_out and was_lower)
    certificate = None if at_best else journey.certificate
    if certificate is None or not certificate.holds:  # what was due before may have been less tight
        is_stuck = outcome is Outcome.STALLED
        certificate = certify(journey, journey.best if at_best else None, may_move=is_stuck)
    at_best = at_best or journey.has_better
    point = journey.best if at_best else journey.state
    if ran_out and journey.payment is not None and certificate.holds:
        outcome = Outcome.CONVERGED  # no gap was due when the run ended, but it is small enough
    ending = Ending(
        outcome, journey.problem, journey.method, journey.state, journey.best.w, journey.trace,
        certificate, str(checkpoint.file) if checkpoint else None,
    )  # fmt: skip
    reason, findings = explain(ending, remedy)
    w, value = journey.returned(point.w).copy(), point.value
    if isinstance(journey.objective, LinearProblem):
        value += journey.objective.ridge_change(point.w, w)
    if journey.storage_problem:
        findings = (*findings, checkpoint_lost(journey.storage_problem))
    return Run(
        objective=journey.problem.name,
        method=journey.method.name,
        w=w,
        dual=None if at_best else journey.dual,
        value=float(value),
        outcome=outcome,
        reason=reason,
        trace=journey.trace,
        certificate=certificate,
        w0=journey.w0,
        tol=journey.tol,
        seed=journey.seed,
        options=journey.method.options,
        counts=journey.problem.counts,
        findings=findings,
        environment=environment(),
        compiled=journey.clock.compiled,
    )
