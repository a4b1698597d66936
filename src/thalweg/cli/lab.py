"""`thalweg lab [NAME]`: claims of the lectures, tried and judged; with --all, the book of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from thalweg.cli import completion
from thalweg.cli.exit_code import CLAIM_FAILED, DONE
from thalweg.cli.options import everywhere, seed
from thalweg.cli.screen import (
    BAD,
    DOUBTFUL,
    GOOD,
    Column,
    Screen,
    grid,
    note,
    say,
    say_json,
    screen_of,
)
from thalweg.core.errors import InputError

if TYPE_CHECKING:
    from thalweg.labbook.lab import Lab
    from thalweg.labbook.result import Result, Sheet

LISTED = (
    Column("lab"),
    Column("from", rank=2),
    Column("expected", rank=1),
    Column("time", is_right=True),
    Column("claim", rank=3),
)
DONE_COLUMNS = (
    Column("lab"),
    Column("", rank=0),
    Column("verdict"),
    Column("took", is_right=True, rank=1),
)
FOLDER = "labs"
WIDE = 80  # columns, from which formulas stand below the claim


@click.command()
@click.argument("name", required=False, shell_complete=completion.labs)
@click.option("--all", "every", is_flag=True, help="Run all of them and bind the lab book.")
@click.option("--full/--quick", "full", default=False, help="As much as it takes, or some seconds.")
@click.option("--break", "broken", metavar="WAY", help="Break its subject: the lab must fail.")
@seed
@click.option(
    "--out", metavar="FOLDER", type=click.Path(), default=FOLDER, show_default=True,
    help="Where figures, numbers and pages go.",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1), help="Processes of --all; one a core by default.")
@everywhere
def lab(
    name: str | None,
    every: bool,
    full: bool,
    broken: str | None,
    seed: int,
    out: str,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """List the labs, or run one: a claim of the lectures, tried and judged by its numbers.

    A lab writes its figures as SVG and its numbers as JSON to the folder labs, and its page beside
    them. --all runs every lab and binds them into a book, labs/index.html.

    Exits with 5 where a verdict is not the expected one.
    """
    check_options(name, every, broken, jobs)
    if every:
        return all_of_them(full, seed, out, jobs, as_json, quiet)
    if name is None:
        from thalweg.labbook.catalogue import labs

        say_json({"labs": [listed(each) for each in labs()]}) if as_json else say(
            grid(screen_of(), LISTED, [listed_row(each) for each in labs()])
        )
        return DONE
    return one(name, full, broken or "", seed, out, as_json)


def check_options(name: str | None, every: bool, broken: str | None, jobs: int | None) -> None:
    """Refuse what contradicts itself before anything is run."""
    if every and name is not None:
        raise InputError(f"--all runs every lab, got {name!r} too: leave one of both out")
    if broken is not None and name is None:
        raise InputError("--break needs the name of a lab: thalweg lab gd-rate --break step")
    if jobs is not None and not every:
        raise InputError("--jobs is of --all: a single lab is one process")


def one(name: str, full: bool, broken: str, seed: int, out: str, as_json: bool) -> int:
    """Run a lab, keep what it found, and show it."""
    from thalweg.labbook.book import keep
    from thalweg.labbook.catalogue import lab as lab_of

    tried = lab_of(name)
    result = tried.run(
        "full" if full else "quick", seed=seed, broken=broken, folder=out,
        tell=lambda text: note(text, name),
    )  # fmt: skip
    files = []
    if not broken:  # what was broken on purpose is shown, and not kept beside what was not
        files = [str(file) for file in keep(result, out, note)]
    if as_json:
        say_json({"labs": [record(tried, result)], "book": None})
    else:
        say(text(screen_of(), tried, result, files))
    return DONE if result.passed else CLAIM_FAILED


def all_of_them(
    full: bool, seed: int, out: str, jobs: int | None, as_json: bool, quiet: bool
) -> int:
    """Run every lab, bind the book, and show the verdicts."""
    from thalweg.labbook.book import bind
    from thalweg.labbook.catalogue import NAMES
    from thalweg.labbook.catalogue import lab as lab_of
    from thalweg.labbook.running import run_many, runnable
    from thalweg.running.progress import Progress

    names, left_out = runnable(NAMES)
    if left_out:
        note(f"{len(left_out)} labs need PyTorch and are left out: pip install 'thalweg[nets]'")
    results: dict[str, Result] = {}
    begun = time.perf_counter()
    with Progress("labs", len(names), shown=not quiet, unit="labs") as progress:
        for result in run_many(
            names, "full" if full else "quick", seed=seed, folder=out, workers=jobs
        ):
            results[result.name] = result
            seconds = time.perf_counter() - begun
            if progress.is_due(seconds):
                progress.show(len(results), seconds, f"{result.name} {result.word}")
    seconds = time.perf_counter() - begun
    book = bind(out)
    ordered = [results[each] for each in names]
    if as_json:
        done = [record(lab_of(each.name), each) for each in ordered]
        say_json({"labs": done, "book": str(book)})
    else:
        say(summary(screen_of(), ordered, seconds), f"book       {book}")
    return DONE if all(each.passed for each in ordered) else CLAIM_FAILED


def text(screen: Screen, tried: Lab, result: Result, files: Sequence[str]) -> str:
    """What a person reads of a lab: the claim, its numbers, the verdict."""
    where = f" ({'; '.join(tried.places)})"
    lines = [screen.labelled("claim", tried.claim + where)]
    indent = " " * (11 if screen.columns >= WIDE else 2)
    lines += [indent + line for line in screen.spelled(tried.formula).splitlines()]
    lines += [part for each in result.tables for part in ("", table_text(screen, each))]
    lines.append("")
    for check in result.checks:
        word = "holds" if check.holds else "not"
        role = "" if check.role == "claim" else f"{check.role}: "
        tone = None if check.holds or check.role in ("as written", "noted") else BAD
        said = f"{role}{check.statement}: {check.measured}"
        lines.append(screen.labelled(word, said, tone=tone))
    lines += [screen.labelled("note", each) for each in result.notes]
    lines += ["", verdict_line(screen, tried, result)]
    lines += [screen.labelled("saved", each) for each in files]
    return "\n".join(lines)


def verdict_line(screen: Screen, tried: Lab, result: Result) -> str:
    """PASS or FAIL, and what that says."""
    said = f"{result.name} {result.verdict}"
    if result.passed and tried.condition:
        said += f": {tried.condition}"
    elif result.passed and tried.correction:
        said += f"; corrected: {tried.correction}"
    elif not result.passed:
        said += f", expected: {result.expected}"
    if result.broken:
        said += f"; broken on purpose: {result.broken}"
    return screen.labelled(
        result.word, f"{said} ({result.seconds:.1f} s)", tone=GOOD if result.passed else BAD
    )


def table_text(screen: Screen, each: Sheet) -> str:
    """A table of a lab on a screen."""
    from thalweg.labbook.result import written

    numbers = [
        all(not isinstance(row[k], str) for row in each.rows) for k in range(len(each.heads))
    ]
    columns = [
        Column(head, is_right=is_number, rank=k)
        for k, (head, is_number) in enumerate(zip(each.heads, numbers, strict=True))
    ]
    rows = [tuple(map(written, row)) for row in each.rows]
    return "\n".join([*screen.wrapped(each.caption), grid(screen, columns, rows)])


def summary(screen: Screen, results: Sequence[Result], seconds: float) -> str:
    """All verdicts, and how many pass."""
    from thalweg.core.plan import spelled_seconds

    rows = [
        (each.name, each.word, str(each.verdict), spelled_seconds(each.seconds)) for each in results
    ]
    tones = [None if each.passed else BAD for each in results]
    passed = sum(each.passed for each in results)
    word = screen.paint(f"{passed} of {len(results)}", GOOD if passed == len(results) else DOUBTFUL)
    return "\n".join(
        [grid(screen, DONE_COLUMNS, rows, tones), "", f"{word} pass, in {seconds:.0f} s"]
    )


def listed_row(each: Lab) -> tuple[str, ...]:
    """A lab as it is listed."""
    from thalweg.core.plan import spelled_seconds

    return (
        each.name,
        "".join(each.lectures),
        str(each.expected),
        spelled_seconds(each.seconds),
        each.claim,
    )


def listed(each: Lab) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "name": each.name,
        "claim": each.claim,
        "formula": each.formula,
        "places": list(each.places),
        "expected": str(each.expected),
        "quick_seconds": each.seconds,
        "breaks": {way.name: way.what for way in each.breaks},
        "result": None,
    }


def record(tried: Lab, result: Result) -> dict[str, Any]:
    """A lab that was run, as plain values."""
    return {**listed(tried), "result": result.record()}
