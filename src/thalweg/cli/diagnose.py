"""`thalweg diagnose DATA`: solve a linear problem, and say what is wrong with it, worst first."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING, Any

import click

from thalweg.cli.duration import DurationType
from thalweg.cli.penalty import PenaltyType
from thalweg.core.errors import InputError
from thalweg.jobs.penalty import Penalty

if TYPE_CHECKING:
    import numpy as np

    from thalweg.core.finding import Finding
    from thalweg.core.run import Run
    from thalweg.tables.table import Table

IMPUTES = ("mean", "median", "most-frequent")
LOSSES = ("squared", "logistic", "squared-hinge", "huber", "multinomial")
CERTIFIED, STOPPED, DIVERGED = 0, 3, 4  # exit codes
WIDTH = 100  # columns of text
LOOKED_AT = "targets, classes, scaling, penalty, columns or conditioning"


@click.command()
@click.argument("data")
@click.option("--target", help="The column to predict; of an .npz the array, y by default.")
@click.option("--impute", type=click.Choice(IMPUTES), help="Fill missing values by this.")
@click.option("--loss", type=click.Choice(LOSSES), help="By default what the target asks for.")
@click.option("--l2", type=PenaltyType(), default="1/n", show_default=True, help="(l2/2)‖w‖².")
@click.option("--l1", type=PenaltyType(), default="0", show_default=True, help="l1‖w‖₁.")
@click.option("--standardize", is_flag=True, help="Give every column mean 0 and deviation 1.")
@click.option("--no-intercept", is_flag=True, help="Leave the intercept out.")
@click.option("--method", "-m", default="auto", show_default=True, help="What to solve it by.")
@click.option("--tol", type=float, default=1e-6, show_default=True, help="Duality gap, relative.")
@click.option("--time-limit", type=DurationType(), help="Stop after so long: 30s, 2m, 1h.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def diagnose(
    ctx: click.Context,
    data: str,
    target: str | None,
    impute: str | None,
    loss: str | None,
    l2: Penalty,
    l1: Penalty,
    standardize: bool,
    no_intercept: bool,
    method: str,
    tol: float,
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Name what is wrong with a linear model on DATA.

    Bad scaling, poor conditioning, constant and dependent columns, separable classes, penalties
    that do nothing or everything. DATA is @cancer, @digits, @diabetes, @iris or @wine, or a file:
    CSV, TSV, Parquet, svmlight, NPZ or NPY, compressed or not, or a folder of IDX files.

    Exits with 0 where the solution is certified, 3 where it stopped before, 4 where it diverged.
    """
    import thalweg as tw

    table = tw.read(data, target, impute=impute)
    for note in table.notes:
        click.echo(f"note: {note}", err=True)
    y = labels(table)
    if loss is None:
        loss = loss_for(table)
        click.echo(f"loss: {loss}, by what y holds; --loss takes another", err=True)
    samples = table.rows
    problem = tw.LinearProblem(
        table.X,
        y,
        loss,
        l1=l1.of(samples),
        l2=l2.of(samples),
        standardize=standardize,
        fit_intercept=not no_intercept,
    )
    run = tw.minimize(problem, method, tol=tol, time_limit=time_limit)
    findings = tw.diagnose(problem, run, feature_names=table.feature_names)
    if as_json:
        from thalweg.core.storage import to_json

        click.echo(to_json(record(data, run, findings)).decode())
    else:
        click.echo(text(data, run, findings))
    ctx.exit(
        CERTIFIED if run.converged else DIVERGED if run.outcome.name == "DIVERGED" else STOPPED
    )


def labels(table: Table) -> np.ndarray:
    """What is to be predicted, classes by their names."""
    import numpy as np

    if table.y is None:
        raise InputError(
            f"target must be given for {table.source}: name the column to predict with --target"
        )
    return table.y if table.class_names is None else np.asarray(table.class_names)[table.y]


def loss_for(table: Table) -> str:
    """The loss that the target asks for."""
    if table.class_names is None:
        return "squared"
    return "logistic" if len(table.class_names) <= 2 else "multinomial"


def text(data: str, run: Run, findings: list[Finding]) -> str:
    """What a person reads."""
    count = len(findings)
    heading = f"{count} finding{'' if count == 1 else 's, worst first'}"
    gap = run.certificate.gap
    proof = "" if gap is None else f", duality gap {gap:.2g}"
    lines = [
        f"{data}: {run.objective}",
        f"{run.method}: {run.outcome.word.lower()} after {run.iterations} iterations{proof}",
        heading if count else f"nothing wrong was found with {LOOKED_AT}",
    ]
    width = min(WIDTH, shutil.get_terminal_size().columns)
    return "\n".join([*lines, *(wrapped(finding, width) for finding in findings)])


def wrapped(finding: Finding, width: int) -> str:
    """A finding, its lines no longer than `width`."""
    lines = str(finding).splitlines()
    return "\n".join(
        textwrap.fill(
            line,
            width,
            subsequent_indent=" " * (6 if k == 0 else 16),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for k, line in enumerate(lines)
    )


def record(data: str, run: Run, findings: list[Finding]) -> dict[str, Any]:
    """The same as plain values."""
    from dataclasses import asdict

    return {
        "data": data,
        "problem": run.objective,
        "method": run.method,
        "outcome": run.outcome.name,
        "certified": run.converged,
        "gap": run.certificate.gap,
        "iterations": run.iterations,
        "findings": [
            {**asdict(finding), "severity": finding.severity.name} for finding in findings
        ],
    }
