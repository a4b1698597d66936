"""Run Thalweg on a case, and hold its certificates against the truth.

A certificate says F(w) − F* ≤ gap. Every point x shows F(w) − F* ≥ F(w) − F(x), so the claim is
wrong exactly when

    gap < F(w) − F(x) − (errors of both values)

for the best x that `polish` finds, from w and from afresh. Two sorts of that are counted apart, as
rounding: less than 10⁻⁹ of the gap, the last digits of a float; and less than 10⁻³¹·F(0, 0), what
the last digit of the target is worth, where F* is 0 or nearly so. The claim is tried at the end of
the run, as the run and as `certify` state it, at a point beside it, and at zero.

The problem is the one that was stated: where features are standardized, by `problem.means` and
`problem.scales`, and those are compared with what they should be.
"""

import re
import signal
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from nasty.cases import Case, problem
from nasty.polish import best_constant, joined, polished, start
from nasty.reference import Canonical, canonical, point, standardization, value
from nasty.twofold import Long

TIME_LIMIT = 20.0  # seconds, given to a run
PATIENCE = 180  # seconds, after which a case is given up
ROUNDING = 1e-9  # of a gap: the last digits of a float
DUST = 1e-31  # of F(0, 0): residuals of half a unit in the last place
NO_MINIMUM = re.compile(
    r"no minimum|infimum|not attained|separable|run away|runs away|unbounded", re.I
)


def record(seed: int, tol: float, judging: bool) -> dict[str, Any]:
    """All that is to be known about the case of a seed; numbers, words and lists of them."""
    case = problem(seed)
    facts = {
        "seed": seed,
        "loss": case.loss,
        "penalty": case.penalty,
        "expect": case.expect,
        "description": case.description,
    }
    signal.signal(signal.SIGALRM, overtime)
    signal.alarm(PATIENCE)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        facts |= attempt(case, seed, tol, judging)
    signal.alarm(0)
    facts["warnings"] = sorted({f"{w.category.__name__}: {w.message}" for w in heard})
    return facts


class OvertimeError(Exception):
    """A case took longer than anyone waits."""


def overtime(_signal, _frame):
    """End a case that does not end."""
    raise OvertimeError(f"no answer within {PATIENCE} s")


def attempt(case: Case, seed: int, tol: float, judging: bool) -> dict[str, Any]:
    """Build, run, certify and, if `judging`, judge: what came of it, or where it broke."""
    import thalweg as tw

    facts: dict[str, Any] = {}
    stage = "building"
    try:
        built = tw.LinearProblem(case.X, case.y, **case.arguments)
        stage, began = "running", time.perf_counter()
        run = tw.minimize(
            built, "auto", np.zeros(built.dim), tol=tol, progress=False, time_limit=TIME_LIMIT
        )
        facts |= told(run) | {"seconds": time.perf_counter() - began}
        stage = "certifying"
        claims = [("run", run.w, run.certificate.gap)]
        for name, w in places(run.w, seed):
            claims.append((name, w, tw.certify(built, w).gap))
        facts["gaps"] = {name: gap for name, _, gap in claims}
    except Exception as error:
        return facts | {"exception": confession(error, stage)}
    if judging:
        try:
            signal.alarm(10 * PATIENCE)
            began = time.perf_counter()
            with np.errstate(all="ignore"):
                facts |= judged(case, built, run, claims, tol)
            facts["judge_seconds"] = time.perf_counter() - began
        except OvertimeError:
            facts["judge"] = "the judge took too long"
    return facts


def told(run) -> dict[str, Any]:
    """What a run says about itself."""
    certificate = run.certificate
    return {
        "outcome": run.outcome.name,
        "reason": str(run.reason),
        "method": str(run.method),
        "holds": bool(certificate.holds),
        "gap": certificate.gap,
        "statement": str(certificate.statement),
        "value": float(run.value),
        "says_no_minimum": bool(
            NO_MINIMUM.search(
                f"{run.outcome.name} {run.outcome} {run.reason} {certificate.statement}"
            )
        ),
    }


