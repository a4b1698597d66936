"""`thalweg report RUN…`: one HTML page on a run, or on several beside each other."""

from __future__ import annotations

from pathlib import Path

import click

from thalweg.cli import completion
from thalweg.cli.options import everywhere
from thalweg.cli.screen import say, say_json


@click.command()
@click.argument(
    "runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(),
    shell_complete=completion.runs,
)  # fmt: skip
@click.option("--out", metavar="FILE.html", type=click.Path(), help="Where; RUN/report.html else.")
@everywhere
def report(runs: tuple[str, ...], out: str | None, as_json: bool, quiet: bool) -> None:
    """Write a report on each RUN, or with --out one that compares them.

    A report is one file that needs no network and no other file. It is written to RUN/report.html,
    and where it is said.
    """
    from thalweg.core.storage import write_file, write_out

    pages: dict[Path, tuple[str, ...]] = {Path(each) / "report.html": (each,) for each in runs}
    if out is not None:
        pages = {Path(out): runs}
    for page, some in pages.items():
        write = write_file if out is None else write_out
        write(page, html_of(some).encode())
    if as_json:
        say_json({"reports": [str(page) for page in pages]})
    else:
        say(*map(str, pages))


def html_of(runs: tuple[str, ...]) -> str:
    """The page on one run or race, or on several runs beside each other."""
    from thalweg.reports.report import report as page
    from thalweg.runs.saved import load
    from thalweg.runs.subject import subject_of_race

    loaded = [load(each) for each in runs]
    if len(loaded) == 1:
        return page(loaded[0].subject()).html
    members = tuple(member for each in loaded for member in each.members)
    return page(subject_of_race(members, " && ".join(m.header.command for m in members))).html
