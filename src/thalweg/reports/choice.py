"""How the penalty was chosen: the curve, and every point of the grid."""

from __future__ import annotations

from thalweg.core.text import shown
from thalweg.figures.choice import choice
from thalweg.reports.drawing import Detail, drawing
from thalweg.reports.markup import Markup, element, html_table, number, section
from thalweg.reports.subject import Subject

MOST = 30  # rows of the table


def choice_section(subject: Subject, detail: Detail) -> Markup:
    """The section; empty where there was nothing to choose."""
    found = subject.chosen
    if found is None:
        return Markup()
    ranked = sorted(found.points, key=lambda point: point.mean)
    rows = [
        (shown(point.l1), shown(point.l2), number(point.mean), number(point.error),
         "chosen" if point is found.point else "")
        for point in ranked
        if point is found.point or ranked.index(point) < MOST
    ]  # fmt: skip
    kept = [k for k in range(5) if k > 1 or ("l1", "l2")[k] in found.varied]
    heads = ("l1", "l2", found.measure, "standard error", "")
    caption = f"The best {len(rows)} of {len(found.points)}" if len(found.points) > MOST else (
        "All points of the grid"
    )  # fmt: skip
    table = html_table(
        f"{caption}, the least loss on rows left out first",
        [heads[k] for k in kept],
        [[row[k] for k in kept] for row in rows],
        numbers=[place for place, k in enumerate(kept) if k in (2, 3)],
        kind="stacks",
    )
    told = element("p", f"Chosen: {shown(str(found))}.", class_="note")
    return section("choice", "Choice", [told, drawing(choice(found), "choice", detail), table])
