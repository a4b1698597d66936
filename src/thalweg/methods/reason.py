"""Why a run ended, in words: the reason, the distance, the measured cause and what would help.

A limit that is merely repeated ("increase max_iter") helps nobody. So the sentences here carry
numbers: how far the gradient norm or the gap still is, how fast it fell (`forecast`), and the
curvature that explains it (`cause`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from thalweg.certificates.stationarity import measured_quantity
from thalweg.core.card import count_of
from thalweg.core.certificate import Certificate
from thalweg.core.finding import Finding, Severity
from thalweg.core.outcome import Outcome
from thalweg.methods.cause import broken_limit, conditioning, measure, promised_gain, timid_step
from thalweg.methods.ending import Ending
from thalweg.methods.forecast import SQUARES, circles, forecast

ROUNDED = 1e4  # ulps of f: a gain that is promised but not seen, and rounding does not explain
RUNAWAY = 1e3  # times the first gradient norm: a function that ends so is not near a minimum
LOOSEST = 0.01  # a larger tol may hold at the start, and shows nothing


def explain(
    ending: Ending, remedy: Callable[[Ending], str] | None = None
) -> tuple[str, tuple[Finding, ...]]:
    """The reason as text, and the findings that go with it.

    `remedy`, where there is one, says what to change about a budget that was too small.
    """
    match ending.outcome:
        case Outcome.CONVERGED:
            return _converged(ending)
        case Outcome.DIVERGED:
            return _diverged(ending)
        case Outcome.NO_MINIMUM:
            return _without_minimum(ending)
        case Outcome.STALLED:
            return _stalled(ending)
        case Outcome.INTERRUPTED:
            return f"{ending.outcome} {_distance(ending)}. {_how_to_go_on(ending)}", ()
        case _:
            return _ran_out(ending, remedy)


def _converged(ending: Ending) -> tuple[str, tuple[Finding, ...]]:
    head = f"{ending.outcome} {_distance(ending)}."
    certificate = ending.certificate
    began_there = ending.trace.last["iteration"] == 0 and certificate.measured > 0
    if not began_there or certificate.kind in SQUARES:
        return head, ()
    finding = Finding(
        name="stationary from the start",
        severity=Severity.NOTE,
        claim=f"No step was taken: at w0 the gradient is {certificate.measured:.2g}, within tol.",
        measured=certificate.measured,
        limit=certificate.limit,
        cause="w0 is a stationary point, or the objective is scaled so small that tol, which is "
        "absolute below 1, cannot see its slope.",
        advice="If the slope is real, multiply the objective, or use a smaller tol.",
    )
    return f"{head} {finding.claim} {finding.advice}", (finding,)


def reached(outcome: Outcome, certificate: Certificate, iterations: int) -> str:
    """The reason of a run that a duality gap or a decrement has ended."""
    return f"{outcome} {_held(certificate.kind, certificate, iterations)}."


def _distance(ending: Ending) -> str:
    certificate = ending.certificate
    what = measured_quantity(ending.problem.objective)
    if certificate.kind in SQUARES:
        what = certificate.kind
    return _held(what, certificate, int(ending.trace.last["iteration"]))


def _held(what: str, certificate: Certificate, iterations: int) -> str:
    relation = "≤" if certificate.holds else ">"
    count = count_of(iterations, "iteration")
    return f"{what} = {certificate.measured:.3g} {relation} {certificate.limit:.3g} after {count}"


def _how_to_go_on(ending: Ending) -> str:
    if ending.checkpoint:
        return f"Run it again with checkpoint={ending.checkpoint!r} to go on from here."
    return "Pass w0=run.w to go on from here, or checkpoint=... to make a run resumable."


def _without_minimum(ending: Ending) -> tuple[str, tuple[Finding, ...]]:
    certificate, n = ending.certificate, ending.problem.objective.n
    claim = f"{certificate.statement[0].upper()}{certificate.statement[1:]}."
    finding = Finding(
        name="no minimum",
        severity=Severity.ACT,
        claim=claim,
        measured=certificate.measured,
        limit=certificate.limit,
        cause="The classes can be told apart exactly, and no penalty holds the coefficients: they "
        "grow for as long as the run lasts.",
        advice=f"Add a penalty: l2 = 1/n = {1.0 / n:.2g} (C=1 of an estimator).",
        evidence=certificate.evidence,
    )
    return f"{ending.outcome} {claim} {finding.advice}", (finding,)


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
    broken = broken_limit(ending)
    if broken is None:
        why = "the objective may not be defined there" if math.isnan(value) else "steps too long"
        return f"{head} Likely cause: {why}. Try {_shorter_steps(ending)}.", ()
    return f"{head} {broken.claim} {broken.advice}", (broken,)


def _shorter_steps(ending: Ending) -> str:
    """What to try where steps led out of the domain, or were too long."""
    options = ending.method.options
    name = "lr" if "lr" in options else "step"
    given = options.get(name)
    is_number = isinstance(given, float | int)
    first = f"a smaller {name} (now {given:g})" if is_number else "another w0"
    return f"{first}, or method='lbfgs'" if ending.lbfgs_is_another_way else first


def _stalled(ending: Ending) -> tuple[str, tuple[Finding, ...]]:
    value = ending.state.value
    eps = float(np.finfo(ending.problem.dtype).eps)
    iterations, values = ending.trace["iteration"], ending.trace["value"]
    head = f"{ending.outcome} {_distance(ending)}"
    best = f"The lowest value, {np.nanmin(values):.6g}, is that of step "
    best += f"{int(iterations[int(np.nanargmin(values))])}"
    broken = broken_limit(ending)
    if broken:
        return f"{head}. {best}. It bounces: {broken.claim} {broken.advice}", (broken,)
    lr = ending.method.options.get("lr")
    norms = ending.trace["gradient_norm"]
    gain = promised_gain(ending)
    if not _is_defined_below(ending):
        cause = "f is no number here, or a small step down the gradient: an edge of its domain"
        cure = "another w0, or a value that is finite everywhere"
    elif value > values[0]:
        cause = f"its steps carried it away from the start, where f was {values[0]:.3g}"
        cure = _shorter_steps(ending)
    elif norms[-1] > RUNAWAY * norms[0]:
        cause = f"the gradient grew from {norms[0]:.2g} to {norms[-1]:.2g} while f fell: f has no "
        cause += "minimum this way, or an edge"
        cure = "another w0, or a penalty"
    elif lr is not None:
        cause, cure = _circling(ending)
    elif gain > ROUNDED * eps * abs(value):
        cure = "method='lbfgs'" if ending.lbfgs_is_another_way else "another w0"
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


def _is_defined_below(ending: Ending) -> bool:
    """Whether f is a number at the last point and a little further down."""
    w, gradient = ending.state.w, ending.state.gradient
    step = math.sqrt(np.finfo(w.dtype).eps) * max(1.0, float(np.max(np.abs(w))))
    steepest = float(np.max(np.abs(gradient)))
    below = w - step / steepest * gradient if steepest > 0.0 else w
    with np.errstate(all="ignore"):
        return all(math.isfinite(float(ending.problem.smooth.value(at))) for at in (w, below))


def _circling(ending: Ending) -> tuple[str, str]:
    """Why steps of constant length do not arrive, and what helps."""
    options = ending.method.options
    cause = f"steps of about lr = {options['lr']:g} circle the minimum instead of reaching it"
    ways = ["method='lbfgs'"] if ending.lbfgs_is_another_way else []
    ways.append("a smaller lr")
    if options.get("schedule") == "constant":  # not every method has one
        ways.append("schedule='1/sqrt(t)'")
    *first, last = ways
    return cause, ", ".join([*first, f"or {last}"]) if first else last


def _reachable(ending: Ending) -> str:
    """The tolerance that this run met, rounded up, unless it is so large that it says nothing."""
    scale = ending.certificate.limit / ending.certificate.evidence["tol"]
    met = ending.certificate.measured / scale if scale > 0 else math.inf  # a constant fits exactly
    if not 0.0 < met <= LOOSEST:
        return "another w0"
    digit = 10.0 ** math.floor(math.log10(met))
    return f"tol={math.ceil(1.1 * met / digit) * digit:.1g} or larger"


def _ran_out(
    ending: Ending, remedy: Callable[[Ending], str] | None
) -> tuple[str, tuple[Finding, ...]]:
    head = f"{ending.outcome} {_distance(ending)}."
    cure = remedy(ending) if remedy else ""
    if ending.problem.is_noisy or ending.method.adds_noise:
        note = "Gradients are noisy: a constant step stops at the noise's level, a schedule of 1/t "
        note += "or 1/sqrt(t) goes below it slowly."
        other = "Try method='lbfgs'." if ending.lbfgs_is_another_way else ""
        return " ".join(filter(None, [head, note, cure or other])), ()
    ends = measure(ending, ending.state.w)
    if circles(ending):
        cause, instead = _circling(ending)
        return f"{head} Likely cause: {cause}. {cure or f'Try {instead}.'}", ()
    finding = timid_step(ending, ends) or conditioning(ending, ends) if ends else None
    if finding and cure:
        finding = replace(finding, advice=cure)
    sentences = [head, forecast(ending, ends)]
    if finding:
        sentences += [finding.claim, finding.advice]
    elif cure or ending.lbfgs_is_another_way:
        sentences.append(cure or "Try method='lbfgs'.")
    return " ".join(filter(None, sentences)), (finding,) if finding else ()
