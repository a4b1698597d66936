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

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from thalweg.certificates.decrement import (
    decrement_certificate,
    has_decrement,
    rough_decrement,
)
from thalweg.certificates.duality import (
    Gap,
    constant_value,
    duality_gap,
    exactly,
    gap_certificate,
    has_gap,
    price_of_tightening,
    tightened,
)
from thalweg.certificates.separation import (
    Separator,
    may_run_away,
    separated,
    separation_certificate,
)
from thalweg.certificates.stationarity import gap, limit, norm, stationarity
from thalweg.core.certificate import Certificate
from thalweg.core.clock import Clock, now
from thalweg.core.environment import environment
from thalweg.core.errors import InputError, StorageError
from thalweg.core.objective import known
from thalweg.core.outcome import Outcome
from thalweg.core.run import Run
from thalweg.core.trace import Trace
from thalweg.methods import checkpoint as storage
from thalweg.methods.checkpoint import Checkpoint
from thalweg.methods.ending import Ending
from thalweg.methods.interrupt import Interrupt
from thalweg.methods.method import Method
from thalweg.methods.payment import Payment
from thalweg.methods.problem import Problem
from thalweg.methods.progress import Progress
from thalweg.methods.rounding import rounding_of
from thalweg.methods.verdict import checkpoint_lost, explain
from thalweg.objectives.linear import LinearProblem

GROWN = 1e8  # times max(1, |f(w₀)|): a value this far above the start is not coming back
FALLEN = 1e20  # likewise below it: f has no minimum
STALL_WINDOW = 1000  # iterations without improvement, and half of the run at least
DESCENT_WINDOW = 20  # the same for a method that is to improve at every step
STILL = 0.1  # of the limit: a step of Newton's that gains less has arrived, or gets nowhere
BETWEEN_LOOKS = 10  # iterations, where that did not end the run
FIRST_LOOK = 16  # iteration at which it is asked whether there is a minimum; then at 32, 64, …
SETTLED = 1e-14  # of F(w = 0, best b): a gap beyond which coefficients have all their digits
SQUARING = 0.1  # of the gradient norm, that is left by a step of a method that squares its error
SMALL = 1_000_000  # entries of X, up to which a gap takes no time that anyone notices
FELL = 0.25  # of the rough decrement at the last Hessian: below this another one is worth it
NEAR = 1e3  # times the limit: a gap this near may be within it by a tighter lower bound
SAME = 1e-4  # by which two computations of one value may differ, float32 sums included


class Step(NamedTuple):
    """What a callback is told after each iteration."""

    iteration: int
    w: np.ndarray  # read-only, float[dim]
    value: float
    gradient_norm: float
    gap: float  # NaN where there is no bound
    evaluations: float  # gradients and Hessian-vector products
    seconds: float


class Watcher(Protocol):
    """What looks at a run after every iteration, and may change the method."""

    def __call__(self, journey: Journey) -> Method | None:
        """The method to go on with, if it is to be another one."""
        ...

    def after_stall(self, journey: Journey) -> Method | None:
        """The method to go on with where the present one does not move any more, if any."""
        ...

    def record(self) -> dict[str, Any]:
        """What it knows, put aside with the run."""
        ...


@dataclass
class Relay:
    """What a run hands over to the next one, on the same data with other penalties."""

    method: Method | None = None  # that the state is of
    state: Any = None  # where the last run ended


class Best(NamedTuple):
    """The lowest point seen; its gradient is computed again if it is asked for in the end."""

    w: np.ndarray
    value: float


