"""What matters to the model: its coefficients, and how much worse it answers without a column.

A coefficient says what one number does while all others stay; importance says what the model loses
where a column is shuffled. They differ where columns say the same: then coefficients may be large
against each other, and neither column important.
"""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.core.coefficient import Coefficient, coefficients_csv
from thalweg.core.explanation import RAISES, Shuffled
from thalweg.core.text import shown
from thalweg.figures.ranked_bars import ranked_bars
from thalweg.reports.drawing import Detail, drawing
from thalweg.reports.markup import Markup, element, html_table, number, section, to_save
from thalweg.reports.subject import Subject

MOST = 20  # rows of a table
LETTERS = 30  # of a name in a figure


def matters_section(subject: Subject, detail: Detail) -> Markup:
    """Coefficients and importance, as far as there are any."""
    parts = []
    known = subject.explanation
    if subject.coefficients:
        parts += _coefficients(subject.coefficients, detail)
    if known is not None and known.importance is not None and known.importance.columns:
        parts += _importance(known.importance, known.rows, detail)
    return section("matters", "What matters", parts) if parts else Markup()


def _coefficients(found: Sequence[Coefficient], detail: Detail) -> list[Markup]:
    has_scale = found[0].per_deviation is not None
    several = len({each.output for each in found}) > 1
    names = [_short(f"{each.feature} ({each.output})" if several else each.name) for each in found]
    values = [each.per_unit if each.per_deviation is None else each.per_deviation for each in found]
    output = "" if several else found[0].output
    what = f"log odds of {shown(output)}" if output else "score" if several else "prediction"
    axis = f"change of the {what}, per {'standard deviation' if has_scale else 'unit'}"
    parts = [
        drawing(
            ranked_bars("Largest coefficients", names, values, axis),
            "coefficients",
            detail._replace(with_csv=False),
        ),
    ]
    heads = ["feature", "class", "against", "per unit", "per deviation", "standard error"]
    rows = [
        (shown(each.feature), _name(each.output), _name(each.reference), number(each.per_unit),
         number(each.per_deviation), number(each.error))
        for each in found[:MOST]
    ]  # fmt: skip
    kept = [k for k in range(6) if k in (0, 3) or any(row[k] not in ("", "—") for row in rows)]
    caption = f"The largest {len(rows)} of {len(found):,}" if len(found) > MOST else "All of them"
    parts.append(
        html_table(
            f"{caption}, by their size per standard deviation of the column",
            [heads[k] for k in kept],
            [[row[k] for k in kept] for row in rows],
            numbers=[place for place, k in enumerate(kept) if k >= 3],
            kind="stacks",
        )
    )
    told = f"Each is what the {what} changes by while all other columns stay."
    if any(each.reference for each in found):
        told += " A category is measured against the most frequent one of its column."
    if not any(each.error is not None for each in found):
        told += " A penalty pulls them towards zero, and how sure they are is not known here."
    parts.append(element("p", told, class_="note"))
    if detail.with_csv:
        link = to_save(
            coefficients_csv(found), "coefficients.csv", "text/csv", "Coefficients as CSV"
        )
        parts.append(element("p", link, class_="note"))
    return parts


def _importance(found: Shuffled, rows: str, detail: Detail) -> list[Markup]:
    change = "rise" if found.measure in RAISES else "fall"
    names = [_short(each.column) for each in found.columns]
    values = [each.mean for each in found.columns]
    axis = f"{change} of {found.measure} where the column is shuffled"
    told = [
        (shown(each.column), number(each.mean), f"± {number(each.spread)}",
         "yes" if each.is_clear else "no")
        for each in found.columns[:MOST]
    ]  # fmt: skip
    count = len(found.columns)
    caption = f"{change.capitalize()} of {found.measure}, which is {number(found.score)} as it is"
    if count > MOST:
        caption += f": the {MOST} largest of {count:,} columns"
    note = (
        f"Each column was shuffled {found.repeats} times in {found.rows:,} {rows} rows; ± is the "
        "standard deviation over the shuffles, and what lies within twice that may be nothing. "
        "Of columns that say the same, each may be small: the other stays."
    )
    return [
        drawing(
            ranked_bars("Importance of columns", names, values, axis, ("worse", "better")),
            "importance",
            detail,
        ),
        html_table(caption, ("column", change, "spread", "clear"), told, numbers=(1, 2)),
        element("p", note, class_="note"),
    ]


def _name(text: str) -> str:
    """A cell with a name; an empty one has no head on narrow screens."""
    return shown(text) if text else Markup()


def _short(name: str) -> str:
    name = shown(name)
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"
