"""What made a run slow or sent it away, measured: findings from the curvature where it ended.

    step beyond the stability limit      η above 2/L, 2(1+β)/L, …: the iterates grow
    step far below it                    progress is proportional to the step
    negative curvature                   near a saddle, or on the way down to nowhere
    poor conditioning                    κ, the two curvatures it is made of, and features whose
                                         scales explain it

All of it comes from Hessian-vector products, and is left out where they would cost too much.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thalweg.core import clock
from thalweg.core.errors import InputError
from thalweg.core.finding import Finding, Severity
from thalweg.core.objective import known
from thalweg.core.vector import spread
from thalweg.curvature.extent import Extent, spectrum_extent
from thalweg.curvature.product import Matvec
from thalweg.methods.ending import Ending
from thalweg.objectives.linear import LinearProblem

LANCZOS_STEPS = 40  # Hessian-vector products that an explanation may cost
LEAST_BUDGET = 0.02  # seconds that an explanation may always take
BUDGET = 0.2  # of the run's own time, beyond that
TIMID = 0.05  # of the stability limit: a step below this is worth naming as the cause
SPEEDING = 10.0  # times the first gradient norm, on negative curvature: f falls ever faster
ILL_CONDITIONED = 1e3  # κ from which it is worth naming as the cause
BADLY_SCALED = 1e2  # largest over smallest feature scale from which it explains κ


def broken_limit(ending: Ending) -> Finding | None:
    """The finding that the step is beyond the stable range, if it is."""
    own = ending.method.steepest(ending.state)
    smoothness, source = own or (ending.problem.smoothness, "stated by the objective")
    if not smoothness:
        ends = measure(ending, ending.best)
        smoothness = ends.largest if ends and ends.largest > 0 else None
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


def timid_step(ending: Ending, ends: Extent) -> Finding | None:
    """The finding that a step, given or 1/L, is far shorter than the curvature here allows."""
    here = ends.largest, "the Hessian's largest eigenvalue here"
    largest, source = ending.method.steepest(ending.state) or here
    if largest <= ends.rounding:
        return None
    stability = ending.method.stability(ending.state, largest)
    if stability is None or stability[2] >= TIMID * stability[1]:
        return None
    given = ending.method.options.get("step") is not None
    if not (given or ending.problem.smoothness):
        return None
    formula, allowed, used = stability
    return Finding(
        name="step far below the stability limit",
        severity=Severity.WARN,
        claim=f"The step {used:.2g} is {used / allowed:.1g} of the stability limit {formula} = "
        f"{allowed:.2g}, with L = {largest:.2g} ({source}).",
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


def conditioning(ending: Ending, ends: Extent) -> Finding | None:
    """The finding that κ explains the slowness, or that the curvature is negative here."""
    low, high = ends.smallest, ends.largest
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
    other = "Try method='lbfgs'." if ending.lbfgs_is_another_way else ""
    apart = scales_apart(ending.problem.objective)
    scales = ""
    if apart >= BADLY_SCALED:
        scales = f", as the largest feature scale is {apart:.2g} times the smallest"
    return Finding(
        name="poor conditioning",
        severity=Severity.WARN,
        claim=f"Cause: κ = {high / low:.2g} (curvatures from {low:.2g} to {high:.2g} here)"
        f"{scales}.",
        measured=high / low,
        limit=ILL_CONDITIONED,
        cause="A step short enough for the steepest direction is far too short for the flattest.",
        advice=other,
        rests_on="Poor conditioning makes learning slow despite strong gradients (lecture C).",
        evidence={"smallest": low, "largest": high, "feature scales": apart},
    )


def scales_apart(objective: Any) -> float:
    """The largest over the smallest scale of a linear problem's features; 1 elsewhere."""
    if not isinstance(objective, LinearProblem) or objective.standardize:
        return 1.0
    return spread(objective.column_squares)


def promised_gain(ending: Ending) -> float:
    """‖∇f‖²/2‖∇²f‖, by which a gradient step should lower f; 0 where that is not known."""
    ends = measure(ending, ending.state.w)
    if ends is None:
        return 0.0
    gradient = ending.state.gradient.astype(np.float64)
    largest = max(ends.norm, ends.rounding)
    return float(gradient @ gradient) / (2.0 * largest) if largest > 0 else math.inf


def measure(ending: Ending, w: np.ndarray) -> Extent | None:
    """The Hessian's two ends at w, if that is affordable and defined there."""
    smooth = known(ending.problem.smooth, "exact") or ending.problem.smooth

    def seconds() -> float:
        started = clock.now()
        product(np.ones(w.size))
        return clock.now() - started

    try:
        with np.errstate(all="ignore"):
            product = _product(smooth, w)
            # The first one may have found cold caches, another may have been interrupted.
            cost = LANCZOS_STEPS * min(seconds() for _ in range(3))
            if cost > max(LEAST_BUDGET, BUDGET * ending.trace.last["seconds"]):
                return None
            rng = np.random.default_rng(0)
            return spectrum_extent(product, w.size, rng=rng, max_steps=LANCZOS_STEPS)
    except InputError:
        return None  # no Hessian here: the explanation does without


def _product(smooth: Any, w: np.ndarray) -> Matvec:
    """v ↦ ∇²f(w)·v, which leaves v alone and returns a vector of its own."""
    if isinstance(smooth, LinearProblem):
        return smooth.hessian_at(smooth.scores(w)).vector
    return lambda v: np.array(smooth.hessian_vector(w, v.astype(w.dtype)))
