"""One case fitted by scikit-learn and by Thalweg: seconds, what F each reached, how far from w*.

Each side is fitted once to warm up, which compiles what there is to compile, and is judged by that
fit; then both are timed in turn, five times or as often as two seconds allow, and the shortest
counts. Nothing but `fit` is timed, after a rest: a BLAS lets its threads spin for some 30 ms after
a call, and one side would pay for what the other had called. A fit that takes longer than the limit
is stopped and counted as that long.

    suboptimality   (F − F*)/F*, with F* the smallest F that anything reached
    error           ‖(w − w*)·σ‖∞ / ‖w*·σ‖∞, σ the columns' spreads; of scores on X, about their
                    mean, where F does not tell w* from others (`optimum`)

Of several targets, or several classes against the rest, the worst counts.
"""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import sklearn.linear_model
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning

import thalweg as tw

from .case import CLASSIFIERS, Case, Data, describe
from .objective import Problem, problems
from .optimum import Optimum, optimum

SIDES = ("scikit-learn", "thalweg")
FLAGS = ("SLOW", "INEXACT", "UNTRUE", "FAILED")
REPEATS, SECONDS = 5, 2.0
REST = 0.1  # seconds before each fit that is timed
PROMISED = 1e-6  # Thalweg's tol: what F may be above F* without a warning, by F of a constant
SURE = 1e-10  # largest slack of an optimum that others are judged by


@dataclass
class Fit:
    """What one side did with one case."""

    seconds: float = np.nan
    suboptimality: float = np.nan
    of_null: float = np.nan  # (F − F*) by F of a constant prediction
    error: float = np.nan
    warnings: int = 0  # ConvergenceWarnings of one fit
    other_warnings: list[str] = field(default_factory=list)
    failure: str = ""
    method: str = ""
    coef: np.ndarray | None = None  # [rows, p]; None if there is no fit
    intercept: np.ndarray | None = None  # [rows]


class Verdict(NamedTuple):
    """How good the optimum is that fits are compared with."""

    is_identified: bool  # whether coefficients are compared; else scores
    slack: float  # the largest of its problems

    @property
    def is_sure(self) -> bool:
        """Whether others may be judged by it."""
        return self.slack <= SURE


@dataclass
class Row:
    """One case, fitted by both with their defaults and with one tolerance."""

    case: Case
    shape: str
    outputs: int
    default: dict[str, Fit]
    equal: dict[str, Fit]
    verdict: Verdict

    @property
    def ratio(self) -> float:
        """Thalweg's seconds by scikit-learn's."""
        theirs, ours = (self.default[side].seconds for side in SIDES)
        return ours / theirs

    @property
    def flags(self) -> list[str]:
        """What Thalweg is worse at."""
        theirs, ours = (self.default[side] for side in SIDES)
        if ours.failure:
            return [] if theirs.failure else ["FAILED"]
        if theirs.failure:
            return []
        found = []
        if ours.seconds > (1.5 * theirs.seconds if theirs.seconds >= 0.02 else 0.02):
            found.append("SLOW")
        if ours.coef is None or not self.verdict.is_sure:
            return found
        is_far = not ours.error <= max(1e-6, 10 * theirs.error)
        is_high = not ours.suboptimality <= max(1e-8, theirs.suboptimality)
        if is_far and is_high:
            found.append("INEXACT")
        if not ours.warnings and not ours.of_null <= PROMISED:
            found.append("UNTRUE")
        return found


class TooLongError(Exception):
    """A fit took longer than the limit."""


def compare(case: Case, tolerance: float, limit: float) -> Row:
    """Fit, time and judge one case."""
    data = case.make()
    default = _fit_both(case, data, {}, limit)
    # Who met the limit with the defaults would meet it again.
    known = {side: fit for side, fit in default.items() if fit.seconds >= limit}
    equal = _fit_both(case, data, {"tol": tolerance}, limit, known)
    verdict = _judge(case, data, [*default.values(), *equal.values()])
    return Row(case, describe(data.X), _outputs(case, data), default, equal, verdict)


def _outputs(case: Case, data: Data) -> int:
    """Targets, or classes if they are more than two."""
    if case.model not in CLASSIFIERS:
        return data.y.shape[1] if data.y.ndim > 1 else 1
    classes = len(np.unique(data.y))
    return classes if classes > 2 else 1


def _estimator(side: str, case: Case, extra: dict[str, Any]) -> Any:
    if side == "thalweg":
        home: Any = tw
    else:
        home = sklearn.svm if case.model == "LinearSVC" else sklearn.linear_model
    return getattr(home, case.model)(**case.params, **extra)


