"""The top of a page: title, verdict, the few numbers that go with it, and why this method ran.

Of several runs the best stands first (`thalweg.core.ranking`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from thalweg.core.plan import NOTICED, spelled_compiled, spelled_seconds
from thalweg.core.ranking import Contender, held_out_loss, last_seen
from thalweg.core.run import Run
from thalweg.core.verdict import CERTIFIED, CONVERGED, WORDS
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
    html_table,
    joined,
    number,
)
from thalweg.reports.subject import Subject

TONES = dict(zip(WORDS, (GOOD, GOOD, INFO, WARN, WARN, BAD, BAD), strict=True))


def sentence_of(contender: Contender) -> str:
    """What is behind the word: of what is proved, what that shows."""
    word, sentence = contender.verdict
    if word not in (CERTIFIED, CONVERGED):
        return sentence
    shows = contender.run.certificate.shows
    return f"{contender.run.outcome} {shows}{'' if shows.endswith('.') else '.'}"


def header(subject: Subject) -> Markup:
    """The top of a page: title, verdict, numbers, and why this method."""
    best, runs = subject.ranked[0], [each.run for each in subject.ranked]
    word = best.verdict.word
    tone = TONES[word]
    head = element("p", "Thalweg report", class_="eyebrow") + element("h1", title_of(subject))
    sign = element("span", SIGNS[tone], aria_hidden="true", class_="sign")
    strip = [element("p", Markup(f"{sign} {word}"), class_="word")]
    strip += [element("p", winner(subject.ranked))] if len(runs) > 1 else []
    strip += [element("p", sentence_of(best))] if len(runs) == 1 or tone != GOOD else []
    parts = [head, element("div", joined(strip), class_=f"verdict {tone}")]
    if len(runs) == 1:
        parts.append(facts(_numbers(best.run), "facts large"))
        parts.append(element("p", why(best.run), class_="why"))
    else:
        parts.append(standings(subject.ranked))
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


def winner(contenders: Sequence[Contender]) -> str:
    """Who won, of runs that are ranked."""
    runs = [each.run for each in contenders]
    (first, second, *_), (run, other, *_) = names(runs), runs
    word = contenders[0].verdict.word
    if len({run.objective for run in runs}) > 1:
        return f"{first} stands first; the runs minimised different objectives."
    if run.is_training:
        return f"{first} won: {_learnt(contenders[0])}, before {second}, {_learnt(contenders[1])}."
    if word not in (CERTIFIED, CONVERGED):
        came = f"reached the lowest value, {number(run.value)}"
        return f"None of {len(runs)} runs reached its tolerance; {first} {came}."
    text = f"{first} won: {word.lower()} after {spelled_seconds(run.seconds)}"
    if contenders[1].verdict.word != word:
        return f"{text}, alone among {len(runs)} runs."
    times = other.seconds / run.seconds if run.seconds > 0 else math.inf
    return f"{text}, {number(times)}× faster than {second}, the second."


def standings(contenders: Sequence[Contender]) -> Markup:
    """The runs as a table, best first."""
    runs = [each.run for each in contenders]
    rows = []
    for contender, name in zip(contenders, names(runs), strict=True):
        run, word = contender.run, contender.verdict.word
        rows.append(
            (
                name,
                badge(word.lower(), TONES[word]),
                number(distance(run)[1]),
                f"{run.value:.6g}",
                number(run.iterations),
                spelled_seconds(run.seconds),
            )
        )
    measures = list(dict.fromkeys(distance(run)[0] for run in runs))
    heads = ("method", "verdict", " or ".join(measures), "value", "iterations", "time")
    return html_table("Runs, best first", heads, rows, numbers=(2, 3, 4, 5), kind=STACKS)


def distance(run: Run) -> tuple[str, float | None]:
    """How far from the end a run is, and what that measures."""
    if run.certificate.gap is not None:
        return "gap", run.certificate.gap
    if math.isfinite(run.gradient_norm):
        return "‖∇f‖∞", run.gradient_norm
    seen = held_out_loss(run)
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
    accuracy = last_seen(run, "validation_accuracy")
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
    return html_table("Scores", heads, rows, numbers=range(1, len(heads)), kind=STACKS)


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


def _learnt(contender: Contender) -> str:
    """What a training is judged by."""
    score = contender.score
    if score is not None:
        return f"{score.measure} {score.value:.4g} on {score.rows.replace(' ', '-')} rows"
    loss = held_out_loss(contender.run)
    return (
        f"loss {number(contender.run.value)}" if loss is None else f"held-out loss {number(loss)}"
    )