@dataclass
class Journey:
    """A run under way: what was asked, and where it is.

    A linear problem is travelled about the mean of its features (`LinearProblem.centred`): all that
    is `w` here is in those variables, and `returned` carries it back.
    """

    objective: Any  # as it was asked for
    problem: Problem
    method: Method
    rng: np.random.Generator
    w0: np.ndarray  # as it was given
    seed: int
    tol: float
    state: Any
    best: Best
    first_value: float  # f(w₀)
    first_norm: float  # ‖∇f(w₀)‖∞
    best_norm: float
    improved_at: int = 0  # iteration of the last new best value or gradient norm
    iteration: int = 0
    trace: Trace = field(default_factory=Trace)
    clock: Clock = field(default_factory=Clock)  # from before the first look at f
    payment: Payment | None = None  # the last duality gap, for problems that have one
    certificate: Certificate | None = None  # of the present state, once it was paid for
    watch: Watcher | None = None
    looked_exactly_at: int = -BETWEEN_LOOKS  # iteration of the last gap by twice the digits
    rough: float = math.inf  # decrement, by the gradient alone, where a Hessian was last paid for
    has_better: bool = False  # whether `best` was found by twice the digits, and ends the run
    plane: Separator | None = None  # that shows F to have no minimum
    storage_problem: str = ""  # why the last checkpoint could not be written

    @property
    def seconds(self) -> float:
        """Time spent so far, that before a resume included and compiling not."""
        return self.clock.seconds

    def returned(self, w: np.ndarray) -> np.ndarray:
        """A point in the variables that were asked for, of the same scores and no higher F."""
        w = carried(w, self.problem.objective, self.objective)
        settle = known(self.objective, "settled")
        return w if settle is None else settle(w)

    @cached_property
    def scale(self) -> float:
        """F(w = 0, best b), which a duality gap is measured by."""
        return constant_value(self.problem.objective)

    @cached_property
    def allowed(self) -> float:
        """What to reach: a gap or a decrement of a linear problem, else a gradient norm."""
        if self.payment is not None or has_decrement(self.problem.objective):
            return self.tol * self.scale
        return limit(self.first_norm, self.tol)

    @property
    def dual(self) -> np.ndarray | None:
        """The method's own dual point for the present state, if it has one."""
        return self.method.dual_point(self.problem, self.state)

    @property
    def identity(self) -> dict[str, Any]:
        """What must agree for a checkpoint to belong to this run."""
        return {
            "objective": self.problem.name,
            "method": self.method.name,
            "options": self.method.options,
            "seed": self.seed,
            "dtype": str(self.w0.dtype),
            "w0": hashlib.sha256(self.w0.tobytes()).hexdigest()[:16],
        }

    def note(self) -> None:
        """Write the present state into the trace, and remember it if it is the best."""
        state = self.state
        self.certificate = None
        measured = norm(state.gradient)
        bound = None
        if not self.problem.is_noisy or known(self.problem.objective, "minimum") is not None:
            bound = gap(self.problem.objective, state.value, state.gradient)
        self.trace.append(
            iteration=self.iteration,
            passes=self.problem.passes,
            evaluations=self.problem.evaluations,
            seconds=self.seconds,
            value=state.value,
            gradient_norm=measured,
            gap=math.nan if bound is None else bound,
        )
        if state.value < self.best.value or measured < self.best_norm:
            self.improved_at = self.iteration
        if state.value < self.best.value and math.isfinite(measured):
            self.best = Best(state.w, state.value)
        self.best_norm = min(measured, self.best_norm)

    def hand_over(self, method: Method) -> None:
        """Go on from the present point by another method."""
        method.check(self.problem)
        self.method = method
        self.state = method.init(self.problem, self.state.w, self.rng)
        self.improved_at = self.iteration

    def step(self) -> Step:
        """The present state, for a callback."""
        w = self.returned(self.state.w).view()
        w.flags.writeable = False
        last = self.trace.last
        return Step(
            self.iteration, w, last["value"], last["gradient_norm"], last["gap"],
            self.problem.evaluations, last["seconds"],
        )  # fmt: skip