def _fit_both(
    case: Case,
    data: Data,
    extra: dict[str, Any],
    limit: float,
    known: Mapping[str, Fit] = MappingProxyType({}),
) -> dict[str, Fit]:
    """Both sides, warmed up and then timed in turn; `known` is not fitted again."""
    fits = {
        side: known[side] if side in known else _warm_up(side, case, data, extra, limit)
        for side in SIDES
    }
    running = [side for side in SIDES if not fits[side].failure and fits[side].seconds < limit]
    spent = dict.fromkeys(running, 0.0)
    first = dict.fromkeys(running, True)
    for _ in range(REPEATS):
        for side in running:
            if not first[side] and spent[side] > SECONDS:
                continue
            took = _timed(side, case, data, extra, limit)
            spent[side] += took
            fit = fits[side]
            fit.seconds, first[side] = took if first[side] else min(fit.seconds, took), False
    return fits


def _warm_up(side: str, case: Case, data: Data, extra: dict[str, Any], limit: float) -> Fit:
    """The fit that is judged; its seconds count only if it met the limit."""
    fit, model = Fit(), _estimator(side, case, extra)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with _limited(limit):
                model.fit(data.X, data.y, **_weights(data))
        except TooLongError:
            fit.seconds = limit
            return fit
        except Exception as error:
            fit.failure = f"{type(error).__name__}: {error}".splitlines()[0]
            return fit
    fit.seconds = time.perf_counter() - start
    fit.warnings = sum(issubclass(w.category, ConvergenceWarning) for w in caught)
    others = {w.category.__name__ for w in caught} - {"ConvergenceWarning"}
    fit.other_warnings = sorted(others)
    methods = np.atleast_1d(getattr(model, "method_", ""))
    fit.method = " ".join(sorted({str(name) for name in methods}))
    fit.coef = np.atleast_2d(model.coef_)
    fit.intercept = np.broadcast_to(np.atleast_1d(model.intercept_), len(fit.coef))
    return fit


def _timed(side: str, case: Case, data: Data, extra: dict[str, Any], limit: float) -> float:
    """Seconds of one more fit."""
    model, weights = _estimator(side, case, extra), _weights(data)
    time.sleep(REST)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        try:
            with _limited(limit):
                model.fit(data.X, data.y, **weights)
        except TooLongError:
            return limit
        return time.perf_counter() - start


def _weights(data: Data) -> dict[str, np.ndarray]:
    return {} if data.weights is None else {"sample_weight": data.weights}


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TooLongError in the main thread when the time is over."""

    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _judge(case: Case, data: Data, fits: list[Fit]) -> Verdict:
    """Fill in what each fit reached, and say what it was compared with."""
    fits = [fit for fit in fits if fit.coef is not None]
    posed = list(problems(case.model, case.params, data))
    optima = [optimum(problem) for problem in posed]
    is_identified, slack = all(best.identified for best in optima), 0.0
    for fit in fits:
        fit.suboptimality = fit.of_null = fit.error = 0.0
    for k, (problem, best) in enumerate(zip(posed, optima, strict=True)):
        rows = slice(None) if problem.K > 1 else slice(k, k + 1)
        points = [problem.enter(fit.coef[rows], fit.intercept[rows]) for fit in fits]
        values = [problem.value(*point) for point in points]
        least = min([best.value, *(value for value in values if np.isfinite(value))])
        # Where an estimator is below it, the optimum was not one, and says so.
        slack = max(slack, best.slack, float((best.value - least) / max(best.value, 1e-300)))
        null = float(problem.null())
        for fit, point, value in zip(fits, points, values, strict=True):
            above = float(value - least) if np.isfinite(value) else np.inf
            share = above / max(float(least), 1e-16 * null)
            fit.suboptimality = max(fit.suboptimality, share)
            fit.of_null = max(fit.of_null, above / null)
            fit.error = max(fit.error, _error(problem, best, point, is_identified))
    return Verdict(is_identified, slack)


def _error(problem: Problem, best: Optimum, point: Any, is_identified: bool) -> float:
    """Of the coefficients in units of the columns' spreads, or of the scores."""
    natural = float(problem.Y.std()) if problem.terms.loss == "squared" else 1.0
    if is_identified:
        varies = (problem.spread > 0)[:, None]
        ours, exact = point[0] * varies, best.u * varies
        if problem.K > 1 and problem.terms.l2 == 0:  # a constant for all classes is free
            ours, exact = (u - u.mean(axis=1, keepdims=True) for u in (ours, exact))
        size = np.abs(exact).max()
    else:
        ours, exact = problem.scores(*point), problem.scores(best.u, best.beta)
        if problem.K > 1:
            ours, exact = (z - z.mean(axis=1, keepdims=True) for z in (ours, exact))
        size = np.abs(exact - exact.mean(axis=0)).max()
    error = float(np.abs(ours - exact).max() / max(size, 1e-15 * natural, 1e-300))
    return error if np.isfinite(error) else np.inf
