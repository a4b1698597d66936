"""`thalweg runs [ROOT]`: what has been trained, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from thalweg.cli.options import everywhere
from thalweg.cli.result import TONES as VERDICTS
from thalweg.cli.screen import BAD, DOUBTFUL, Column, grid, say, say_json, screen_of

if TYPE_CHECKING:
    from thalweg.runs.listing import Summary

COLUMNS = (
    Column("run"),
    Column("when", rank=4),
    Column("data", rank=5),
    Column("model", rank=6),
    Column("method", rank=2),
    Column("verdict"),
    Column("gap", is_right=True, rank=3),
    Column("score", is_right=True, rank=1),
    Column("time", is_right=True, rank=7),
)
TONES = {**VERDICTS, "DAMAGED": BAD, "UNFINISHED": DOUBTFUL}


@click.command()
@click.argument("root", default="runs", type=click.Path())
@everywhere
def runs(root: str, as_json: bool, quiet: bool) -> None:
    """List the runs in ROOT, the folder runs by default, newest first.

    Runs that are not finished, and folders that are damaged, are listed as such.
    """
    from thalweg.runs.listing import listing

    found = listing(root)
    if as_json:
        say_json({"root": root, "runs": [record(each) for each in found]})
        return
    if not found:
        say(f"no runs in {root}: thalweg train DATA makes one")
        return
    screen = screen_of()
    say(grid(screen, COLUMNS, map(row, found), [TONES.get(each.state) for each in found]))
    for each in found:
        if each.problem:
            say(*screen.wrapped(f"damaged: {each.problem}", hanging=2))


def row(each: Summary) -> tuple[str, ...]:
    """One run as it is listed."""
    from thalweg.core.plan import spelled_seconds

    return (
        str(each.folder),
        each.date.replace("T", " ")[:16],
        each.data,
        each.model,
        each.method,
        each.state.lower(),
        "" if each.gap is None else f"{each.gap:.2g}",
        "" if each.score is None else f"{each.score[0]} {each.score[1]:.4g}",
        "" if each.seconds is None else spelled_seconds(each.seconds),
    )


def record(each: Summary) -> dict[str, Any]:
    """The same as plain values."""
    score = None if each.score is None else {"measure": each.score[0], "value": each.score[1]}
    return {**each._asdict(), "folder": str(each.folder), "score": score}
