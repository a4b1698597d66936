"""What was found, worst first: the claim, its cause, the numbers behind it, and what helps.

Findings of the subject and of its runs are one list; what was found twice is told once. Those that
say that something is in order come last, by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from thalweg.core.finding import Finding, Severity, worst_first
from thalweg.reports.drawing import Detail
from thalweg.reports.markup import (
    BAD,
    GOOD,
    INFO,
    WARN,
    Markup,
    badge,
    element,
    facts,
    folded,
    html_table,
    number,
    section,
    to_copy,
)
from thalweg.reports.subject import Subject

TONES = {Severity.OK: GOOD, Severity.NOTE: INFO, Severity.WARN: WARN, Severity.ACT: BAD}
MOST_NUMBERS = 12  # of the evidence of a finding
MOST_LETTERS = 120  # of one entry of it


def findings_section(subject: Subject, detail: Detail) -> Markup:
    """All findings; nothing where there are none."""
    found = findings_of(subject)
    if not found:
        return Markup()
    bad = [finding for finding in found if finding.severity > Severity.OK]
    parts = [_finding(finding) for finding in bad]
    well = [finding for finding in found if finding.severity == Severity.OK]
    if well:
        rows = [(finding.name, finding.claim) for finding in well]
        parts.append(html_table("In order", ("looked at", "found"), rows))
    return section("findings", "Findings", parts)


def findings_of(subject: Subject) -> list[Finding]:
    """Those of the subject and of its runs, each once, worst first."""
    every = [*subject.findings, *(each for run in subject.runs for each in run.findings)]
    return worst_first(list({(each.name, each.claim): each for each in every}.values()))


def _finding(finding: Finding) -> Markup:
    mark = badge(finding.severity.name.lower(), TONES[finding.severity])
    heading = element("h3", Markup(f"{mark} {element('span', finding.name)}"))
    parts = [heading, element("p", finding.claim)]
    parts.append(facts([("cause", finding.cause), ("rests on", finding.rests_on)], "lines"))
    if finding.advice:
        parts.append(to_copy(finding.advice, "What helps"))
    evidence = list(_evidence(finding))
    if evidence:
        shown = html_table("Evidence", ("measured", "number"), evidence[:MOST_NUMBERS])
        more = len(evidence) - MOST_NUMBERS
        rest = element("p", f"and {more} more", class_="note") if more > 0 else Markup()
        parts.append(folded("The numbers", Markup(shown + rest)))
    return element("article", Markup("".join(parts)), class_=f"finding {TONES[finding.severity]}")


def _evidence(finding: Finding) -> Iterator[tuple[str, str]]:
    """Names and numbers; an entry that has entries is told one by one."""
    yield "measured", number(finding.measured)
    yield "limit", number(finding.limit)
    for name, value in finding.evidence.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}, {key}", _written(entry)) for key, entry in value.items())
        else:
            yield name, _written(value)


def _written(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = ", ".join(map(_written, value)) if isinstance(value, list | tuple) else str(value)
        return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
    return number(float(value))
