"""`thalweg diagnose DATA|RUN`: what is wrong, worst first; with --treat, what helps, proved."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from thalweg.cli import completion, options
from thalweg.cli.exit_code import DONE, code_of
from thalweg.cli.opening import made_ready
from thalweg.cli.request import refuse_beside, settled_job_of
from thalweg.cli.result import finding_record
from thalweg.cli.screen import BAD, DOUBTFUL, Screen, note, say, say_json, screen_of
from thalweg.cli.wording import as_typed
from thalweg.core.errors import InputError

if TYPE_CHECKING:
    from thalweg.core.finding import Finding
    from thalweg.core.run import Run
    from thalweg.runs.job import Job

LOOKED_AT = "targets, classes, scaling, penalty, columns or conditioning"
LOOKED_AT_NETWORK = "data, loss, first weights, gradients, activations, curvature or validation"
BESIDE_RUN = {"data", "treat", "budget", "out", "model", "as_json", "quiet"}
TONES = {"ACT": BAD, "WARN": DOUBTFUL}


@click.command()
@click.argument("data", metavar="DATA|RUN", shell_complete=completion.data_or_runs)
@options.job
@click.option("--treat", is_flag=True, help="Try remedies of a network, and prove one.")
@click.option("--budget", metavar="TIME", help="Of a treatment: 90s, 2m, or trainings, 40.")
@click.option(
    "--out", metavar="FILE.toml", type=click.Path(), help="Write the treated recipe there."
)
@options.everywhere
@click.pass_context
def diagnose(
    ctx: click.Context,
    data: str,
    treat: bool,
    budget: str | None,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> int:
    """Name what is wrong with a model on DATA, or with a saved RUN, worst first.

    A linear model: bad scaling, poor conditioning, constant and dependent columns, separable
    classes, penalties that do nothing or everything. A network is trained once under a watch. With
    --treat remedies of a network are tried as paired experiments, and what is proved is shown.

    Exits with 0 where the model is certified, or a network trained to its end, 3 where it stopped
    before, 4 where it diverged; with --treat always with 0.
    """
    for name, value in (("--budget", budget), ("--out", out)):
        if value is not None and not treat:
            raise InputError(f"{name} is of a treatment: add --treat")
    if len(asked["method"]) > 1:
        raise InputError("diagnose takes one method: compare several with thalweg train")
    is_run = completion.is_run(Path(data))
    if is_run:
        refuse_beside(ctx, data, BESIDE_RUN, "the run has its data and its model")
    if treat:
        return treated(ctx, data, is_run, budget, out, as_json, asked)
    from thalweg.core.verdict import verdict_of

    if is_run:
        from thalweg.runs.saved import load

        saved = load(data).best
        source, run, findings = str(saved.folder), saved.run, saved.findings
        verdict = saved.contender.verdict
    else:
        job = settled_job_of(ctx, data, asked)
        source, (run, findings) = data, trained(job, progress=not quiet)
        verdict = verdict_of(run)
    if as_json:
        say_json({**record(source, run, findings), "treatment": None})
    else:
        say(text(screen_of(), source, run, findings))
    return code_of(verdict)


def trained(job: Job, *, progress: bool) -> tuple[Run, Sequence[Finding]]:
    """The run of a job, a network under a watch, and what is wrong with it."""
    data, ready = made_ready(job)
    if job.is_network:
        from thalweg.jobs.network import fit_network

        watched = fit_network(ready, job.time_limit, progress=progress)
        return watched.run, watched.findings
    from thalweg.jobs.linear import train_linear

    done = train_linear(job, ready, data.encoding, progress=progress)
    return done.run, done.findings


def treated(
    ctx: click.Context,
    data: str,
    is_run: bool,
    budget: str | None,
    out: str | None,
    as_json: bool,
    asked: dict[str, Any],
) -> int:
    """Treat the recipe of a network, and show what came of it."""
    if is_run:
        from thalweg.jobs.certification import rows_again
        from thalweg.runs.saved import load

        saved = load(data).best
        job, encoding = saved.job, saved.encoding
        _check_treatable(job)
        rows = rows_again(saved)
    else:
        from thalweg.jobs.opening import opened

        job = settled_job_of(ctx, data, asked)
        _check_treatable(job)
        opening = opened(job, note)
        rows, encoding = opening.rows, opening.encoding
    from thalweg.core.storage import write_out
    from thalweg.doctor.nets.treatment.treat import BUDGET, treat
    from thalweg.jobs.network_recipe import job_recipe
    from thalweg.jobs.network_samples import pair

    recipe = job_recipe(job, encoding)
    held = None if rows.held is None else pair(rows.held, encoding, recipe.loss)
    note("remedies are tried as paired trainings; this takes a while", "treatment")
    treatment = treat(
        recipe, pair(rows, encoding, recipe.loss), _budget(budget, BUDGET), validation=held
    )
    if out is not None:
        write_out(Path(out), treatment.treated.to_toml().encode())
        which = "treated recipe" if treatment.is_treated else "recipe, unchanged,"
        note(f"the {which} is in {out}", "written")
    if as_json:
        say_json({"data": data, "treatment": treatment.to_dict()})
    else:
        say(screen_of().kept(str(treatment), hanging=12))
    return DONE


def _check_treatable(job: Job) -> None:
    if not job.is_network:
        raise InputError(
            "--treat is for networks, got a linear model: leave it out to get advice, and "
            "thalweg plan to see what --standardize or another method changes"
        )
    if job.builder:
        raise InputError(
            f"--treat changes a recipe, got code, {job.builder}: leave it out to get advice, or "
            "state the network by --model mlp:… or --recipe"
        )


def _budget(text: str | None, usual: float) -> float | str:
    if text is None:
        return usual
    try:
        return float(text)
    except ValueError:
        return text


def text(screen: Screen, source: str, run: Run, findings: Sequence[Finding]) -> str:
    """What a person reads."""
    from thalweg.core.card import count_of

    is_network = run.is_training
    count, taken = len(findings), count_of(run.iterations, "step" if is_network else "iteration")
    looked_at = LOOKED_AT_NETWORK if is_network else LOOKED_AT
    heading = f"{count} finding{'' if count == 1 else 's, worst first'}"
    gap = run.certificate.gap
    proof = "" if gap is None else f", duality gap {gap:.2g}"
    lines = [
        *screen.wrapped(f"{source}: {run.objective}", hanging=2),
        *screen.wrapped(
            f"{run.method}: {run.outcome.word.lower()} after {taken}{proof}", hanging=2
        ),
        *screen.wrapped(heading if count else f"nothing wrong was found with {looked_at}"),
    ]
    return "\n".join([*lines, *(wrapped(screen, finding) for finding in findings)])


def wrapped(screen: Screen, finding: Finding) -> str:
    """A finding, its lines no longer than the screen."""
    first, *rest = screen.spelled(as_typed(str(finding))).splitlines()
    word = finding.severity.name
    parts = [_filled(screen, first, 6), *(_filled(screen, line, 16) for line in rest)]
    parts[0] = screen.paint(word, TONES.get(word)) + parts[0][len(word) :]
    return "\n".join(parts)


def _filled(screen: Screen, line: str, hanging: int) -> str:
    return textwrap.fill(
        line,
        screen.columns,
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def record(source: str, run: Run, findings: Sequence[Finding]) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "data": source,
        "problem": run.objective,
        "method": run.method,
        "outcome": run.outcome.name,
        "certified": run.converged,
        "gap": run.certificate.gap,
        "iterations": run.iterations,
        "findings": list(map(finding_record, findings)),
    }
