"""Before the first step: what was asked is checked, and the data against the model.

The first batch is passed through the network in eval mode. Its loss is the first row of the trace,
and its outputs tell how many classes there are for labels to be in. A training that has a
checkpoint goes on from there instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from thalweg.core.checks import check_callable, describe
from thalweg.core.errors import InputError
from thalweg.nets.training.batches import Batches, Stream, batches_of
from thalweg.nets.training.evaluate import BATCH, modes_kept
from thalweg.nets.training.journey import Training
from thalweg.running.checkpoint import Checkpoint

MONITORS = {"validation loss": 0, "validation accuracy": 1}  # fields of a `Score`


def begin(training: Training, checkpoint: Checkpoint | None) -> None:
    """Check data against the model on a first batch, or go on from a checkpoint."""
    if not training.batches.can_repeat and training.epochs > 1:
        raise InputError(
            "data must be iterable once an epoch, got a generator, which ends after the first: "
            "pass a list or a DataLoader, or epochs=1"
        )
    batches = training.batches
    if isinstance(batches, Batches):
        batches.y = training.inputs.labels(batches.y, training.loss)
    if checkpoint and training.take_up(checkpoint):
        return
    if training.batches.can_repeat:
        with modes_kept(training.model), torch.no_grad(), torch.random.fork_rng(devices=[]):
            training.model.eval()
            _look(training)
    else:
        training.append(math.nan, math.nan)
    if checkpoint:
        training.put_aside(checkpoint.file)  # an unwritable place is bad input: say so first


def _look(training: Training) -> None:
    """The first row of the trace: the loss on a first batch; all labels are checked with it."""
    batches = training.batches
    state = batches.state_dict()
    first = next(iter(batches.epoch()))
    batches.load_state_dict(state)
    x, y = training.inputs(first.x), training.inputs.labels(first.y, training.loss)
    output = training.inputs.look(training.model, x)
    training.output = output
    training.loss.check(output, batches.y if isinstance(batches, Batches) else y, batches.name)
    held_out = training.validation
    if isinstance(held_out, Batches):
        held_out.y = training.inputs.labels(held_out.y, training.loss)
        training.loss.check(output, held_out.y, held_out.name)
    value = float(training.loss(output, y))
    training.append(value, value)


def validation_of(
    validation: Any, early_stopping: Any, batch_size: int | None
) -> Batches | Stream | None:
    """Batches of validation data, which early stopping cannot do without."""
    if validation is None:
        if early_stopping is not None:
            raise InputError(
                f"early_stopping needs validation data for its {early_stopping.monitor}, got none: "
                "pass validation=(X, y)"
            )
        return None
    if early_stopping is not None and early_stopping.monitor not in MONITORS:
        raise InputError(
            f"early_stopping must monitor one of {', '.join(MONITORS)}, got "
            f"{describe(early_stopping.monitor)}"
        )
    rows = BATCH if batch_size is None else max(BATCH, batch_size)
    return batches_of(validation, rows, shuffle=False, name="validation")


def scheduler_of(scheduler: Any, optimizer: torch.optim.Optimizer) -> Any:
    """A scheduler of this optimizer, given or made; None for none."""
    if scheduler is None:
        return None
    made = scheduler if hasattr(scheduler, "optimizer") else None
    if made is None and callable(scheduler):
        made = scheduler(optimizer)
    if getattr(made, "optimizer", None) is not optimizer:
        raise InputError(
            f"scheduler must be of the optimizer that trains, got {describe(scheduler)}: make it "
            "from that very optimizer, or pass a function, lambda optimizer: StepLR(optimizer, 5)"
        )
    return made


def probes_of(probes: Iterable[Any]) -> Sequence[Any]:
    """Functions, all of them."""
    probes = tuple(probes)
    for probe in probes:
        check_callable("probes", probe, signature="of a Moment that returns True to stop")
    return probes


def checkpoint_of(checkpoint: Any) -> Checkpoint | None:
    """A file name stands for a checkpoint there."""
    if checkpoint is None or isinstance(checkpoint, Checkpoint):
        return checkpoint
    if isinstance(checkpoint, str | Path):
        return Checkpoint(checkpoint)
    raise InputError(f"checkpoint must be a file name or a Checkpoint, got {describe(checkpoint)}")