def drive(
    objective: Any,
    method: Method,
    w0: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    time_limit: float | None,
    seed: int,
    callback: Callable[[Step], bool | None] | None,
    checkpoint: Checkpoint | None,
    progress: bool,
    watch: Watcher | None = None,
    remedy: Callable[[Ending], str] | None = None,
    relay: Relay | None = None,
) -> Run:
    """Run `method` on `objective` from `w0` until there is an outcome.

    `watch` looks at the run after every iteration, and may name another method to go on with;
    `remedy` knows what to change where the budget was too small. A `relay` has the state to begin
    with, if any, which is at w0, and is left the last one, in place.
    """
    journey = _begin(objective, method, w0, tol, seed, checkpoint, relay)
    journey.watch = watch
    if checkpoint:
        _put_aside(checkpoint, journey)  # an unwritable place is bad input: say so before the work
    last_kept = journey.seconds
    outcome = None
    with Interrupt() as interrupt, Progress(method.name, max_iter, shown=progress) as display:
        while outcome is None:
            if outcome := _judge(journey):
                if outcome is Outcome.STALLED and _goes_on(journey, checkpoint):
                    outcome = None
                    continue
                break
            if interrupt.requested:
                outcome = Outcome.INTERRUPTED
            elif journey.iteration >= max_iter:
                outcome = Outcome.ITERATION_LIMIT
            elif time_limit is not None and journey.seconds >= time_limit:
                outcome = Outcome.TIME_LIMIT
            else:
                with np.errstate(all="ignore"):  # what overflows is judged, not warned of
                    state = journey.method.advance(journey.problem, journey.state)
                if state is journey.state:
                    if _goes_on(journey, checkpoint):
                        continue
                    outcome = Outcome.STALLED
                    break
                journey.state = state
                journey.iteration += 1
                journey.note()
                if checkpoint and checkpoint.is_due(journey.iteration, journey.seconds - last_kept):
                    _keep(checkpoint, journey)
                    last_kept = journey.seconds
                display.update(journey.iteration, journey.trace.last, journey.allowed)
                if callback is not None and callback(journey.step()):
                    outcome = Outcome.INTERRUPTED
                elif watch is not None and (other := watch(journey)) is not None:
                    _hand_over(journey, other, checkpoint)
    if checkpoint:
        _keep(checkpoint, journey)
    is_due = outcome is Outcome.CONVERGED and journey.iteration < max_iter
    if is_due and _settled(journey) and callback is not None:
        callback(journey.step())
    if relay is not None:
        is_last = outcome is Outcome.CONVERGED and not journey.has_better
        relay.method, relay.state = (journey.method, journey.state) if is_last else (None, None)
    return _finish(journey, outcome, checkpoint, remedy)


def _goes_on(journey: Journey, checkpoint: Checkpoint | None) -> bool:
    """Whether another method goes on where the present one has stalled short of the tolerance."""
    if journey.watch is None or journey.payment is None:
        return False
    if _certify(journey, may_move=True).holds:  # no gap was due, but it is small enough
        return False
    other = journey.watch.after_stall(journey)
    if other is None:
        return False
    _hand_over(journey, other, checkpoint)
    return True


def _hand_over(journey: Journey, other: Method, checkpoint: Checkpoint | None) -> None:
    journey.hand_over(other)
    if checkpoint:  # a clock decided it, which would not decide so again
        _keep(checkpoint, journey)


def _begin(
    objective: Any,
    method: Method,
    w0: np.ndarray,
    tol: float,
    seed: int,
    checkpoint: Checkpoint | None,
    relay: Relay | None = None,
) -> Journey:
    """The journey at w₀, or where the checkpoint left it."""
    clock = Clock()
    rng = np.random.Generator(np.random.PCG64(seed))
    bind = known(objective, "bind")
    objective = bind(rng) if bind else objective
    problem = Problem(known(objective, "centred") or objective, w0.size, w0.dtype)
    method.check(problem)
    saved = storage.load(checkpoint.file) if checkpoint else None
    if checkpoint and saved:
        progress, arrays = saved.progress, saved.arrays
        journey = Journey(
            objective, problem, method, rng, w0, seed, tol,
            state=None,
            best=Best(arrays["best_w"], progress["best_value"]),
            first_value=progress["first_value"],
            first_norm=progress["first_norm"],
            best_norm=progress["best_norm"],
            improved_at=progress["improved_at"],
            iteration=progress["iteration"],
            trace=Trace(arrays["trace"], stride=progress["stride"]),
            payment=Payment(*progress["payment"]) if progress["payment"] else None,
            looked_exactly_at=progress.get("looked_exactly_at", -BETWEEN_LOOKS),
            rough=progress.get("rough", math.inf),
            clock=clock,
        )  # fmt: skip
        clock.go_on(progress["seconds"], progress.get("compiled", 0.0))
        storage.check_same(checkpoint.file, saved, journey.identity)
        rng.bit_generator.state = progress["generator"]
        again = {"rng": rng} if "rng" in method.State.__annotations__ else {}
        journey.state = method.State(**saved.state, **again)
        _check_value(checkpoint, problem, journey.best)
        problem.restore(progress["counts"], is_summed=progress.get("is_summed", False))
        return journey
    if relay is not None and relay.method == method:
        state = method.moved(problem, relay.state, rng)
    else:
        state = method.init(problem, carried(w0, objective, problem.objective), rng)
    _check_start(problem, state)
    first = norm(state.gradient)
    best = Best(state.w, state.value)
    journey = Journey(
        objective, problem, method, rng, w0, seed, tol, state, best, state.value, first, first,
        clock=clock,
    )  # fmt: skip
    if has_gap(objective):
        journey.payment = Payment()
    journey.note()
    return journey


