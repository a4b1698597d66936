"""What a plan predicted, beside what happened: seconds and iterations of each method.

Bars on a log axis, as methods differ by orders of magnitude. The method that ran has a second bar,
outlined, for what it took, with the ratio of both in brackets. A theorem's
bound is not drawn here: it stands in the plan's table.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.core.plan import Plan, PlanRow, spelled_seconds
from thalweg.core.run import Run
from thalweg.figures.spec import LOG, Axis, Bars, Figure, Panel
from thalweg.figures.styles import BLUE, DASHED, VERMILION, Style

SHOWN = 8
PREDICTED, ACTUAL = Style(BLUE), Style(VERMILION, DASHED)


def plan_and_actual(plan: Plan | Run) -> Figure:
    """Draw a plan, or that of a run that was chosen by one."""
    plan = _plan(plan)
    able = [row for row in plan.rows if row.eligible and math.isfinite(row.predicted_seconds)]
    if not able:
        raise InputError("plan must have a method that can do it, got one in which none can")
    rows = able[:SHOWN]
    rows += [row for row in able[SHOWN:] if row.actual_seconds is not None]
    seconds = _panel(
        "seconds",
        rows,
        [row.predicted_seconds for row in rows],
        [row.actual_seconds for row in rows],
        [spelled_seconds(row.predicted_seconds) for row in rows],
        [_seconds_label(row) for row in rows],
    )
    iterations = _panel(
        "iterations",
        rows,
        [row.predicted_iterations for row in rows],
        [row.actual_iterations for row in rows],
        [f"{row.predicted_iterations:,.0f}" for row in rows],
        [f"{row.actual_iterations or 0:,}" for row in rows],
    )
    notes = []
    if len(rows) < len(able):
        notes.append(f"showing {len(rows)} of {len(able)} methods, the cheapest")
    if any(row.actual_seconds is not None for row in rows):
        notes.append("In brackets: actual by predicted")
    return Figure(
        f"Predicted and actual cost: {plan.problem}",
        (seconds, iterations),
        _summary(rows),
        tuple(notes),
        columns=2,
    )


def _plan(plan: Any) -> Plan:
    found = plan.plan if isinstance(plan, Run) else plan
    if found is None:
        raise InputError(
            'plan must be a plan, got a run that was not chosen by one: run with method="auto", '
            "or draw tw.plan(problem)"
        )
    if not isinstance(found, Plan):
        raise InputError(f"plan must be a plan or a run with one, got {describe(plan)}")
    return found


def _panel(
    what: str,
    rows: list[PlanRow],
    predicted: list[float],
    actual: list[Any],
    predicted_labels: list[str],
    actual_labels: list[str],
) -> Panel:
    """Two bars in the row of a method that ran, one in the others."""
    ran = np.array([value is not None for value in actual])
    at = np.arange(len(rows), dtype=float)
    shift = 0.21 if ran.any() else 0.0
    thickness = 0.38 if ran.any() else 0.7
    bars = [
        Bars(
            "predicted", at - shift * ran, np.array(predicted, float), PREDICTED, thickness,
            tuple(predicted_labels),
        ),
        Bars(
            "actual", at[ran] + shift, np.array([v for v in actual if v is not None], float),
            ACTUAL, thickness, tuple(t for t, did in zip(actual_labels, ran, strict=True) if did),
        ),
    ]  # fmt: skip
    values = np.concatenate([bar.values for bar in bars])
    least = float(values[values > 0].min(initial=1.0))
    methods = tuple(row.method for row in rows)
    x = Axis(what, LOG, low=least / 4.0)  # bars need a length: they begin left of the least
    marks = tuple(bar for bar in bars if len(bar.values))
    return Panel(x, Axis("", categories=methods), marks, title=what)


def _seconds_label(row: PlanRow) -> str:
    if row.actual_seconds is None:
        return ""
    return f"{spelled_seconds(row.actual_seconds)} ({_times(row)})"


def _times(row: PlanRow) -> str:
    """Actual by predicted seconds."""
    assert row.actual_seconds is not None
    times = row.actual_seconds / row.predicted_seconds if row.predicted_seconds else math.inf
    return f"{times:.1f}×" if times < 10.0 else f"{times:,.0f}×"


def _summary(rows: list[PlanRow]) -> str:
    sentences = []
    for row in rows:
        text = f"{row.method}: {row.predicted_iterations:,.0f} iterations in "
        text += f"{spelled_seconds(row.predicted_seconds)} predicted"
        if row.actual_seconds is not None:
            text += (
                f", {row.actual_iterations or 0:,} in {spelled_seconds(row.actual_seconds)} "
                f"taken, {_times(row)}"
            )
        sentences.append(text + ".")
    return " ".join(sentences)
