"""Before the first step: what was asked is checked, and the data against the model.

The first batch is passed through the network in eval mode. Its loss is the first row of the trace,
and its outputs tell how many classes there are for labels to be in. A training that has a
checkpoint goes on from there instead.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from thalweg.core.checks import check_count, describe
from thalweg.core.errors import InputError
from thalweg.nets.training.asked import Companions, Goal, Rows
from thalweg.nets.training.batches import Batches, Stream, batches_of
from thalweg.nets.training.choice import optimizer_of
from thalweg.nets.training.evaluate import BATCH, modes_kept
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.journey import Training
from thalweg.nets.training.losses import loss_of
from thalweg.running.checkpoint import Checkpoint

MONITORS = {"validation loss": 0, "validation accuracy": 1}  # fields of a `Score`


def training_of(
    model: nn.Module, goal: Goal, rows: Rows, companions: Companions, order_seed: int
) -> Training:
    """The training that was asked of `model`, before its first step."""
    optimizer = optimizer_of(goal.optimizer, model, goal.loss)
    return Training(
        model,
        optimizer,
        loss_of(goal.loss),
        Inputs(model, goal.precision),
        batches_of(
            rows.data,
            rows.batch_size,
            shuffle=rows.shuffle,
            drop_last=rows.drop_last,
            seed=order_seed,
        ),
        check_count("epochs", goal.epochs),
        goal.seed,
        check_count("accumulate", rows.accumulate),
        companions._replace(scheduler=scheduler_of(companions.scheduler, optimizer)),
        validation_of(rows.validation, companions.early_stopping, rows.batch_size),
    )


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
