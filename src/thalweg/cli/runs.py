"""`thalweg runs [ROOT]`: what has been trained, newest last."""

from __future__ import annotations

import click

from thalweg.cli.options import everywhere
from thalweg.cli.screen import BAD, DOUBTFUL, Column, say, say_json, screen_of, table

COLUMNS = (
    Column("run"),
    Column("when", rank=4),
    Column("data", rank=5),
    Column("model", rank=6),
    Column("method", rank=2),
    Column("outcome"),
    Column("measure", rank=1),
    Column("time", is_right=True, rank=3),
)


@click.command()
@click.argument("root", default="runs", type=click.Path())
@everywhere
def runs(root: str, as_json: bool, quiet: bool) -> None:
    """List the runs in ROOT, the folder runs by default.

    Runs that are not finished, and folders that are damaged, are listed as such.
    """
    from thalweg.core.plan import spelled_seconds
    from thalweg.jobs.listing import DAMAGED, FINISHED, listing

    found = listing(root)
    if as_json:
        say_json({"root": root, "runs": [entry._asdict() for entry in found]})
        return
    if not found:
        say(f"no runs in {root}: thalweg train DATA makes one")
        return
    rows = [
        (
            entry.id,
            entry.when.replace("T", " ")[:16],
            entry.data,
            entry.model,
            entry.method,
            entry.outcome.lower() if entry.state == FINISHED else entry.state,
            entry.measure or entry.problem,
            "" if entry.seconds is None else spelled_seconds(entry.seconds),
        )
        for entry in found
    ]
    tones = [
        BAD if entry.state == DAMAGED or entry.outcome == "DIVERGED"
        else None if entry.state == FINISHED
        else DOUBTFUL
        for entry in found
    ]  # fmt: skip
    say(table(screen_of(), COLUMNS, rows, tones))
