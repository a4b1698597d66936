"""The verdict: one word on what a run came to, and the few numbers that go with it.

    DIVERGED        the iterates left
    SADDLE          the run stands at a point from which f falls in both directions of a line
    CERTIFIED       the distance from the optimum is proved to be within the tolerance
    CONVERGED       the point is stationary within the tolerance, which proves no more
    FINISHED        a training was done as it was asked to, which proves nothing
    NOT CERTIFIED   anything else: a limit came first

Of several runs the best stands first: by verdict, then those that reached the tolerance by their
time, others by how far they came. Runs on different objectives are not ranked by what they reached.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.outcome import Outcome
from thalweg.core.plan import NOTICED, spelled_compiled, spelled_seconds
from thalweg.core.run import Run
from thalweg.figures.convergence import names
from thalweg.reports.markup import (
    BAD,
    GOOD,
    INFO,
    SIGNS,
    STACKS,
    WARN,
    Markup,
    badge,
    element,
    facts,
    html,
    joined,
    number,
    table,
)
from thalweg.reports.subject import Subject

CERTIFIED, NOT_CERTIFIED, CONVERGED = "CERTIFIED", "NOT CERTIFIED", "CONVERGED"
FINISHED, SADDLE, DIVERGED = "FINISHED", "SADDLE", "DIVERGED"
TONES = {
    CERTIFIED: GOOD, CONVERGED: GOOD, FINISHED: INFO, NOT_CERTIFIED: WARN, SADDLE: BAD,
    DIVERGED: BAD,
}  # fmt: skip


class Verdict(NamedTuple):
    """A word and the sentence behind it."""

    word: str
    sentence: str

    @property
    def tone(self) -> str:
        """Good, bad or in between."""
        return TONES[self.word]


def verdict_of(run: Run, point: Any = None) -> Verdict:
    """What a run came to; `point` says of what kind the point is where it ended, if known."""
    if run.outcome is Outcome.DIVERGED:
        return Verdict(DIVERGED, run.reason)
    if point is not None and point.kind == "saddle":
        return Verdict(SADDLE, f"{point.explanation[:1].upper()}{point.explanation[1:]}.")
    certificate = run.certificate
    if certificate.holds:
        word = CONVERGED if certificate.gap is None else CERTIFIED
        return Verdict(word, f"{run.outcome} {_sentence(certificate.shows)}")
    return Verdict(FINISHED if run.outcome.is_planned else NOT_CERTIFIED, run.reason)


def ranked(runs: Sequence[Run]) -> list[Run]:
    """The runs, best first; equals keep their order."""
    places = list(TONES)
    return sorted(runs, key=lambda run: (places.index(verdict_of(run).word), _left(run)))


def header(subject: Subject) -> Markup:
    """The top of a page: title, verdict, numbers, and why this method."""
    runs = ranked(subject.runs)
    best = runs[0]
    found = verdict_of(best, subject.point)
    head = element("p", "Thalweg report", class_="eyebrow") + element("h1", title_of(subject))
    sign = element("span", SIGNS[found.tone], aria_hidden="true", class_="sign")
    strip = [element("p", Markup(f"{sign} {found.word}"), class_="word")]
    strip += [element("p", winner(runs))] if len(runs) > 1 else []
    strip += [element("p", found.sentence)] if len(runs) == 1 or found.tone != GOOD else []
    parts = [head, element("div", joined(strip), class_=f"verdict {found.tone}")]
    if len(runs) == 1:
        parts.append(facts(_numbers(best), "facts large"))
        parts.append(element("p", why(best), class_="why"))
    else:
        parts.append(standings(runs))
        parts += [element("p", text, class_="note") for text in [_compiled(runs)] if text]
        parts += [element("p", sentence, class_="why") for sentence in [_planned(runs)] if sentence]
    if subject.scores:
        parts.append(scores_table(subject.scores))
    return Markup("".join(parts))


def title_of(subject: Subject) -> str:
    """The title that was given, or the methods and what they minimised."""
    if subject.title:
        return subject.title
    methods = list(dict.fromkeys(run.method for run in subject.runs))
    objectives = list(dict.fromkeys(run.objective for run in subject.runs))
    who = methods[0] if len(methods) == 1 else f"{len(methods)} methods"
    if len(objectives) > 1:
        return f"{who} compared"
    # 569 × 30 and l2 = 0.1 stay on one line.
    return f"{who} on {objectives[0]}".replace(" × ", "\u00a0×\u00a0").replace(
        " = ", "\u00a0=\u00a0"
    )


def why(run: Run) -> str:
    """One sentence on why this method ran."""
    plan = run.plan
    if plan is None:
        return f"{run.method} was asked for; there was no plan."
    able = [row for row in plan.rows if row.eligible]
    row = plan.row(run.method)
    if row is None or not row.eligible:
        return f"{run.method} was asked for; the plan has {plan.best} first."
    predicted = spelled_seconds(row.predicted_seconds)
    others = [other for other in able if other.method != run.method]
    if plan.changes:
        return f"{run.method} ended the run: {'; '.join(plan.changes)}."
    if plan.best != run.method:
        first = able[0]
        return (
            f"{run.method} was asked for; the plan has {first.method} first, with "
            f"{spelled_seconds(first.predicted_seconds)} predicted instead of {predicted}."
        )
    if not others:
        return f"{run.method} was chosen as the only method that can do it."
    second = others[0]
    return (
        f"{run.method} was chosen because it was predicted to be done first: in {predicted}, "
        f"before {second.method} in {spelled_seconds(second.predicted_seconds)}."
    )


def winner(runs: Sequence[Run]) -> str:
    """Who won, of runs that are ranked."""
    called = dict(zip(map(id, runs), names(runs), strict=True))
    first, second = runs[0], runs[1]
    word = verdict_of(first).word
    if len({run.objective for run in runs}) > 1:
        return f"{called[id(first)]} stands first; the runs minimised different objectives."
    if word not in (CERTIFIED, CONVERGED):
        came = f"reached the lowest value, {number(first.value)}"
        return f"None of {len(runs)} runs reached its tolerance; {called[id(first)]} {came}."
    text = f"{called[id(first)]} won: {word.lower()} after {spelled_seconds(first.seconds)}"
    if verdict_of(second).word != word:
        return f"{text}, alone among {len(runs)} runs."
    times = second.seconds / first.seconds if first.seconds > 0 else math.inf
    return f"{text}, {number(times)}× faster than {called[id(second)]}, the second."


def standings(runs: Sequence[Run]) -> Markup:
    """The runs as a table, best first."""
    rows = []
    for run, name in zip(runs, names(runs), strict=True):
        found = verdict_of(run)
        rows.append(
            (
                name,
                badge(found.word.lower(), found.tone),
                number(distance(run)[1]),
                f"{run.value:.6g}",
                number(run.iterations),
                spelled_seconds(run.seconds),
            )
        )
    measures = list(dict.fromkeys(distance(run)[0] for run in runs))
    heads = ("method", "verdict", " or ".join(measures), "value", "iterations", "time")
    return table("Runs, best first", heads, rows, numbers=(2, 3, 4, 5), kind=STACKS)


def distance(run: Run) -> tuple[str, float | None]:
    """How far from the end a run is, and what that measures."""
    if run.certificate.gap is not None:
        return "gap", run.certificate.gap
    if math.isfinite(run.gradient_norm):
        return "‖∇f‖∞", run.gradient_norm
    seen = _last(run, "validation_loss")
    return ("validation loss", seen) if seen is not None else ("gap", None)


def _numbers(run: Run) -> list[tuple[str, str]]:
    label, left = distance(run)
    limit = run.certificate.limit
    pairs: list[tuple[str, str]] = [
        ("method", run.method),
        (label, _within(left, limit) if left is not None else ""),
        ("value", f"{run.value:.6g}"),
        ("time", _time(run)),
        ("iterations", number(run.iterations)),
    ]
    accuracy = _last(run, "validation_accuracy")
    pairs.append(("validation accuracy", f"{accuracy:.4f}" if accuracy is not None else ""))
    return pairs


def _time(run: Run) -> Markup:
    beside = spelled_compiled(run.compiled).removeprefix("; ")
    small = element("span", beside, class_="small") if beside else ""
    return Markup(f"{html(spelled_seconds(run.seconds))}{small}")


def _within(left: float, limit: float) -> Markup:
    if not math.isfinite(limit):
        return html(number(left))
    small = element("span", f"allowed: {limit:.2g}", class_="small")
    return Markup(f"{html(number(left))}{small}")


def scores_table(scores: Mapping[str, Mapping[str, float]]) -> Markup:
    """How good it is, by rows that were predicted and by measure."""
    measures = list(dict.fromkeys(name for each in scores.values() for name in each))
    rows = [
        (name, *(f"{each[measure]:.4g}" if measure in each else "" for measure in measures))
        for name, each in scores.items()
    ]
    heads = ("rows", *measures)
    return table("Scores", heads, rows, numbers=range(1, len(heads)), kind=STACKS)


def _compiled(runs: Sequence[Run]) -> str:
    """What kernels took of those who waited, and no run is charged."""
    seconds = sum(run.compiled for run in runs)
    if seconds < NOTICED:
        return ""
    return f"Compiling took {spelled_seconds(seconds)}, once; it is in none of these times."


def _planned(runs: Sequence[Run]) -> str:
    plan = next((run.plan for run in runs if run.plan is not None), None)
    if plan is None:
        return ""
    first = plan.rows[0]
    return (
        f"The plan had {first.method} first, with {spelled_seconds(first.predicted_seconds)} "
        "predicted."
    )


def _left(run: Run) -> float:
    """What runs of one verdict are ranked by, less being better."""
    if run.certificate.holds:
        return run.seconds
    seen = _last(run, "validation_loss")
    left = run.value if seen is None else seen
    return left if math.isfinite(left) else math.inf


def _last(run: Run, column: str) -> float | None:
    if column not in run.trace.columns:
        return None
    seen = run.trace[column]
    seen = seen[np.isfinite(seen)]
    return float(seen[-1]) if seen.size else None


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
