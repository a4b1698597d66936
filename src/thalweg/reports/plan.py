"""The plan beside what happened: predicted and actual cost of each method, and their ratio.

A ratio is judged by its factor, whichever of both is larger: within 2 the prediction was close,
within 10 it was off, beyond that far off. Runs that ended before their tolerance have no ratio: the
plan predicts the whole way, and they say "early".
"""

from __future__ import annotations

import math

from thalweg.core.plan import EXACT, Measured, Plan, PlanRow, spelled_compiled, spelled_seconds
from thalweg.core.run import Run
from thalweg.figures.plan_and_actual import SHOWN, plan_and_actual
from thalweg.reports.drawing import Detail, drawing
from thalweg.reports.markup import (
    BAD,
    DENSE,
    GOOD,
    WARN,
    Markup,
    badge,
    element,
    facts,
    folded,
    html,
    html_table,
    joined,
    number,
    section,
)
from thalweg.reports.subject import Subject

CLOSE, OFF = 2.0, 10.0  # factors


def plan_section(subject: Subject, detail: Detail) -> Markup:
    """What was predicted, with what each run took; nothing where there was no plan."""
    plan = plan_of(subject)
    if plan is None:
        return Markup()
    done = {run.method for run in subject.runs if run.outcome.succeeded}
    able = [row for row in plan.rows if row.eligible]
    rows = [row for k, row in enumerate(able) if k < SHOWN or row.actual_seconds is not None]
    parts = [
        _table(rows, done),
        element("p", _legend(rows, plan), class_="note"),
        *(element("p", text, class_="note") for text in (plan.advice, *plan.changes) if text),
        facts([(name, _measured(value)) for name, value in plan.geometry.items()]),
    ]
    if any(math.isfinite(row.predicted_seconds) for row in rows):
        drawn = drawing(plan_and_actual(plan), "plan", detail, title="Predicted and actual cost")
        parts.append(folded("The same as a figure", drawn))
    refused = [row for row in plan.rows if not row.eligible]
    if refused:
        lines = [
            element("li", Markup(f"{element('b', row.method)}: {html(row.remark)}"))
            for row in refused
        ]
        parts.append(folded("Methods that cannot do it", element("ul", joined(lines))))
    return section("plan", "Plan beside actual", parts)


def plan_of(subject: Subject) -> Plan | None:
    """The first plan that a run has, with what all runs on its problem took."""
    planned = next((run for run in subject.runs if run.plan is not None), None)
    if planned is None or planned.plan is None:
        return None
    plan = planned.plan
    for run in _one_each(subject.runs, planned.objective):
        if any(row.method == run.method for row in plan.rows):
            plan = plan.after(run.method, run.iterations, run.seconds)
    return plan


def _one_each(runs: tuple[Run, ...], objective: str) -> list[Run]:
    """For each method its fastest run on the objective, those that reached the tolerance first."""
    alike = [run for run in runs if run.objective == objective]
    alike.sort(key=lambda run: (not run.outcome.succeeded, run.seconds))
    return list({run.method: run for run in reversed(alike)}.values())


def ratio_badge(ratio: float) -> Markup:
    """Actual by predicted, and how good that is."""
    factor = max(ratio, 1.0 / ratio) if ratio > 0 else math.inf
    text = f"{ratio:.2g}×" if ratio < 10.0 else f"{ratio:,.0f}×"
    return badge(text, GOOD if factor <= CLOSE else WARN if factor <= OFF else BAD)


def _table(rows: list[PlanRow], done: set[str]) -> Markup:
    heads: tuple[str, ...] = ("method", "predicted", "actual", "ratio")
    cells = [_cells(row, row.method in done) for row in rows]
    if any(row.bound is not None for row in rows):
        heads = (heads[0], "at most", *heads[1:])
        cells = [(c[0], _bound(row), *c[1:]) for c, row in zip(cells, rows, strict=True)]
    caption = "Predicted and actual cost, the cheapest first"
    return html_table(caption, heads, cells, numbers=range(1, len(heads)), kind=DENSE)


def _legend(rows: list[PlanRow], plan: Plan) -> str:
    words = "Predicted: usual counts, at the rates of the machine. "
    if any(row.bound is not None for row in rows):
        words = "At most: iterations that a theorem guarantees with the L and μ below. " + words
    if any(row.actual_seconds is not None for row in rows):
        words += (
            "Ratio: actual by predicted time; ✓ within 2, ! within 10, ✕ beyond, early where a run "
            "ended before its tolerance. "
        )
    took = f"{spelled_seconds(plan.seconds)}{spelled_compiled(plan.compiled)}"
    return f"{words}Planning took {took}."


def _bound(row: PlanRow) -> str:
    return "—" if row.bound is None else f"{_count(row.bound)} it"


def _cells(row: PlanRow, is_done: bool) -> tuple[str | Markup, ...]:
    predicted = _cost(row.predicted_seconds, row.predicted_iterations)
    if row.actual_seconds is None or row.actual_iterations is None:
        return row.method, predicted, "", ""
    ratio: str | Markup = "early"
    if is_done and row.predicted_seconds > 0 and math.isfinite(row.predicted_seconds):
        ratio = ratio_badge(row.actual_seconds / row.predicted_seconds)
    return row.method, predicted, _cost(row.actual_seconds, row.actual_iterations), ratio


def _cost(seconds: float, iterations: float) -> Markup:
    small = element("span", f"{_count(iterations)} it", class_="small")
    return Markup(f"{html(spelled_seconds(seconds))} {small}")


def _measured(measured: Measured) -> str:
    sign = "" if measured.how == EXACT else f"{str(measured)[0]} "
    return f"{sign}{number(measured.value)}"


def _count(iterations: float) -> str:
    return number(iterations if math.isinf(iterations) else round(iterations))
