"""`thalweg export RUN`: a saved model as a file for those who do not have Thalweg."""

from __future__ import annotations

from pathlib import Path

import click

from thalweg.cli import completion
from thalweg.cli.options import everywhere
from thalweg.cli.screen import note, say_json

WAYS = ("json", "python", "c", "sklearn", "onnx")
BINARY = {"sklearn": "joblib", "onnx": "onnx"}


@click.command()
@click.argument("run", type=click.Path(), shell_complete=completion.runs)
@click.option("--to", required=True, type=click.Choice(WAYS), help="What becomes of the model.")
@click.option("--out", metavar="FILE", type=click.Path(), help="Write there, not on stdout.")
@everywhere
def export(run: str, to: str, out: str | None, as_json: bool, quiet: bool) -> None:
    """Write the model in RUN as a file that needs no Thalweg.

    json, python and c are text: what a page can evaluate, and a function without dependencies in a
    file. sklearn is a fitted pipeline, onnx a graph for any runtime; both want --out. A network
    goes out as onnx.
    """
    from thalweg.core.errors import InputError
    from thalweg.core.storage import write_out
    from thalweg.exports.ways import export as exported
    from thalweg.runs.saved import load

    if out is None and (to in BINARY or as_json):
        ending = BINARY.get(to, to)
        raise InputError(f"--to {to} needs a file: --out model.{ending}")
    content = exported(load(run), to)
    if out is None:
        click.echo(content, nl=False)  # UTF-8, whatever the terminal is
        return
    write_out(Path(out), content)
    note(f"the model as {to} is in {out}, {len(content):,} bytes", "written")
    if as_json:
        say_json({"run": run, "to": to, "out": out, "bytes": len(content)})
