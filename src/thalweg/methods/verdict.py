"""Why a run ended, in words: the reason, the distance, the measured cause and what would help.

A limit that is merely repeated ("increase max_iter") helps nobody. So the sentences here carry
numbers: how far the gradient norm still is, how fast it fell, the Hessian's condition number at the
last point, and for a run that left, the stability limit that its step broke.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from thalweg.certificates.duality import DUALITY_GAP
from thalweg.certificates.stationarity import measured_quantity
from thalweg.core.card import count_of
from thalweg.core.certificate import Certificate
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding, Severity
from thalweg.core.objective import known
from thalweg.core.outcome import Outcome
from thalweg.core.trace import Trace
from thalweg.curvature.lanczos import SpectrumEnds, extreme_eigenvalues
from thalweg.methods.method import Method
from thalweg.methods.problem import Problem

LANCZOS_STEPS = 40  # Hessian-vector products that an explanation may cost
FORECAST_FROM = 6  # iterations; fewer say nothing of the rate
LEAST_BUDGET = 0.2  # seconds that an explanation may always take
BUDGET = 0.2  # of the run's own time, beyond that
TIMID = 0.05  # of the stability limit: a step below this is worth naming as the cause
ROUNDED = 1e4  # ulps of f: a gain that is promised but not seen, and rounding does not explain
RUNAWAY = 1e3  # times the first gradient norm: a function that ends so is not near a minimum
SPEEDING = 10.0  # times the first gradient norm, on negative curvature: f falls ever faster
HOPELESS = 100.0  # times the iterations so far: a forecast this far is no progress
LOOSEST = 0.01  # a larger tol may hold at the start, and shows nothing
ILL_CONDITIONED = 1e3  # κ from which it is worth naming as the cause
SECOND_ORDER = ("bfgs", "lbfgs", "newton", "newton-cg")


class Ending(NamedTuple):
    """What is left of a run when it has ended."""

    outcome: Outcome
    problem: Problem
    method: Method
    state: Any  # the last one
    best: np.ndarray  # w at the lowest value, float[dim]
    trace: Trace
    certificate: Certificate
    checkpoint: str | None  # file that the run can go on from


def explain(ending: Ending) -> tuple[str, tuple[Finding, ...]]:
    """The reason as text, and the findings that go with it."""
    match ending.outcome:
        case Outcome.CONVERGED:
            return f"{ending.outcome} {_distance(ending)}.", ()
        case Outcome.DIVERGED:
            return _diverged(ending)
        case Outcome.STALLED:
            return _stalled(ending)
        case Outcome.INTERRUPTED:
            return f"{ending.outcome} {_distance(ending)}. {_how_to_go_on(ending)}", ()
        case _:
            return _ran_out(ending)


def checkpoint_lost(problem: str) -> Finding:
    """The finding that the run went on without a checkpoint."""
    return Finding(
        name="checkpoint not written",
        severity=Severity.WARN,
        claim=problem,
        measured=math.nan,
        limit=math.nan,
        cause="The run went on without it: killed now, it would resume from an older one.",
    )


def _distance(ending: Ending) -> str:
    certificate = ending.certificate
    relation = "≤" if certificate.holds else ">"
    what = measured_quantity(ending.problem.objective)
    if certificate.kind == DUALITY_GAP:
        what = "duality gap"
    count = count_of(int(ending.trace.last["iteration"]), "iteration")
    return f"{what} = {certificate.measured:.3g} {relation} {certificate.limit:.3g} after {count}"


def _how_to_go_on(ending: Ending) -> str:
    if ending.checkpoint:
        return f"Run it again with checkpoint={ending.checkpoint!r} to go on from here."
    return "Pass w0=run.w to go on from here, or checkpoint=... to make a run resumable."


def _diverged(ending: Ending) -> tuple[str, tuple[Finding, ...]]:
    iterations, values = ending.trace["iteration"], ending.trace["value"]
    lowest = int(np.nanargmin(values))
    last = int(iterations[-1])
    value, start = ending.state.value, values[0]
    has_gradient = bool(np.all(np.isfinite(ending.state.gradient)))
    fell_out = (math.isnan(value) or not has_gradient) and values[-2:][0] <= start
    left_at = last if fell_out else int(iterations[min(lowest + 1, len(iterations) - 1)])
    if math.isfinite(value) and value < start and has_gradient:
        return (
            f"{ending.outcome} f fell from {start:.3g} to {value:.3g} by step {last} and keeps "
            "falling: the objective seems to have no minimum; bound it, or add a penalty.",
            (),
        )
    if math.isfinite(value) and not has_gradient:
        what = f"the gradient is no number at step {last}"
    elif math.isnan(value):
        what = f"f is NaN at step {last}"
    else:
        what = f"f rose from {values[lowest]:.3g} to {value:.3g} by step {last}"
    head = f"{ending.outcome} It left at step {left_at}: {what}."
    broken = _broken_limit(ending)
    if broken is None:
        why = "the objective may not be defined there" if math.isnan(value) else "steps too long"
        return f"{head} Likely cause: {why}. Try {_shorter_steps(ending)}.", ()
    return f"{head} {broken.claim} {broken.advice}", (broken,)


def _shorter_steps(ending: Ending) -> str:
    """What to try where steps led out of the domain, or were too long."""
    options = ending.method.options
    name = "lr" if "lr" in options else "step"
    given = options.get(name)
    first = "another w0" if given is None else f"a smaller {name} (now {given:g})"
    return f"{first}, or method='lbfgs'" if _lbfgs_is_another_way(ending) else first


def _lbfgs_is_another_way(ending: Ending) -> bool:
    """Whether lbfgs takes this objective, and is of another kind than the method that ran."""
    problem = ending.problem
    is_refused = problem.is_composite or problem.is_noisy
    return not is_refused and ending.method.name not in SECOND_ORDER


def _broken_limit(ending: Ending) -> Finding | None:
    """The finding that the step is beyond the stable range, if it is."""
    smoothness, source = ending.problem.smoothness, "stated by the objective"
    if not smoothness:
        ends = _measure(ending, ending.best)
        smoothness = ends.largest.value if ends and ends.largest.value > 0 else None
        source = "the Hessian's largest eigenvalue at the best point seen"
    limit = ending.method.stability(ending.state, smoothness) if smoothness else None
    if limit is None or limit[2] < limit[1]:
        return None
    formula, allowed, used = limit
    where = "above" if used > allowed else "at"
    return Finding(
        name="step above the stability limit",
        severity=Severity.ACT,
        claim=f"The step {used:.4g} is {where} the stability limit {formula} = {allowed:.4g}, "
        f"with L = {smoothness:.4g} ({source}).",
        measured=used,
        limit=allowed,
        cause="On curvature L each step multiplies the distance by more than one.",
        advice=f"Use step={allowed / 2:.2g} or less, or leave step out to have it chosen.",
        rests_on="A too large learning rate does not converge (lecture C); η ≤ 1/L descends "
        "(lecture A).",
        evidence={"L": smoothness, "formula": formula},
    )


def _stalled(ending: Ending) -> tuple[str, tuple[Finding, ...]]:
    value = ending.state.value
    eps = float(np.finfo(ending.problem.dtype).eps)
    iterations, values = ending.trace["iteration"], ending.trace["value"]
    head = f"{ending.outcome} {_distance(ending)}"
    best = f"The lowest value, {np.nanmin(values):.6g}, is that of step "
    best += f"{int(iterations[int(np.nanargmin(values))])}"
    broken = _broken_limit(ending)
    if broken:
        return f"{head}. {best}. It bounces: {broken.claim} {broken.advice}", (broken,)
    lr = ending.method.options.get("lr")
    norms = ending.trace["gradient_norm"]
    gain = _promised_gain(ending)
    if value > values[0]:
        cause = f"its steps carried it away from the start, where f was {values[0]:.3g}"
        cure = _shorter_steps(ending)
    elif norms[-1] > RUNAWAY * norms[0]:
        cause = f"the gradient grew from {norms[0]:.2g} to {norms[-1]:.2g} while f fell: f has no "
        cause += "minimum this way, or an edge"
        cure = "another w0, or a penalty"
    elif lr is not None:
        cause, cure = _circling(ending)
    elif gain > ROUNDED * eps * abs(value):
        cure = "method='lbfgs'" if _lbfgs_is_another_way(ending) else "another w0"
        if np.nanargmin(values) == len(values) - 1:
            cause = f"f does not fall along the gradient, which promises {gain:.2g}: it has a kink "
            cause += "here, or the gradient is not its own"
        else:
            cause = "its steps overshoot: f goes up and down and gains nothing"
    else:
        cause = f"differences of f are at its rounding, {eps * max(abs(value), 1e-300):.1g}"
        cure = _reachable(ending)
        if ending.problem.dtype == np.float32:
            cure = f"float64 for w0, or {cure}"
    return f"{head}. {best}. Likely cause: {cause}. Try {cure}.", ()


def _circling(ending: Ending) -> tuple[str, str]:
    """Why steps of constant length do not arrive, and what helps."""
    lr, schedule = (ending.method.options[option] for option in ("lr", "schedule"))
    cause = f"steps of about lr = {lr:g} circle the minimum instead of reaching it"
    if schedule == "constant":
        return cause, "method='lbfgs', a smaller lr, or schedule='1/sqrt(t)'"
    return cause, "method='lbfgs', or a smaller lr"


def _promised_gain(ending: Ending) -> float:
    """‖∇f‖²/2‖∇²f‖, by which a gradient step should lower f; 0 where that is not known."""
    ends = _measure(ending, ending.state.w)
    if ends is None:
        return 0.0
    gradient = ending.state.gradient.astype(np.float64)
    largest = max(ends.norm, ends.rounding)
    return float(gradient @ gradient) / (2.0 * largest) if largest > 0 else math.inf


def _reachable(ending: Ending) -> str:
    """The tolerance that this run met, rounded up, unless it is so large that it says nothing."""
    scale = ending.certificate.limit / ending.certificate.evidence["tol"]
    met = ending.certificate.measured / scale
    if not 0.0 < met <= LOOSEST:
        return "another w0"
    digit = 10.0 ** math.floor(math.log10(met))
    return f"tol={math.ceil(1.1 * met / digit) * digit:.1g} or larger"


def _ran_out(ending: Ending) -> tuple[str, tuple[Finding, ...]]:
    head = f"{ending.outcome} {_distance(ending)}."
    if ending.problem.is_noisy:
        note = "Gradients are noisy: a constant step stops at the noise's level, a schedule of 1/t "
        return f"{head} {note}or 1/sqrt(t) goes below it slowly.", ()
    ends = _measure(ending, ending.state.w)
    if _circles(ending):
        cause, cure = _circling(ending)
        return f"{head} Likely cause: {cause}. Try {cure}.", ()
    finding = _timid_step(ending, ends) or _conditioning(ending, ends) if ends else None
    sentences = [head, _forecast(ending, ends)]
    if finding:
        sentences += [finding.claim, finding.advice]
    elif _lbfgs_is_another_way(ending):
        sentences.append("Try method='lbfgs'.")
    return " ".join(filter(None, sentences)), (finding,) if finding else ()


def _circles(ending: Ending) -> bool:
    """Whether steps of a given length gained nothing in the last half: not f, not the gradient."""
    if "lr" not in ending.method.options or ending.trace.last["iteration"] < FORECAST_FROM:
        return False
    values = ending.trace["value"]
    third, fourth = np.array_split(values[len(values) // 2 :], 2)
    more = _iterations_to_go(ending)
    is_hopeless = more is None or more > HOPELESS * ending.trace.last["iteration"]
    return bool(fourth.max() >= np.median(third)) and is_hopeless


def _forecast(ending: Ending, ends: SpectrumEnds | None) -> str:
    """How many more iterations it would take: as the run went lately, and as κ allows."""
    last = ending.trace.last
    per_iteration = last["seconds"] / max(1.0, last["iteration"])
    if last["iteration"] < FORECAST_FROM:
        return ""
    more = _iterations_to_go(ending)
    if more is None:
        return "The gradient norm did not fall in the last half of the run."
    text = f"At the rate of the last half it needs about {more:,.0f} more "
    text += f"({more * per_iteration:.2g} s)"
    power = ending.method.kappa_power
    if power and ends and ends.smallest.value > ends.rounding:
        kappa = ends.largest.value / ends.smallest.value
        worst = kappa**power * math.log(ending.certificate.measured / ending.certificate.limit)
        if worst > 2 * more:
            law = "κ" if power == 1.0 else "√κ"
            text += f", at the worst that {law} allows about {worst:,.0f} "
            text += f"({worst * per_iteration:.2g} s)"
    return f"{text}."


def _iterations_to_go(ending: Ending) -> float | None:
    """Iterations until the gradient norm is small enough, if it goes on falling as it did."""
    norms, iterations = ending.trace["gradient_norm"], ending.trace["iteration"]
    half = len(norms) // 2
    if len(norms) - half < 3 or not np.all(norms[half:] > 0):
        return None
    third, fourth = np.array_split(norms[half:], 2)
    if not np.median(fourth) < (1.0 - 1e-9) * np.median(third):
        return None  # it fell before, and has stopped since
    slope, offset = np.polyfit(iterations[half:], np.log(norms[half:]), 1)
    scatter = np.std(np.log(norms[half:]) - offset - slope * iterations[half:])
    if not -slope * (iterations[-1] - iterations[half]) > scatter:
        return None  # up and down, with no rate to forecast from
    now = offset + slope * iterations[-1]
    certificate = ending.certificate
    goal = math.log(certificate.limit)
    if certificate.kind == DUALITY_GAP:  # which falls like the square of the norm
        goal = now + 0.5 * math.log(certificate.limit / certificate.measured)
    return max(1.0, (goal - now) / slope)


def _timid_step(ending: Ending, ends: SpectrumEnds) -> Finding | None:
    """The finding that a step, given or 1/L, is far shorter than the curvature here allows."""
    largest, given = ends.largest.value, ending.method.options.get("step") is not None
    if largest <= ends.rounding or not (given or ending.problem.smoothness):
        return None
    stability = ending.method.stability(ending.state, largest)
    if stability is None or stability[2] >= TIMID * stability[1]:
        return None
    formula, allowed, used = stability
    return Finding(
        name="step far below the stability limit",
        severity=Severity.WARN,
        claim=f"The step {used:.2g} is {used / allowed:.1g} of the stability limit {formula} = "
        f"{allowed:.2g}, with L = {largest:.2g} (the Hessian's largest eigenvalue here).",
        measured=used,
        limit=allowed,
        cause="Progress is proportional to the step."
        if given
        else "The step is chosen for the largest curvature anywhere, far above the one here.",
        advice=f"Try step={allowed / 2:.1g}, or leave step out to have it chosen."
        if given
        else "Try method='lbfgs', which follows the curvature that it meets.",
        rests_on="A too small learning rate takes long to converge (lecture C).",
        evidence={"L": largest, "formula": formula},
    )


def _conditioning(ending: Ending, ends: SpectrumEnds) -> Finding | None:
    """The finding that κ explains the slowness, or that the curvature is negative here."""
    low, high = ends.smallest.value, ends.largest.value
    if ends.negative_curvature_is_proven:
        norms, meaning = ending.trace["gradient_norm"], "this is near a saddle or on a ridge"
        if norms[-1] > SPEEDING * norms[0]:
            meaning = f"the gradient grew from {norms[0]:.2g} to {norms[-1]:.2g} on it, so f falls "
            meaning += "ever faster and may have no minimum this way"
        return Finding(
            name="negative curvature",
            severity=Severity.WARN,
            claim=f"The Hessian has the eigenvalue {low:.3g} here: {meaning}.",
            measured=low,
            limit=0.0,
            advice="Try another w0."
            if ending.problem.is_composite
            else "Try method='newton-cg', which follows negative curvature to its end.",
            rests_on="Near a saddle the gradient is small and training stalls (lecture C).",
        )
    if not low > 0 or high / low < ILL_CONDITIONED:
        return None
    other = "Try method='lbfgs'." if _lbfgs_is_another_way(ending) else ""
    return Finding(
        name="poor conditioning",
        severity=Severity.WARN,
        claim=f"Cause: κ = {high / low:.2g} (curvatures from {low:.2g} to {high:.2g} here).",
        measured=high / low,
        limit=ILL_CONDITIONED,
        cause="A step short enough for the steepest direction is far too short for the flattest.",
        advice=other,
        rests_on="Poor conditioning makes learning slow despite strong gradients (lecture C).",
        evidence={"smallest": low, "largest": high},
    )


def _measure(ending: Ending, w: np.ndarray) -> SpectrumEnds | None:
    """The Hessian's two ends at w, if that is affordable and defined there."""
    smooth = known(ending.problem.smooth, "exact") or ending.problem.smooth

    def product(v: np.ndarray) -> np.ndarray:
        return smooth.hessian_vector(w, v.astype(w.dtype))

    started = time.perf_counter()
    try:
        with np.errstate(all="ignore"):
            product(np.ones(w.size))
            cost = LANCZOS_STEPS * (time.perf_counter() - started)
            if cost > max(LEAST_BUDGET, BUDGET * ending.trace.last["seconds"]):
                return None
            rng = np.random.default_rng(0)
            return extreme_eigenvalues(product, w.size, rng=rng, max_steps=LANCZOS_STEPS)
    except InputError:
        return None  # no Hessian here: the explanation does without
