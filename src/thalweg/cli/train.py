"""`thalweg train DATA`: train, save, and show what was predicted beside what happened."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from thalweg.cli import completion, options
from thalweg.cli.exit_code import code_of
from thalweg.cli.explain import coefficient_record, coefficients_text
from thalweg.cli.failure import Quit
from thalweg.cli.request import job_of, refuse_beside
from thalweg.cli.result import record, text
from thalweg.cli.screen import note, say, say_json, screen_of
from thalweg.core.errors import WriteError

BESIDE_RESUME = {
    "resume", "time_limit", "max_iter", "model", "no_report", "coefficients", "as_json", "quiet",
}  # fmt: skip


@click.command()
@click.argument("data", required=False, shell_complete=completion.data)
@options.job
@options.held_out
@click.option(
    "--out", metavar="FOLDER", type=click.Path(), help="Where to save; runs/<id> by default."
)
@click.option("--no-report", is_flag=True, help="Write no report.html.")
@click.option(
    "--resume", metavar="RUN", type=click.Path(), shell_complete=completion.runs,
    help="Go on with a run that was stopped.",
)  # fmt: skip
@click.option("--coefficients", is_flag=True, help="Show the largest, of a linear model.")
@options.everywhere
@click.pass_context
def train(
    ctx: click.Context,
    data: str | None,
    out: str | None,
    no_report: bool,
    resume: str | None,
    coefficients: bool,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> int:
    """Train a linear model or a network on DATA and save it.

    The run goes to a folder of plain files, runs/<id>: what was asked, what happened, the model, a
    report. Several -m are compared. Ctrl-C stops after the present iteration and saves; a second
    one quits. `thalweg train --resume RUN` goes on.

    Exits with 0 where a linear model is certified or a network was trained to its end, 3 where it
    stopped before or is at a saddle, 4 where it diverged. Of several methods the best counts.
    """
    told: dict[str, Any] = {"progress": not quiet, "report": not no_report, "note": note}
    if resume is not None:
        refuse_beside(ctx, "--resume", BESIDE_RESUME, "the run has its data and its model")
        saved = resumed(Path(resume), asked, told)
    elif data is None:
        raise click.UsageError("Missing argument 'DATA', or --resume RUN.", ctx)
    else:
        saved = trained(ctx, data, out, asked, told)
    wanted = coefficients and not saved.best.job.is_network
    largest = saved.best.coefficients() if wanted else []
    if as_json:
        told = record(saved)
        if wanted:
            told["coefficients"] = [coefficient_record(each) for each in largest]
        say_json(told)
    else:
        say(text(screen_of(), saved))
        if wanted:
            say("", coefficients_text(screen_of(), largest))
    members = [each for each in saved.members if each.result is not None]
    if any(each.run.outcome.name == "INTERRUPTED" for each in members):
        note(f"stopped as asked: thalweg train --resume {saved.folder} goes on", "interrupted")
    return code_of(saved.best.contender.verdict)


def trained(
    ctx: click.Context, data: str, out: str | None, asked: dict[str, Any], told: dict[str, Any]
) -> Any:
    """The run, or the race, that the options ask for."""
    from thalweg.jobs.race import train_race
    from thalweg.jobs.train import train as train_job
    from thalweg.runs.folder import ROOT, new_folder

    job = job_of(ctx, data, asked)
    folder = Path(out) if out else new_folder(ROOT, job.source)
    told = {**told, "command": shlex.join(["thalweg", *sys.argv[1:]])}
    with saying_what_is_kept(folder):
        if len(asked["method"]) > 1:
            return train_race(job, asked["method"], folder, **told)
        return train_job(job, folder, **told)


def resumed(folder: Path, asked: dict[str, Any], told: dict[str, Any]) -> Any:
    """The run, or the race, gone on with."""
    from thalweg.jobs.race import resume_race
    from thalweg.jobs.train import resume as resume_job
    from thalweg.runs.folder import RACE

    limits = {name: asked[name] for name in ("time_limit", "max_iter")}
    with saying_what_is_kept(folder):
        go_on = resume_race if (folder / RACE).exists() else resume_job
        return go_on(folder, **limits, builder=asked["model"] or "", **told)


@contextmanager
def saying_what_is_kept(folder: Path) -> Iterator[None]:
    """Have Ctrl-C, and a disk that is full, say what there is to go on with."""
    try:
        yield
    except WriteError as problem:
        if not completion.is_run(folder):
            raise
        raise WriteError(f"{problem}; thalweg train --resume {folder} goes on") from problem
    except KeyboardInterrupt as problem:
        if not completion.is_run(folder):
            raise
        raise Quit(
            f"interrupted: what was put aside until then is in {folder}; "
            f"thalweg train --resume {folder} goes on"
        ) from problem
