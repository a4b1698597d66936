"""What came of a training: predicted beside actual, the verdict, scores, and where it all is.

A run and a race of several are shown alike: a race has more rows, and a winner.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from thalweg.cli.screen import BAD, DOUBTFUL, GOOD, Column, Screen, grid
from thalweg.cli.wording import as_typed
from thalweg.core.verdict import WORDS

if TYPE_CHECKING:
    from thalweg.core.finding import Finding
    from thalweg.core.plan import PlanRow
    from thalweg.core.run import Run
    from thalweg.runs.saved import Saved

COLUMNS = (
    Column("method"),
    Column("predicted", is_right=True, rank=2),
    Column("actual", is_right=True),
    Column("ratio", is_right=True, rank=1),
    Column("time predicted", is_right=True, rank=4),
    Column("took", is_right=True, rank=0),
    Column("certificate", rank=3),
)
NETWORK_COLUMNS = (
    Column("optimizer"),
    Column("steps", is_right=True),
    Column("took", is_right=True),
    Column("loss", is_right=True, rank=1),
    Column("scores", rank=2),
)
TONES = dict(zip(WORDS, (GOOD, GOOD, GOOD, DOUBTFUL, DOUBTFUL, BAD, BAD), strict=True))
DIGITS = 4  # of a score
BEFORE = ("held out", "mean over folds", "standard deviation over folds", "training")  # of scores


def text(screen: Screen, saved: Any) -> str:
    """What a person reads of a run or a race."""
    done = [each for each in saved.members if each.result is not None]
    best = saved.best
    rows = [network_row(each) if each.job.is_network else linear_row(each) for each in done]
    columns = NETWORK_COLUMNS if best.job.is_network else COLUMNS
    lines = [
        grid(screen, columns, rows, [TONES[each.contender.verdict.word] for each in done]),
        "",
    ]
    lines.append(verdict_line(screen, best, of_many=len(done) > 1))
    lines += [screen.labelled("chosen", each) for each in chosen_sentences(best)]
    for rows_, measures in ordered(best.scores):
        lines.append(screen.labelled("score", f"{rows_}: {spelled_scores(measures)}"))
    worth = [each for each in best.findings if each.severity.name in ("ACT", "WARN")]
    if worth:
        names = ", ".join(each.name for each in worth)
        lines.append(screen.labelled("findings", f"{names}: thalweg diagnose {best.folder}"))
    missing = len(getattr(saved, "methods", done)) - len(done)
    if missing:
        lines.append(screen.labelled("left", f"{missing} not begun or not finished"))
    if beside := compiling(done):
        lines.append(screen.labelled("compiled", beside))
    lines.append(screen.labelled("saved", str(saved.folder)))
    page = saved.folder / "report.html"
    if page.exists():
        lines.append(screen.labelled("report", str(page)))
    return "\n".join(lines)


def verdict_line(screen: Screen, saved: Saved, *, of_many: bool = False) -> str:
    """The word, what it rests on and, where it is not certified, why and what would help."""
    word, sentence = saved.contender.verdict
    who = f"{saved.run.method}: " if of_many else ""
    first, *rest = screen.wrapped(f"{word}  {who}{as_typed(sentence)}", hanging=2)
    return "\n".join([screen.paint(word, TONES[word]) + first[len(word) :], *rest])


def linear_row(saved: Saved) -> tuple[str, ...]:
    """Predicted beside actual."""
    from thalweg.core.plan import spelled_count, spelled_seconds

    run, row = saved.run, planned(saved.run)
    hoped = None if row is None or not math.isfinite(row.predicted_iterations) else row
    name = saved.job.method if saved.job.method != "auto" else run.method
    return (
        name,
        "" if hoped is None else f"{spelled_count(hoped.predicted_iterations)} it",
        f"{spelled_count(run.iterations)} it",
        "" if hoped is None else spelled_ratio(run.iterations, hoped.predicted_iterations),
        "" if hoped is None else spelled_seconds(hoped.predicted_seconds),
        spelled_seconds(run.seconds),
        certificate(run),
    )


def network_row(saved: Saved) -> tuple[str, ...]:
    """Steps, time, loss and the first score."""
    from thalweg.core.plan import spelled_count, spelled_seconds

    run = saved.run
    first = next(iter(ordered(saved.scores)), None)
    return (
        saved.job.method if saved.job.method != "auto" else run.method,
        spelled_count(run.iterations),
        spelled_seconds(run.seconds),
        f"{run.value:.4g}",
        "" if first is None else f"{first[0]}: {spelled_scores(first[1])}",
    )


def chosen_sentences(saved: Saved) -> list[str]:
    """Which penalty was chosen, and by what; and that the grid ends there, where it does."""
    found = saved.chosen
    if found is None:
        return []
    more = f"; it is the {found.is_at_an_end} of the grid: try others" if found.is_at_an_end else ""
    return [f"{found}{more}"]


def compiling(done: Sequence[Saved]) -> str:
    """What kernels took beside all of these times, their plan's included; empty if little."""
    from thalweg.core.plan import NOTICED, spelled_seconds

    plan = next((each.run.plan for each in done if each.run.plan is not None), None)
    seconds = sum(each.run.compiled for each in done) + (plan.compiled if plan else 0.0)
    return f"{spelled_seconds(seconds)}, once; in none of these times" if seconds >= NOTICED else ""