def carried(w: np.ndarray, here: Any, there: Any) -> np.ndarray:
    """The variables of one view of a problem as those of another; `w` itself if they are alike."""
    return w if here is there else here.enter(w, there)


def _check_value(checkpoint: Checkpoint, problem: Problem, best: Best) -> None:
    """Raise unless f is what it was: a name alone does not tell two functions apart."""
    now = problem.value(best.w) + problem.penalty(best.w)
    if not math.isclose(now, best.value, rel_tol=SAME, abs_tol=SAME):
        raise InputError(
            f"checkpoint {checkpoint.file} belongs to another run: at its best point the value was "
            f"{best.value:.9g}, that of {problem.name} is {now:.9g}: "
            "give another file, or remove that one"
        )


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
    if _is_converged(journey):
        return Outcome.NO_MINIMUM if _runs_away(journey) else Outcome.CONVERGED
    is_time = journey.iteration >= FIRST_LOOK and journey.iteration.bit_count() == 1
    if is_time and _runs_away(journey):
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


def _runs_away(journey: Journey) -> bool:
    """Whether a plane between the classes shows that nothing ends the way of the coefficients."""
    problem = journey.problem.objective
    if not isinstance(problem, LinearProblem) or not may_run_away(problem):
        return False
    journey.plane = separated(problem, journey.state.w)
    if journey.plane is None:
        return False
    journey.certificate = None  # a small decrement proves nothing where there is no minimum
    return True


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


def _is_converged(journey: Journey) -> bool:
    """Whether the certificate holds; cheap numbers decide whether it is worth its price."""
    measured = journey.trace.last["gradient_norm"]
    if has_decrement(journey.problem.objective):
        return _has_small_decrement(journey)
    if journey.payment is None:
        return measured <= journey.allowed and _certify(journey).holds
    passes = journey.problem.passes
    if not _is_due(journey, journey.payment, measured):
        return False
    found = _gap(journey, journey.payment, journey.state.w)
    if found.gap > journey.allowed and _stands_still(journey):
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
    journey.certificate = _certify(journey)
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
    if not journey.method.descends or (problem.l1 > 0.0 and state.w.any()):
        return False
    D = journey.problem.kept("curvature diagonal", lambda: problem.curvature_diagonal)
    return bool(0.5 * float(np.max(state.gradient**2 / D)) > journey.allowed)


def _gap(journey: Journey, payment: Payment, w: np.ndarray, *, thorough: bool = False) -> Gap:
    """The duality gap at `w`, by the best lower bound so far; tightened where that may end it.

    Where l1 = 0 a gap is as tight as the run needs.
    """
    problem = journey.problem.objective
    dual = journey.dual if w is journey.state.w else None
    # What is proved is proved of the point that is returned, whose intercept is rounded once more.
    w = carried(journey.returned(w), journey.objective, problem)
    found = duality_gap(problem, w, dual=dual, thorough=thorough, enough=journey.allowed)
    found = found.above(payment.floor)
    if problem.l1 > 0 and journey.allowed < found.gap <= NEAR * journey.allowed:
        price = found.passes + price_of_tightening(problem, w)
        if payment.affords(journey.problem.passes, price):
            found = tightened(problem, w, found)
    return found


def _certify(journey: Journey, best: Best | None = None, *, may_move: bool = False) -> Certificate:
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
        step = known(journey.state, "step") or 1.0 / problem.smooth.smoothness
        gradient = problem.mapping(point.w, gradient, step)
    return stationarity(problem.objective, point.value, gradient, journey.allowed, journey.tol)


