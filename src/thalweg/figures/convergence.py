"""How a run, or several, came down: a measure of distance over iterations, passes or seconds.

    suboptimality   f(w_t) − ℓ, with ℓ ≤ f* the best lower bound known: f* itself where the
                    objective knows it, else the largest f(w) − gap over the certificates of the
                    runs on that objective. At most so far from f*, and flat at the gap in the end.
    others          a column of the trace: value, gradient_norm, gap, or one that a network has

Distances have a log axis, and so have others that span more than a factor of 20; x has one where
runs differ in length by as much. Theory's line (`bounds`) is in the colour of its run, thin and
broken; runs on one objective share what a plan of any of them knows of it. The tolerance is a
dotted grey line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.checks import check_choice, check_count, describe
from thalweg.core.errors import InputError, suggest
from thalweg.core.objective import known
from thalweg.core.run import Run
from thalweg.figures.bounds import theory
from thalweg.figures.spec import LINEAR, LOG, Axis, Curve, Figure, Guide, Mark, Panel
from thalweg.figures.styles import style_of, theory_of
from thalweg.figures.thinning import LIMIT, said, said_of_many, thin

X_AXES = {"iterations": "iteration", "passes": "passes", "seconds": "seconds",
          "evaluations": "evaluations"}  # fmt: skip
X_LABELS = {"passes": "passes over the data", "evaluations": "gradient evaluations"}
SUBOPTIMALITY = "suboptimality"
LABELS = {
    SUBOPTIMALITY: "f(w) − f*, at most",
    "value": "f(w)",
    "gradient_norm": "‖∇f(w)‖∞",
    "gap": "duality gap, or other bound on f(w) − f*",
}
DISTANCES = (SUBOPTIMALITY, "gradient_norm", "gap")  # to 0: their digits matter
FAR_APART = 20.0  # times longer: then x is logarithmic
MOST = 12  # runs of one figure


def convergence(
    runs: Run | Sequence[Run],
    *,
    x: str = "iterations",
    y: str | None = None,
    objective: Any = None,
    x_scale: str | None = None,
    limit: int = LIMIT,
) -> Figure:
    """Draw runs beside each other.

    Parameters
    ----------
    x
        "iterations", "passes", "seconds" or "evaluations".
    y
        "suboptimality" or a column of the trace; left out, the first that all runs have:
        suboptimality, then value.
    objective
        What was minimised, for theory's line and f* where it knows them.
    x_scale
        "linear" or "log".
    limit
        Points of a curve at most.
    """
    every = check_runs(runs)
    limit = check_count("limit", limit, at_least=4)
    if objective is not None and len({run.objective for run in every}) > 1:
        raise InputError(
            "objective must be that of all runs, got runs on several: leave it out, or draw the "
            "runs on each in a figure of their own"
        )
    column = X_AXES[check_choice("x", x, tuple(X_AXES))]
    floors = _floors(every, objective)
    y = _measure(every, y, floors)
    scale = _x_scale(every, column, x_scale)
    heights = [_heights(run, y, floor) for run, floor in zip(every, floors, strict=True)]
    y_scale = LOG if y in DISTANCES or _spans_decades(heights) else LINEAR
    marks: list[Mark] = []
    notes: list[str] = []
    left_out: dict[str, tuple[int, int]] = {}
    geometries = {run.objective: run.plan.geometry for run in every if run.plan}
    for run, name, height, floor in zip(every, names(every), heights, floors, strict=True):
        style = style_of(run.method, _repeat(every, run))
        curve = thinned(run.trace[column], height, scale, y_scale, limit)
        marks.append(Curve(name, curve.x, curve.y, style))
        left_out[name] = (len(curve.x), curve.of)
        notes += [note for note in (_hidden(name, curve, y_scale), _stride(run, name)) if note]
        if y != SUBOPTIMALITY:
            continue
        line = theory(run, _initial_gap(run, floor), objective, geometries.get(run.objective))
        if line:
            shown = thinned(run.trace[column], line.values, scale, y_scale, limit)
            label = f"{name}, theory: {line.formula}"
            marks.append(Curve(label, shown.x, shown.y, theory_of(style)))
            if run.method == "nesterov":
                notes.append(f"{name}: the theorem is about the points before the look ahead")
    marks += _tolerance(every, y)
    notes = said_of_many(left_out) + notes
    if scale == LOG and any(run.trace[column][0] == 0 for run in every):
        notes.append(f"The start, at 0 {x}, has no place on a log axis")
    panel = Panel(
        Axis(X_LABELS.get(x, x), scale),
        Axis(LABELS.get(y, y.replace("_", " ")), y_scale),
        tuple(marks),
    )
    return Figure(title(every), (panel,), _summary(every, heights), tuple(dict.fromkeys(notes)))


def check_runs(runs: Any) -> list[Run]:
    """One run or several as a list of them."""
    every = [runs] if isinstance(runs, Run) else runs
    if not isinstance(every, list | tuple) or not every:
        raise InputError(f"runs must be a run or a list of runs, got {describe(runs)}")
    for run in every:
        if not isinstance(run, Run):
            raise InputError(f"runs must hold runs of tw.minimize, got {describe(run)}")
        if not len(run.trace):
            raise InputError(f"runs must have a history, got one of {run.method} without rows")
    if len(every) > MOST:
        raise InputError(
            f"runs must be at most {MOST}, got {len(every)}: more curves cannot be told apart, "
            "draw them in several figures"
        )
    return list(every)


class Shown(NamedTuple):
    """The points that a figure shows of a curve."""

    x: np.ndarray
    y: np.ndarray
    of: int  # points that could be shown
    hidden: int  # points that could not

    def notes(self, name: str, y_scale: str) -> list[str]:
        """What is said of those left out."""
        told = (said(name, len(self.x), self.of), _hidden(name, self, y_scale))
        return [note for note in told if note]


def thinned(
    x: np.ndarray,
    y: np.ndarray,
    x_scale: str = LINEAR,
    y_scale: str = LINEAR,
    limit: int = LIMIT,
) -> Shown:
    """The points of a curve that axes of these scales can show, so many at most."""
    known_y = ~np.isnan(y)
    shown = known_y & np.isfinite(x) & np.isfinite(y)
    if y_scale == LOG:
        shown &= y > 0
    if x_scale == LOG:
        known_y &= x > 0
        shown &= x > 0
    hidden = int(np.sum(known_y & ~shown))
    x, y = x[shown], y[shown]
    kept = thin(x, y, limit=limit, log=x_scale == LOG)
    return Shown(x[kept], y[kept], len(x), hidden)


def _hidden(name: str, shown: Shown, y_scale: str) -> str:
    if not shown.hidden:
        return ""
    what = "not finite or not above 0" if y_scale == LOG else "not finite"
    points = "1 point is" if shown.hidden == 1 else f"{shown.hidden:,} points are"
    return f"{name}: {points} {what}, and not shown"


def names(runs: Sequence[Run]) -> list[str]:
    """What each run is called in a legend: its method, and what tells it from its like."""
    found = []
    for run in runs:
        like = [other for other in runs if other.method == run.method]
        differing = [
            f"{key}={value}"
            for key, value in run.options.items()
            if any(other.options.get(key) != value for other in like)
        ]
        if not differing and len({other.seed for other in like}) > 1:
            differing = [f"seed={run.seed}"]
        found.append(f"{run.method} ({', '.join(differing)})" if differing else run.method)
    return [
        name if found.count(name) == 1 else f"{name} #{found[: k + 1].count(name)}"
        for k, name in enumerate(found)
    ]


def title(runs: Sequence[Run]) -> str:
    """The methods, each once, and what they minimised."""
    methods = ", ".join(dict.fromkeys(run.method for run in runs))
    objectives = list(dict.fromkeys(run.objective for run in runs))
    return f"{methods} on {objectives[0]}" if len(objectives) == 1 else methods


def _repeat(runs: Sequence[Run], run: Run) -> int:
    """Earlier runs of the same method."""
    place = next(k for k, other in enumerate(runs) if other is run)
    return sum(other.method == run.method for other in runs[:place])


def _floors(runs: Sequence[Run], objective: Any) -> list[float | None]:
    """For each run the best lower bound on f* of its objective."""
    minimum = known(objective, "minimum")
    if minimum is not None:
        return [float(minimum)] * len(runs)
    best: dict[str, float] = {}
    for run in runs:
        gap = run.certificate.gap
        if gap is not None and math.isfinite(gap):
            best[run.objective] = max(best.get(run.objective, -math.inf), run.value - gap)
    return [best.get(run.objective) for run in runs]


def _measure(runs: Sequence[Run], y: str | None, floors: Sequence[float | None]) -> str:
    has_floor = all(floor is not None for floor in floors)
    if y is None:
        return SUBOPTIMALITY if has_floor else "value"
    if y == SUBOPTIMALITY and not has_floor:
        raise InputError(
            'y must be a column that the runs have, got "suboptimality" without a lower bound on '
            'f*: pass objective=… if it knows its minimum, or take y="value"'
        )
    columns = set.intersection(*(set(run.trace.columns) for run in runs)) | {SUBOPTIMALITY}
    if y not in columns:
        raise InputError(f"y must be a known column, got {y!r}: {suggest(str(y), columns)}")
    return y


def _heights(run: Run, y: str, floor: float | None) -> np.ndarray:
    if y != SUBOPTIMALITY:
        return run.trace[y]
    assert floor is not None
    return run.trace["value"] - floor


def _initial_gap(run: Run, floor: float | None) -> float | None:
    if floor is None or not math.isfinite(run.trace["value"][0]):
        return None
    return max(0.0, float(run.trace["value"][0]) - floor)


def _spans_decades(heights: Sequence[np.ndarray]) -> bool:
    flat = np.concatenate(heights)
    flat = flat[np.isfinite(flat)]
    return bool(flat.size and flat.min() > 0 and flat.max() > 20.0 * flat.min())


def _x_scale(runs: Sequence[Run], column: str, given: str | None) -> str:
    if given is not None:
        return check_choice("x_scale", given, (LINEAR, LOG))
    ends = [run.trace[column][-1] for run in runs]
    positive = [end for end in ends if end > 0]
    far = len(positive) > 1 and max(positive) > FAR_APART * min(positive)
    return LOG if far else LINEAR


def _stride(run: Run, name: str) -> str:
    stride = run.trace.stride
    return f"{name}: every {stride}th iteration was recorded" if stride > 1 else ""


def _tolerance(runs: Sequence[Run], y: str) -> list[Mark]:
    """The limits that the certificates held the runs to, where y is what they measure."""
    measured = {"gradient_norm": "stationarity", "gap": "duality gap", SUBOPTIMALITY: "duality gap"}
    limits = {
        run.certificate.limit
        for run in runs
        if run.certificate.kind == measured.get(y) and run.certificate.limit > 0
    }
    return [Guide(f"tolerance {limit:.2g}", limit) for limit in sorted(limits)]


def _summary(runs: Sequence[Run], heights: Sequence[np.ndarray]) -> str:
    sentences = []
    for run, name, height in zip(runs, names(runs), heights, strict=True):
        seen = height[np.isfinite(height)]
        course = f"{seen[0]:.3g} → {seen[-1]:.3g}" if seen.size else "nothing to show"
        sentences.append(
            f"{name}: {course} in {run.iterations:,} iterations and {run.seconds:.3g} s, "
            f"{run.outcome.word.lower()}."
        )
    return " ".join(sentences)