def planned(run: Run) -> PlanRow | None:
    """The row of the plan that predicted this run."""
    return None if run.plan is None else run.plan.row(run.method)


def certificate(run: Run) -> str:
    """The proof in a few words."""
    found = run.certificate
    if found.gap is None:
        return found.kind if found.holds else f"no {found.kind}"
    return f"gap {found.gap:.2g} {'≤' if found.holds else '>'} {found.limit:.2g}"


def spelled_ratio(actual: float, predicted: float) -> str:
    """Actual over predicted."""
    return f"{actual / predicted:.2g}×" if predicted > 0.0 else ""


def spelled_scores(measures: Mapping[str, float]) -> str:
    """Measures with their numbers."""
    return ", ".join(f"{name} {value:.{DIGITS}g}" for name, value in measures.items())


def ordered(scores: Mapping[str, Mapping[str, float]]) -> list[tuple[str, Mapping[str, float]]]:
    """Scores by what they are worth: held-out rows first."""
    known = [(name, scores[name]) for name in BEFORE if name in scores]
    return known + [each for each in scores.items() if each[0] not in BEFORE]


def finding_record(finding: Finding) -> dict[str, Any]:
    """A finding as plain values, its severity by name."""
    return {**asdict(finding), "severity": finding.severity.name}


def record(saved: Any) -> dict[str, Any]:
    """The same as plain values."""
    done = [each for each in saved.members if each.result is not None]
    page = saved.folder / "report.html"
    return {
        "folder": str(saved.folder),
        "report": str(page) if page.exists() else None,
        "best": saved.best.folder.name if len(done) > 1 else None,
        "runs": [member_record(each) for each in done],
    }


def member_record(saved: Saved) -> dict[str, Any]:
    """One run as plain values."""
    run, row = saved.run, planned(saved.run)
    return {
        "folder": str(saved.folder),
        "data": saved.job.source,
        "problem": run.objective,
        "method": run.method,
        "outcome": run.outcome.name,
        "verdict": saved.contender.verdict.word,
        "reason": run.reason,
        "certified": bool(run.converged),
        "gap": run.certificate.gap,
        "limit": run.certificate.limit,
        "value": run.value,
        "iterations": run.iterations,
        "seconds": run.seconds,
        "compiled": run.compiled,
        "predicted_iterations": None if row is None else row.predicted_iterations,
        "predicted_seconds": None if row is None else row.predicted_seconds,
        "scores": saved.scores,
        "findings": [each.name for each in saved.findings],
        "chosen": None if saved.chosen is None else saved.chosen.to_dict(),
    }