def _keep(checkpoint: Checkpoint, journey: Journey) -> None:
    """Put the run aside; a disk that has filled up since is a finding, not the end of the run."""
    try:
        _put_aside(checkpoint, journey)
        journey.storage_problem = ""
    except StorageError as problem:
        journey.storage_problem = str(problem)


def _put_aside(checkpoint: Checkpoint, journey: Journey) -> None:
    """Write the run; what the disk takes is no part of its seconds, or disks would win races."""
    begun = now()
    storage.save(
        checkpoint.file,
        journey.identity,
        {
            "iteration": journey.iteration,
            "seconds": journey.seconds,
            "compiled": journey.clock.compiled,
            "counts": journey.problem.counts,
            "is_summed": journey.problem.is_summed,
            "generator": journey.rng.bit_generator.state,
            "stride": journey.trace.stride,
            "best_value": journey.best.value,
            "first_value": journey.first_value,
            "first_norm": journey.first_norm,
            "best_norm": journey.best_norm,
            "improved_at": journey.improved_at,
            "payment": journey.payment,
            "looked_exactly_at": journey.looked_exactly_at,
            "rough": journey.rough,
            "watch": journey.watch.record() if journey.watch else None,
        },
        journey.state,
        {
            "trace": journey.trace.rows,
            "best_w": journey.best.w,
        },
    )
    journey.clock.leave_out(now() - begun)


def _settled(journey: Journey) -> bool:
    """Take one more step of a method that squares its error, where that is cheap, if it gains.

    A gap of tol leaves coefficients with half the digits of tol. They are what is read in the end,
    and a step that squares the error gives them the rest.
    """
    problem, state, before = journey.problem.objective, journey.state, journey.certificate
    norms = journey.trace["gradient_norm"]
    if not (
        isinstance(problem, LinearProblem)
        and journey.method.has_cheap_step(journey.problem, state)
        and before is not None
        and before.measured > SETTLED * journey.scale
        and (norms[-1] <= SQUARING * norms[-2] if len(norms) > 1 else not state.w.any())
    ):
        return False
    with np.errstate(all="ignore"):
        journey.state = journey.method.advance(journey.problem, state)
    proof = _proof_of_last_step(journey, state, before)
    if proof is None:
        journey.state = state
        return False
    journey.iteration += 1
    journey.note()
    journey.trace.annotate(gap=math.nan if proof.gap is None else proof.gap)
    journey.certificate = proof
    return True


def _proof_of_last_step(journey: Journey, state: Any, before: Certificate) -> Certificate | None:
    """What is proved of the point after `state`, which had the proof `before`; None if no more."""
    after, problem = journey.state, journey.problem.objective
    if not norm(after.gradient) < norm(state.gradient):
        return None
    if problem.matrix.entries * problem.outputs <= SMALL:
        proof = _certify(journey)
        return proof if proof.measured < before.measured else None
    # What was proved holds for a lower point all the more, and a look at large data is saved.
    fell = state.value - after.value > rounding_of(state.value, journey.problem.dtype)
    return before if fell else None


def _finish(
    journey: Journey,
    outcome: Outcome,
    checkpoint: Checkpoint | None,
    remedy: Callable[[Ending], str] | None,
) -> Run:
    """The record of the run, with the reason for its end."""
    ran_out = outcome in (Outcome.STALLED, Outcome.ITERATION_LIMIT, Outcome.TIME_LIMIT)
    if ran_out and _runs_away(journey):
        outcome, ran_out = Outcome.NO_MINIMUM, False
    # A value that is lower by rounding says nothing of a point whose gradient may be far larger.
    noise = rounding_of(journey.state.value, journey.state.w.dtype)
    was_lower = journey.best.value < journey.state.value - noise and not journey.problem.is_noisy
    at_best = outcome is Outcome.DIVERGED or (ran_out and was_lower)
    certificate = None if at_best else journey.certificate
    if certificate is None or not certificate.holds:  # what was due before may have been less tight
        is_stuck = outcome is Outcome.STALLED
        certificate = _certify(journey, journey.best if at_best else None, may_move=is_stuck)
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
