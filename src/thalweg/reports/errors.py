"""Where the model errs, on rows that were held out where there are any: the page says which.

First beside others: a constant, and where it is cheap a boosted forest, which shows what a straight
line leaves. Then the confusions of classes, how far probabilities can be believed, and residuals.
"""

from __future__ import annotations

from collections.abc import Mapping

from thalweg.core.explanation import Explanation
from thalweg.core.text import shown
from thalweg.figures import reliability
from thalweg.reports.drawing import Detail, drawing
from thalweg.reports.markup import DENSE, Markup, element, html_table, number, section
from thalweg.reports.subject import Subject

FEW = 6  # classes of a table; more are drawn


def errors_section(subject: Subject, detail: Detail) -> Markup:
    """What is known of the model's errors; nothing of runs that kept none."""
    known = subject.explanation
    if known is None:
        return Markup()
    where = "that it has not seen" if known.rows == "held out" else "that it was trained on"
    parts = [element("p", f"Judged on {known.count:,} {known.rows} rows, {where}.")]
    parts += _beside(known, subject.scores.get(known.rows, {}))
    parts += _confusion(known, detail)
    parts += _calibration(known, detail)
    if len(known.residuals) > 1:
        parts.append(drawing(reliability.residuals(known.residuals), "residuals", detail))
    parts += [element("p", f"{note}.", class_="note") for note in map(_sentence, known.notes)]
    return section("errors", "Where it errs", parts)


def _beside(known: Explanation, own: Mapping[str, float]) -> list[Markup]:
    others = [(each.name, each.scores) for each in known.baselines]
    measures = [name for name in own if all(name in scores for _, scores in others)]
    if not others or not measures:
        return []
    rows = [(name, *(number(scores[m]) for m in measures)) for name, scores in
            [("this model", own), *others]]  # fmt: skip
    heads = ("model", *measures)
    numbers = range(1, len(heads))
    return [html_table("Beside models of other kinds", heads, rows, numbers=numbers, kind="stacks")]


def _confusion(known: Explanation, detail: Detail) -> list[Markup]:
    if not known.confusion:
        return []
    names = [shown(name) for name in known.classes]
    if len(names) > FEW:
        return [drawing(reliability.confusions(known.confusion, names), "confusions", detail)]
    rows = [
        (name, *map(number, counts)) for name, counts in zip(names, known.confusion, strict=True)
    ]
    heads = ("truth", *(f"told {name}" for name in names))
    numbers = range(1, len(heads))
    return [html_table("Rows by truth and by what was told", heads, rows, numbers=numbers,
                       kind=DENSE)]  # fmt: skip


def _calibration(known: Explanation, detail: Detail) -> list[Markup]:
    if not known.calibration:
        return []
    parts = []
    if len(known.calibration) > 1:
        figure = reliability.calibration(known.calibration, shown(known.calibrated))
        parts.append(drawing(figure, "calibration", detail))
    rows = [
        (number(each.told), f"{each.rows:,}", number(each.middle),
         f"{each.low:.2f} to {each.high:.2f}")
        for each in known.calibration
    ]  # fmt: skip
    heads = ("told", "rows", "came true", "95 %")
    caption = f"Probability of {shown(known.calibrated)}, by tenths that have rows"
    return [*parts, html_table(caption, heads, rows, numbers=(1, 2, 3), kind=DENSE)]


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:]
