"""What Thalweg's doctor says of a program: once with its data and loss, once with its loop alone.

The program trains once, by its own loop, with `tw.watch` around it: two lines, as a user adds them.
What the doctor would say without data and loss is read from the same record, with all that came
from these taken out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn

import thalweg as tw
from doctor.loop import run
from doctor.losses import criterion
from doctor.program import Program
from thalweg.core.finding import Finding, Severity
from thalweg.doctor import Record, Watch, diagnose

LOOKS = 40  # in a training
OWN = ("data_", "first_", "constant_", "reachable_", "output_", "small_", "trained_", "validated_",
       "batch_", "target_wildest")  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Causes that were named with severity act, in order, and how long it took."""

    causes: tuple[str, ...]
    by_loop_alone: tuple[str, ...]
    seconds: float  # of training and doctor
    said: str = ""  # the first finding, in words


def judge(program: Program) -> Verdict:
    """Train it under the doctor's eyes."""
    watches: list[Watch] = []

    def watch(model: nn.Module, optimizer: torch.optim.Optimizer) -> Watch:
        watches.append(watch_of(program, model, optimizer))
        return watches[0]

    result = run(program, watch)
    record = watches[0].record
    findings = diagnose(record)
    return Verdict(
        causes(findings),
        causes(diagnose(loop_alone(record))),
        result.seconds,
        str(findings[0]) if findings else "",
    )


def watch_of(program: Program, model: nn.Module, optimizer: torch.optim.Optimizer) -> Watch:
    """The doctor, given what the program has: data, validation rows and loss."""
    data, loss_of, sign = program.split(), criterion(program), program.loop.sign
    batches = math.ceil(len(data.x) / program.batch_size)
    steps = program.epochs * math.ceil(batches / program.loop.accumulate)
    return tw.watch(
        model,
        optimizer,
        loss=lambda z, y: sign * loss_of(z, y),
        data=(data.x, data.y),
        validation=(data.x_val, data.y_val),
        every=max(1, steps // LOOKS),
    )


def causes(findings: list[Finding]) -> tuple[str, ...]:
    """Of findings that ask to act."""
    acts = [finding.name for finding in findings if finding.severity is Severity.ACT]
    return tuple(dict.fromkeys(acts))


def loop_alone(record: Record) -> Record:
    """The record of a watch that was given neither data nor loss."""
    scalars = {name: v for name, v in record.scalars.items() if not name.startswith(OWN)}
    columns = {
        name: np.full_like(column, math.nan) if name.startswith("hessian") else column
        for name, column in record.columns.items()
    }
    return replace(record, scalars=scalars, columns=columns)
