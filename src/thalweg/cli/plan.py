"""`thalweg plan DATA`: what each method would cost, before anything is trained."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from thalweg.cli import completion
from thalweg.cli.exit_code import DONE
from thalweg.cli.opening import made_ready
from thalweg.cli.options import everywhere, methods, model, reading, tolerance
from thalweg.cli.request import settled_job_of
from thalweg.cli.result import finding_record
from thalweg.cli.screen import CHIEF, TIED, Column, Screen, grid, note, say, say_json, screen_of
from thalweg.cli.wording import as_typed

if TYPE_CHECKING:
    from thalweg.core.plan import Plan
    from thalweg.jobs.network_plan import NetworkPlan
    from thalweg.runs.job import Job

COLUMNS = (
    Column("  method"),
    Column("bound", is_right=True, rank=3),
    Column("predicted", is_right=True),
    Column("per it", is_right=True, rank=4),
    Column("time", is_right=True),
    Column("memory", is_right=True, rank=5),
    Column("remark", rank=2),
)
NETWORK_COLUMNS = (
    Column("  optimizer"),
    Column("rate", is_right=True, rank=2),
    Column("a step", is_right=True, rank=3),
    Column("all epochs", is_right=True),
    Column("memory", is_right=True, rank=4),
    Column("remark", rank=1),
)
NETWORK_LEGEND = (
    "Steps are timed on these data. Which optimizer learns more in as many steps is not predicted."
)
LEGEND = (
    "bound = guaranteed under the L and μ above; predicted = usual counts at the rates of this "
    "machine, not guaranteed."
)


@click.command()
@click.argument("data", shell_complete=completion.data)
@reading
@model
@methods
@tolerance
@everywhere
@click.pass_context
def plan(ctx: click.Context, data: str, as_json: bool, quiet: bool, **asked: Any) -> int:
    """Say what each method would cost on DATA, and which to take.

    For a linear model: L, μ and κ of the data, iterations that theory guarantees and those to
    expect, and seconds at the rates of this machine. With -m, of these methods alone. For a
    network: its layers, steps and seconds. Nothing is trained or written.
    """
    job = settled_job_of(ctx, data, asked)
    screen = screen_of()
    if job.is_network:
        from thalweg.jobs.network_plan import plan_network
        from thalweg.jobs.opening import opened

        opening = opened(job, note)
        found = plan_network(job, opening.rows, opening.encoding, asked["method"])
        command = next_command(job, asked["method"])
        if as_json:
            findings = list(map(finding_record, found.findings))
            record = {**found.as_record(), "findings": findings}
            say_json({"kind": "network", **record, "command": command})
        else:
            say(network_text(screen, found), *screen.wrapped(f"next: {command}", hanging=6))
        return DONE
    from thalweg.planner.plan import plan as planned

    made = only(planned(made_ready(job)[1], job.tol), asked["method"])
    command = next_command(job, asked["method"] or (made.best,))
    if as_json:
        say_json({"kind": "linear", **made.as_record(), "command": command})
    else:
        say(text(screen, made), *screen.wrapped(f"next: {command}", hanging=6))
    return DONE


def only(made: Plan, names: tuple[str, ...]) -> Plan:
    """The plan with these methods alone; all where none is named."""
    from dataclasses import replace

    from thalweg.core.plan import PlanRow
    from thalweg.methods.registry import resolve

    wanted = [resolve(name).name for name in names if name != "auto"]
    if not wanted:
        return made
    rows = [row for row in made.rows if row.method in wanted]
    known = [row.method for row in rows]
    rows += [
        PlanRow(name, eligible=False, remark="nothing is known of how long it takes")
        for name in dict.fromkeys(wanted)
        if name not in known
    ]
    return replace(made, rows=tuple(rows))


def text(screen: Screen, made: Plan) -> str:
    """What a person reads."""
    lines = [screen.labelled("Problem", made.problem, tone=CHIEF)]
    lines.append(screen.labelled("Geometry", _tied(made.geometry, str), tone=CHIEF))
    target = f"gap ≤ {made.target:.3g} (tol = {made.tol:g})"
    lines.append(screen.labelled("Target", target, tone=CHIEF))
    if made.advice:
        lines.append(screen.labelled("Advice", as_typed(made.advice), tone=CHIEF))
    able = [row for row in made.rows if row.eligible]
    rows = [
        (
            ("▸ " if row.remark.startswith("CHOSEN") else "  ") + row.method,
            *row.spelled,
            row.remark,
        )
        for row in able
    ]
    tones = [CHIEF if row.remark.startswith("CHOSEN") else None for row in able]
    if rows:
        lines += ["", grid(screen, COLUMNS, rows, tones)]
    for row in made.rows:
        if not row.eligible:
            why = as_typed(row.remark).removeprefix(f"{row.method} ")
            lines += screen.wrapped(f"{row.method}: {why}", indent=2, hanging=2)
    lines += ["", *screen.wrapped(f"{LEGEND} {took(made)}")]
    return "\n".join(lines)


def network_text(screen: Screen, made: NetworkPlan) -> str:
    """What a person reads of a network."""
    from thalweg.core.plan import spelled_bytes

    lines = [
        screen.labelled("Problem", " ".join(made.problem.split()), tone=CHIEF),
        screen.labelled("Geometry", _tied(made.geometry, str), tone=CHIEF),
        screen.labelled("Memory", _tied(made.memory, spelled_bytes), tone=CHIEF),
    ]
    for finding in made.findings:
        if finding.severity.name != "OK":
            claim = f"{finding.severity.name} {finding.name}: {as_typed(finding.claim)}"
            lines.append(screen.labelled("Doctor", claim, tone=CHIEF))
    rows = [
        (("  " if place else "▸ ") + row.method, *row.spelled, row.remark)
        for place, row in enumerate(made.rows)
    ]
    tones = [None if place else CHIEF for place in range(len(rows))]
    end = screen.wrapped(f"{NETWORK_LEGEND} {took(made)}")
    return "\n".join([*lines, "", grid(screen, NETWORK_COLUMNS, rows, tones), "", *end])


def _tied(content: Mapping[str, Any], spell: Callable[[Any], str]) -> str:
    """Names with their values, of which none is torn apart at the end of a line."""
    return "   ".join(
        name + TIED + spell(value).replace(" ", TIED) for name, value in content.items()
    )


def took(made: Plan | NetworkPlan) -> str:
    """How long planning was, and what was compiled for it."""
    from thalweg.core.plan import spelled_compiled, spelled_seconds

    return f"Planning took {spelled_seconds(made.seconds)}{spelled_compiled(made.compiled)}."


def next_command(job: Job, names: tuple[str, ...]) -> str:
    """The command that does what was planned."""
    from thalweg.runs.command import arguments_of

    return shlex.join(["thalweg", "train", *arguments_of(job, names)])