def places(w: np.ndarray, seed: int) -> list[tuple[str, np.ndarray]]:
    """Where certificates are tried: at w, beside it, and at zero."""
    rng = np.random.default_rng([seed, 1815])
    noise = 10 ** rng.uniform(-9, -1) * rng.standard_normal(w.shape)
    beside = w * (1 + noise) + (w == 0) * noise * np.median(np.abs(w))
    return [("certify", w), ("beside", beside), ("zero", np.zeros_like(w))]


def confession(error: Exception, stage: str) -> dict[str, Any]:
    """An exception, and whether it is a sentence of Thalweg's own about the input."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    own = "thalweg" in Path(where.filename).parts and type(error).__module__.startswith("thalweg")
    return {
        "stage": stage,
        "type": type(error).__name__,
        "message": str(error)[:500],
        "where": f"{Path(where.filename).name}:{where.name}",
        "sentence": bool(own and len(str(error).split()) > 4),
    }


def judged(case: Case, built, run, claims, tol: float) -> dict[str, Any]:
    """The truth about every claim."""
    means, scales = stated(case, built)
    canon = canonical(case, means, scales)
    F0 = value(canon, best_constant(canon)).F
    finite = [(name, w, gap) for name, w, gap in claims if np.all(np.isfinite(w))]
    points = {name: point(canon, w) for name, w, _ in finite}
    values = {name: value(canon, at) for name, at in points.items()}
    zero = value(canon, point(canon, np.zeros_like(run.w)))
    brackets = [polished(canon, x) for x in starts(canon, points)]
    best = min([b.value for b in brackets] + list(values.values()), key=lambda v: v.F)
    bound = max(b.bound for b in brackets)
    facts = {
        "scale": float(F0),
        "zero": float(zero.F),
        "best": float(best.F),
        "bracket": float((best.F - bound) / F0) if F0 > 0 else float(best.F - bound),
        "truth": {name: verdict(gap, values[name], best, bound, zero.F) for name, _, gap in finite},
        "standardizing": standardizing_error(case, means, scales),
    }
    if "run" in values and np.isfinite(run.value):
        facts["value_error"] = float(abs(Long(run.value) - values["run"].F))
    if run.certificate.gap is not None and run.certificate.holds:
        facts["loose"] = bool(Long(run.certificate.gap) > Long(tol) * F0 * (1 + Long(1e-6)))
    return facts


def starts(canon: Canonical, points) -> list[np.ndarray]:
    """Where to polish from: the end of the run, and nowhere in particular."""
    return [joined(canon, points["run"]), start(canon)] if "run" in points else [start(canon)]


def verdict(gap, here, best, bound, zero) -> dict[str, Any]:
    """One claim: what is shown of F(w) − F*, from both sides, and whether the gap is below it."""
    error = here.error + best.error
    shown = here.F - best.F - error
    facts = {"shown": float(shown), "at_most": float(here.F - bound), "error": float(error)}
    if gap is None:
        return facts | {"verdict": "no gap"}
    if np.isnan(gap):
        return facts | {"verdict": "wrong", "excess": float("nan")}
    excess = shown - Long(gap)
    small = max(ROUNDING * shown, DUST * zero)
    word = "right" if excess <= 0 else "rounding" if excess <= small else "wrong"
    return facts | {"verdict": word, "excess": float(excess)}


def stated(case: Case, built):
    """Means and scales of standardizing, as the problem has them."""
    if not case.standardize:
        return None, None
    return np.asarray(built.means, dtype=float), np.asarray(built.scales, dtype=float)


def standardizing_error(case: Case, means, scales) -> float:
    """How far stated means (in deviations) and scales (relatively) are from the true ones."""
    if not case.standardize:
        return 0.0
    true_means, true_scales = standardization(case)
    off = np.abs(scales / true_scales - 1)
    shifted = np.abs(means - true_means) * true_scales
    return float(max(np.max(off), np.max(np.where(off < 1, shifted, 0))))
