"""Can the network fit one batch, and does it do so because of its inputs?

TheDeepChecker trains a copy on sixteen samples, without penalty and dropout, for at most 1000
iterations; at most 5 % of them may be wrong at the end (of a regression: 1 − R² at most 5 %). Here
it stops as soon as they are fitted, or when the loss has not changed at all for 20 iterations. A
second copy is trained on zeros in place of the samples, as long as the first but for at most 100
iterations: a network that uses its inputs does worse there, in error or in loss.

The loop's own faults are kept: the sign of the loss, gradients that are never zeroed, the mode.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import nn

from doctor.baselines.observer import accuracy
from doctor.baselines.record import Record
from doctor.losses import criterion
from doctor.program import changed

SAMPLES, ITERATIONS, ERROR = 16, 1000, 0.05
COMPARED = 100  # iterations on zeros at most
STUCK = 20  # iterations without any change


class Fit(NamedTuple):
    """How one batch was fitted."""

    error: float  # the smallest seen
    losses: list[float]


def batch(record: Record) -> tuple[torch.Tensor, torch.Tensor]:
    """Sixteen samples from all over the training rows, so that sorted ones are not all alike."""
    n = len(record.data.x)
    rows = torch.linspace(0, n - 1, min(SAMPLES, n)).long()
    return record.data.x[rows], record.data.y[rows]


def fits(record: Record) -> tuple[bool, bool]:
    """Whether one batch is fitted, and whether its inputs make it so."""
    x, y = batch(record)
    real = fit(record, x, y, ITERATIONS)
    blank = fit(record, torch.zeros_like(x), y, min(COMPARED, len(real.losses)))
    seen = len(blank.losses) - 1
    # Of losses that are no numbers nothing is said.
    depends = real.error < blank.error or not real.losses[seen] >= blank.losses[seen]
    return real.error <= ERROR, depends


def fit(record: Record, x: torch.Tensor, y: torch.Tensor, iterations: int) -> Fit:
    """Train a copy of the first network on one batch until it is fitted."""
    program = changed(record.program, weight_decay=0.0)
    model = deepcopy(record.start).train(program.loop.trains_in == "train")
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    optimizer, loss_of = program.optimizer(model), criterion(program)
    error, losses = math.inf, []
    for _ in range(iterations):
        if program.loop.zero_grad:
            optimizer.zero_grad()
        output = model(x)
        loss = program.loop.sign * loss_of(output, y)
        losses.append(float(loss.detach()))
        error = min(error, 1.0 - float(accuracy(program, output.detach(), y, record.data)))
        if error <= ERROR or not math.isfinite(losses[-1]) or _is_stuck(losses):
            break
        loss.backward()
        optimizer.step()
    return Fit(error, losses)


def _is_stuck(losses: list[float]) -> bool:
    """Whether the loss has been the same number for so long that it stays."""
    return len(losses) >= STUCK and min(losses[-STUCK:]) == max(losses[-STUCK:])
