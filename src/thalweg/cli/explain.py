"""`thalweg explain RUN [DATA]`: which columns matter to a saved model, by how much, how sure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from thalweg.cli import completion
from thalweg.cli.options import builder, everywhere, memory
from thalweg.cli.screen import Column, Screen, grid, note, say, say_json, screen_of

if TYPE_CHECKING:
    from thalweg.core.coefficient import Coefficient
    from thalweg.core.explanation import Shuffled

TOP = 20  # lines of a table
COEFFICIENTS = (
    Column("feature"),
    Column("class", rank=1),
    Column("against", rank=2),
    Column("per unit", is_right=True),
    Column("per deviation", is_right=True, rank=3),
    Column("standard error", is_right=True, rank=4),
)
IMPORTANCE = (
    Column("column"),
    Column("worse by", is_right=True),
    Column("±", is_right=True),
    Column("clear", rank=1),
)


@click.command()
@click.argument("run", type=click.Path(), shell_complete=completion.runs)
@click.argument("data", required=False, shell_complete=completion.data)
@click.option("--top", type=click.IntRange(1), default=TOP, show_default=True, help="Lines shown.")
@click.option(
    "--repeats", type=click.IntRange(2), help="Shuffle each column so often, measured anew."
)
@click.option("--out", metavar="FILE.csv", type=click.Path(), help="Write all of it there.")
@click.option("--raw", is_flag=True, help="Names as they are, even where a spreadsheet computes.")
@builder
@memory
@everywhere
def explain(
    run: str,
    data: str | None,
    top: int,
    repeats: int | None,
    out: str | None,
    raw: bool,
    model: str | None,
    memory: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Tell which columns matter to the model in RUN, by how much, and how sure that is.

    Coefficients of a linear model, in the units of the data and per standard deviation of their
    column, a category against the most frequent one. And, of any model, how much worse it answers
    where a column is shuffled: in the rows that were held out, else those of the training, or in
    DATA.

    --out writes the coefficients, and of a network the importance of columns.
    """
    from thalweg.core.coefficient import coefficients_csv
    from thalweg.core.explanation import importance_csv
    from thalweg.core.storage import write_out
    from thalweg.jobs.explanation import shuffled_again
    from thalweg.runs.saved import load

    saved = load(run).best
    saved.finished()
    kept = saved.explanation
    if data is None and repeats is None and kept is not None and kept.importance is not None:
        found, where = kept.importance, kept.rows
    else:
        found, where, notes = shuffled_again(
            saved, data, repeats=repeats, builder=model or "", memory=memory
        )
        for sentence in notes:
            note(sentence)
    coefficients = [] if saved.job.is_network else saved.coefficients()
    if out is not None:
        is_linear = not saved.job.is_network
        text = coefficients_csv(coefficients, raw=raw) if is_linear else importance_csv(found, raw)
        write_out(Path(out), text.encode(errors="surrogatepass"))
        note(f"{text.count(chr(10)) - 1:,} lines are in {out}", "written")
    if as_json:
        say_json(
            {
                "run": str(saved.folder),
                "data": data,
                "out": out,
                "coefficients": [coefficient_record(each) for each in coefficients],
                "importance": importance_record(found, where),
            }
        )
        return
    screen = screen_of()
    if coefficients:
        say(coefficients_text(screen, coefficients, top), "")
    say(importance_text(screen, found, where, top))


def coefficients_text(screen: Screen, found: Sequence[Coefficient], top: int = TOP) -> str:
    """A table of the largest, and what its numbers are."""
    rows = [
        (each.feature, each.output, each.reference, f"{each.per_unit:.4g}",
         _spelled(each.per_deviation), _spelled(each.error))
        for each in found[:top]
    ]  # fmt: skip
    what = "per unit: where the column is one larger; per deviation: one standard deviation"
    if any(each.reference for each in found):
        what += "; a category against the most frequent one"
    shown = f"{len(rows)} of {len(found):,}" if len(found) > top else f"all {len(found):,}"
    return "\n".join(
        [
            screen.labelled("coefficients", f"{shown}, the largest first", 14),
            grid(screen, COEFFICIENTS, rows),
            *screen.wrapped(what),
        ]
    )


def importance_text(screen: Screen, found: Shuffled, where: str, top: int = TOP) -> str:
    """A table of the columns that the model relies on most."""
    from thalweg.core.explanation import RAISES

    change = "rises" if found.measure in RAISES else "falls"
    rows = [
        (each.column, f"{each.mean:.4g}", f"{each.spread:.2g}", "yes" if each.is_clear else "no")
        for each in found.columns[:top]
    ]
    shown = f"{len(rows)} of {len(found.columns):,}" if len(found.columns) > top else "all"
    what = (
        f"{shown} columns, by how much {found.measure}, {found.score:.4g} as it is, {change} where "
        f"one is shuffled: {found.repeats} times in {found.rows:,} {where} rows"
    )
    sure = "±: standard deviation over the shuffles; clear: more than twice that from zero"
    return "\n".join(
        [screen.labelled("importance", what, 14), grid(screen, IMPORTANCE, rows),
         *screen.wrapped(sure)]
    )  # fmt: skip


def coefficient_record(each: Coefficient) -> dict[str, Any]:
    """A coefficient as plain values."""
    return {
        "feature": each.feature,
        "class": each.output or None,
        "reference": each.reference or None,
        "per_unit": each.per_unit,
        "per_deviation": each.per_deviation,
        "standard_error": each.error,
    }


def importance_record(found: Shuffled, where: str) -> dict[str, Any]:
    """The importance of columns as plain values."""
    columns = [{**each._asdict(), "clear": each.is_clear} for each in found.columns]
    return {**found._asdict(), "of": where, "columns": columns}


def _spelled(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
