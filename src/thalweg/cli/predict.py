"""`thalweg predict RUN DATA`: what a saved model says of new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from thalweg.cli import completion
from thalweg.cli.options import builder, everywhere, memory
from thalweg.cli.result import spelled_scores
from thalweg.cli.screen import note, say_json


@click.command()
@click.argument("run", type=click.Path(), shell_complete=completion.runs)
@click.argument("data", shell_complete=completion.data)
@click.option("--out", metavar="FILE.csv", type=click.Path(), help="Write there, not on stdout.")
@click.option("--raw", is_flag=True, help="Names as they are, even where a spreadsheet computes.")
@builder
@memory
@everywhere
def predict(
    run: str,
    data: str,
    out: str | None,
    raw: bool,
    model: str | None,
    memory: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Predict DATA by the model in RUN, as CSV.

    Columns are matched by name, in any order: a column of predictions, and of classes a column of
    probabilities each. Where DATA has the target, the score is told on stderr.
    """
    from thalweg.core.storage import write_out
    from thalweg.runs.saved import load

    found = load(run).predict(data, builder=model or "", memory=memory)
    for sentence in found.notes:
        note(sentence)
    written = found.to_csv(raw=raw).encode(errors="surrogatepass")
    if out is not None:
        write_out(Path(out), written)
        note(f"{len(found.values):,} predictions are in {out}", "written")
    if as_json:
        say_json(record(run, data, out, found))
    elif out is None:
        click.echo(written, nl=False)  # UTF-8, whatever the terminal is
    if found.scores:
        note(spelled_scores(found.scores), "score")


def record(run: str, data: str, out: str | None, found: Any) -> dict[str, Any]:
    """The same as plain values."""
    odds = found.probabilities
    return {
        "run": run,
        "data": data,
        "out": out,
        "target": found.target,
        "rows": len(found.values),
        "classes": list(found.classes),
        "predictions": found.names.tolist(),
        "probabilities": None if odds is None else odds,
        "scores": found.scores,
    }
