"""How to have it again: the command, a script, settings, seed, versions, and the page as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from thalweg.core.storage import to_json
from thalweg.core.text import escaped
from thalweg.figures.convergence import names
from thalweg.reports.drawing import Detail
from thalweg.reports.findings import findings_of
from thalweg.reports.heading import title_of
from thalweg.reports.markup import (
    Markup,
    element,
    facts,
    folded,
    html_table,
    joined,
    section,
    to_copy,
    to_save,
)
from thalweg.reports.subject import Subject

MOST_LETTERS = 300  # of a setting
LATER = ("python", "machine", "date")  # parts of an environment that are no package


def reproduce_section(subject: Subject, detail: Detail) -> Markup:
    """Always there: a run has a seed and options at least."""
    best = subject.ranked[0].run
    parts = []
    if subject.command:
        parts.append(to_copy(subject.command, "Command"))
    if subject.script:
        parts.append(to_copy(subject.script, "The same in Python"))
    environment = dict(best.environment)
    versions = ", ".join(f"{k} {v}" for k, v in environment.items() if k not in LATER[1:])
    seeds = ", ".join(dict.fromkeys(str(run.seed) for run in subject.runs))
    parts.append(
        facts(
            [
                ("seed", seeds),
                ("versions", versions),
                ("machine", environment.get("machine", "")),
                ("date", environment.get("date", "").replace("T", " ")),
            ],
            "lines",
        )
    )
    if subject.settings:
        rows = [(key, _short(value)) for key, value in subject.settings.items()]
        parts.append(folded("Settings", html_table("What was asked", ("setting", "value"), rows)))
    options = [
        (name, _options(run.options))
        for run, name in zip(subject.runs, names(subject.runs), strict=True)
        if run.options
    ]
    if options:
        heads = ("run", "options")
        parts.append(folded("Options", html_table("Options of the methods", heads, options)))
    if subject.notes:
        notes = joined(element("li", note) for note in subject.notes)
        parts += [element("h3", "Notes"), element("ul", notes)]
    link = to_save(as_json(subject), "report.json", "application/json", "Data of this page as JSON")
    parts.append(element("p", link, class_="note"))
    return section("reproduce", "Reproduce", parts)


def as_json(subject: Subject) -> str:
    """What the page says, without histories and weights."""
    runs = []
    for contender in subject.ranked:
        run = contender.run
        certificate = asdict(run.certificate)
        del certificate["evidence"]
        runs.append(
            {
                "method": run.method, "objective": run.objective, "verdict": contender.verdict.word,
                "outcome": run.outcome.name, "reason": run.reason, "value": run.value,
                "iterations": run.iterations, "evaluations": run.evaluations,
                "seconds": run.seconds, "compiled": run.compiled, "tol": run.tol, "seed": run.seed,
                "options": run.options, "counts": run.counts, "certificate": certificate,
                "environment": run.environment,
            }
        )  # fmt: skip
    found = [
        {
            "name": each.name, "severity": each.severity.name, "claim": each.claim,
            "measured": each.measured, "limit": each.limit, "advice": each.advice,
        }
        for each in findings_of(subject)
    ]  # fmt: skip
    page = {
        "title": title_of(subject), "runs": runs, "findings": found, "scores": subject.scores,
        "data": dict(subject.data), "command": subject.command, "settings": subject.settings,
        "notes": subject.notes,
    }  # fmt: skip
    return to_json(page).decode()


def _options(options: Any) -> Markup:
    pairs = [f"<code>{escaped(f'{k}={_short(v)}')}</code>" for k, v in options.items()]
    return joined(map(Markup, pairs), " ")


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
