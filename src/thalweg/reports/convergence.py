"""How the runs came down: one figure of each measure over each of iterations, passes and seconds.

Two rows of radio buttons choose the figure that is shown, by CSS alone (`style`); a browser that
does not know `:has` shows all of them. Measures are those that the runs have: the distance from the
optimum, with theory's line dashed, the value, the gradient's norm, and a network's losses.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from thalweg.core.run import Run
from thalweg.figures.convergence import MOST, SUBOPTIMALITY, convergence, names
from thalweg.figures.thinning import LIMIT, thin
from thalweg.reports.drawing import FEWEST, Detail, drawing
from thalweg.reports.markup import Markup, element, joined, section, to_save
from thalweg.reports.subject import Subject

MEASURES = {
    SUBOPTIMALITY: "distance from the optimum",
    "value": "value",
    "training_loss": "training loss",
    "validation_loss": "validation loss",
    "validation_accuracy": "validation accuracy",
    "gradient_norm": "gradient norm",
}
AXES = ("iterations", "passes", "seconds")
BYTES = 12  # that a point takes in a drawing
ROOM = 220_000  # bytes for all figures of this section
ROWS = 1_200  # of the history to save, of all runs


def convergence_section(subject: Subject, detail: Detail) -> Markup:
    """Every measure over every axis; nothing for runs without a history."""
    runs = [each.run for each in subject.ranked if len(each.run.trace) > 1][:MOST]
    measures = measures_of(runs, subject)
    if not measures:
        return Markup()
    points = _points(len(runs), len(measures), detail)
    plots = []
    for row, measure in enumerate(measures):
        for column, axis in enumerate(AXES):
            wide, narrow = (
                convergence(
                    runs, x=axis, y=measure, objective=_objective(subject, runs), limit=limit
                )
                for limit in (points, max(FEWEST, points // 2))
            )
            plot = drawing(
                wide,
                f"{measure}-over-{axis}",
                detail._replace(with_csv=False),
                narrow=narrow,
                title=f"{MEASURES[measure].capitalize()} over {axis}",
            )
            plots.append(element("div", plot, class_=f"plot y{row} x{column}"))
    chosen = _choice("Over", "x", AXES)
    if len(measures) > 1:
        chosen = Markup(_choice("Show", "y", [MEASURES[name] for name in measures]) + chosen)
    else:
        chosen = Markup(_only("y") + chosen)
    parts = [Markup(f'<div class="plots">{chosen}{joined(plots)}</div>')]
    left_out = sum(len(run.trace) > 1 for run in subject.runs) - len(runs)
    if left_out:
        parts.append(element("p", f"{left_out} more runs are not drawn.", class_="note"))
    if detail.with_csv:
        link = to_save(history(runs), "history.csv", "text/csv", "The history as CSV")
        parts.append(element("p", link, class_="note"))
    return section("convergence", "Convergence", parts)


def measures_of(runs: Sequence[Run], subject: Subject) -> list[str]:
    """What all runs have two numbers of at least, in the order of `MEASURES`."""
    if not runs:
        return []
    found = []
    for measure in MEASURES:
        if measure == SUBOPTIMALITY:
            if _has_floor(runs, subject):
                found.append(measure)
        elif all(measure in run.trace.columns for run in runs) and any(
            np.isfinite(run.trace[measure]).sum() > 1 for run in runs
        ):
            found.append(measure)
    if "training_loss" in found and "value" in found:  # the same up to penalties
        found.remove("value")
    return found


def history(runs: Sequence[Run]) -> str:
    """The traces as CSV; of long ones the extremes of each stretch, as the figures have them."""
    columns = [c for c in runs[0].trace.columns if all(c in run.trace.columns for run in runs)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", *columns])
    limit = min(LIMIT, ROWS // len(runs))
    for run, name in zip(runs, names(runs), strict=True):
        value = np.nan_to_num(run.trace["value"])
        kept = thin(run.trace["iteration"], value, limit=limit, log=False)
        for row in zip(*(run.trace[column][kept] for column in columns), strict=True):
            writer.writerow([name, *(f"{x:.6g}" for x in row)])
    return out.getvalue()


def _has_floor(runs: Sequence[Run], subject: Subject) -> bool:
    """Whether a lower bound on f* is known of every objective."""
    if getattr(_objective(subject, runs), "minimum", None) is not None:
        return True
    bounded = {run.objective for run in runs if run.certificate.gap is not None}
    return all(run.objective in bounded for run in runs)


def _objective(subject: Subject, runs: Sequence[Run]) -> object:
    return subject.objective if len({run.objective for run in runs}) == 1 else None


def _points(runs: int, measures: int, detail: Detail) -> int:
    """As many a curve as there is room for; theory may double the curves."""
    curves = runs * measures * len(AXES) * 1.5  # the narrow drawing has half of the points
    return int(min(detail.points, max(FEWEST, ROOM / (BYTES * curves))))


def _choice(legend: str, group: str, labels: Sequence[str]) -> Markup:
    options = []
    for k, label in enumerate(labels):
        checked = 'checked="" ' if k == 0 else ""
        button = f'<input type="radio" name="{group}" value="{group}{k}" {checked}/>'
        options.append(element("label", Markup(button + element("span", label))))
    legend_and_options = joined([element("legend", legend), *options])
    return element("fieldset", legend_and_options, class_="choice")


def _only(group: str) -> Markup:
    """The choice where there is none: made already, and not shown."""
    return Markup(f'<input type="radio" name="{group}" value="{group}0" checked="" hidden="" />')
