"""What the model was trained on: rows and columns, their scales, and what scaling does to κ.

Of many features those with the largest and the smallest standard deviation are told: their ratio is
what slows first-order methods down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from thalweg.reports.drawing import Detail
from thalweg.reports.findings import findings_of
from thalweg.reports.markup import Markup, element, facts, html_table, number, section
from thalweg.reports.plan import plan_of
from thalweg.reports.subject import Subject

EACH_END = 5  # features told of each end
Scale = tuple[str, float, float]  # feature, mean, standard deviation


def data_section(subject: Subject, detail: Detail) -> Markup:
    """The data card and the scaling table; nothing where neither is known."""
    parts = []
    if subject.data:
        parts.append(facts(subject.data, "lines"))
    if subject.scaling:
        parts.append(_scaling(subject.scaling))
    conditioning = facts(conditioning_of(subject), "lines")
    if parts and conditioning:
        parts.append(conditioning)
    return section("data", "Data and scaling", parts) if parts else Markup()


def conditioning_of(subject: Subject) -> list[tuple[str, str]]:
    """κ as the data are and, where a finding has measured it, with every feature at deviation 1."""
    pairs: dict[str, str] = {}
    plan = plan_of(subject)
    if plan is not None and "κ" in plan.geometry and math.isfinite(plan.geometry["κ"].value):
        pairs["κ as planned"] = number(plan.geometry["κ"].value)
    for finding in findings_of(subject):
        known = finding.evidence
        for key, label in (
            ("kappa", "κ as the data are"),
            ("kappa standardized", "κ with every feature at deviation 1"),
        ):
            if isinstance(known.get(key), float) and math.isfinite(known[key]):
                pairs.setdefault(label, number(known[key]))
    return list(pairs.items())


def _scaling(scaling: Sequence[Scale]) -> Markup:
    ordered = sorted(scaling, key=lambda scale: -scale[2])
    moving = [scale for scale in ordered if scale[2] > 0]
    shown = ordered
    caption = "Features by standard deviation"
    if len(ordered) > 2 * EACH_END:
        shown = [*ordered[:EACH_END], *ordered[-EACH_END:]]
        caption += f": the {EACH_END} largest and the {EACH_END} smallest of {len(ordered):,}"
    rows = [(name, number(mean), number(deviation)) for name, mean, deviation in shown]
    heads = ("feature", "mean", "standard deviation")
    parts = html_table(caption, heads, rows, numbers=(1, 2))
    if moving:
        ratio = number(moving[0][2] / moving[-1][2])
        text = f"The largest deviation is {ratio} times the smallest that is not zero."
        parts = Markup(parts + element("p", text, class_="note"))
    return parts
