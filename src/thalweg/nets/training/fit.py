"""`fit`: train a network and return the record of it, however it ended.

    for every epoch, for every group of batches:
        F = loss + penalties, its gradient, one step of the optimizer
    then validation, a row of the trace, early stopping, a checkpoint

It ends with an `Outcome`: all epochs done, early stopping, time limit, Ctrl-C or a probe that
asked, or a loss that is no number. Then the reason names the layer whose output was the first that
was not finite, and the model has the weights of the last epoch that ended well.

A seed decides everything: the order of the rows by a generator of its own, dropout by PyTorch's,
which is left as it was. Denormals are flushed while it trains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, Unpack

import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from thalweg.core.checks import check_count, check_number, describe
from thalweg.core.errors import InputError, StorageError
from thalweg.core.outcome import Outcome
from thalweg.core.run import Run
from thalweg.nets.training import world
from thalweg.nets.training.asked import Companions, Goal, Limits, More, Rows, check_names, more_of
from thalweg.nets.training.batches import Batch
from thalweg.nets.training.choice import name_of
from thalweg.nets.training.denormals import flushed_denormals
from thalweg.nets.training.divergence import first_bad_parameter, origin
from thalweg.nets.training.evaluate import NO_SCORE, modes_kept, score
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.journey import Training, attached, own_randomness
from thalweg.nets.training.opening import MONITORS, begin, training_of
from thalweg.nets.training.probe import Moment, Probe, due, probes_of
from thalweg.nets.training.run import run_of
from thalweg.nets.training.step import Stepper
from thalweg.running.checkpoint import Checkpoint
from thalweg.running.interrupt import Interrupt
from thalweg.running.progress import Progress

PAUSE = 1.0  # seconds at least between checkpoints that only the end of an epoch asks for


def fit(
    model: nn.Module,
    data: Any,
    optimizer: Any = "adam",
    loss: Any = "cross-entropy",
    epochs: int = 10,
    *,
    batch_size: int | None = 64,
    validation: Any = None,
    regularizers: Iterable[Any] = (),
    probes: Iterable[Probe] = (),
    seed: int = 0,
    progress: bool = True,
    **more: Unpack[More],
) -> Run:
    """Train `model` on `data` in place and return the run, however it ended.

    Parameters
    ----------
    data, validation
        Pairs (x, y) of tensors or arrays, or any iterable of such, as a `DataLoader`. uint8 images
        are divided by 255.
    optimizer
        A name ("adam", "adam[lr=0.001]"), an optimizer of this model, or a function that makes one
        from its parameters.
    loss
        "cross-entropy", "binary-cross-entropy", "squared", or a function of outputs and labels.
    batch_size
        Rows of a batch; None takes all, for the Newton family.
    regularizers
        What holds the weights back.
    probes
        Functions of a `Moment`, called after every step, or every `probe.every` steps; returning
        True ends the training. What one with a `state_dict` remembers is in the checkpoint.
    more
        What is seldom asked, by name:

        - `shuffle=True`, `drop_last=False`: whether to draw a new order each epoch, and to leave
          out a last batch that is short;
        - `accumulate=1`: batches whose gradients make one step;
        - `augmentation`: what changes the samples;
        - `early_stopping`: what ends the training and restores the best weights;
        - `scheduler`: a `torch.optim.lr_scheduler` of the optimizer, or a function that makes one
          from it, stepped after every epoch; one that looks at a plateau is told the validation
          loss, or without one the training loss;
        - `checkpoint`: a file, or a `Checkpoint` with a number of steps or seconds. The training is
          put aside there regularly and at the end of epochs, and goes on from there if the file
          exists;
        - `time_limit`: seconds;
        - `precision`: "bfloat16" runs forward passes in it; None in the model's own.

    >>> import torch, thalweg as tw
    >>> x = torch.linspace(-1, 1, 50)[:, None]
    >>> line = torch.nn.Linear(1, 1)
    >>> run = tw.nets.fit(line, (x, 3 * x + 1), "sgd[lr=0.5]", "squared", 50, batch_size=10)
    >>> run.outcome.name, round(line.weight.item(), 4), round(line.bias.item(), 4)
    ('FINISHED', 3.0, 1.0)
    """
    if not isinstance(model, nn.Module):
        raise InputError(f"model must be a torch.nn.Module, got {describe(model)}")
    check_names(more)
    ends = more_of(Limits, more)
    if ends.get("time_limit") is not None:
        check_number("time_limit", ends["time_limit"], at_least=0)
    kept = Checkpoint.of(ends.pop("checkpoint", None))
    return trained(
        model,
        Goal(optimizer, loss, epochs, check_count("seed", seed, at_least=0), **more_of(Goal, more)),
        Rows(data, validation, batch_size, **more_of(Rows, more)),
        Companions(tuple(regularizers), probes_of(probes), **more_of(Companions, more)),
        Limits(progress, kept, **ends),
    )


def trained(
    model: nn.Module, goal: Goal, rows: Rows, companions: Companions, limits: Limits
) -> Run:
    """The same, of what was asked in groups."""
    order_seed, torch_seed = np.random.SeedSequence(goal.seed).generate_state(2).tolist()
    with ExitStack() as stack:
        device = Inputs(model, goal.precision).like.device
        stack.enter_context(own_randomness(torch_seed, device))
        stack.enter_context(modes_kept(model))
        stack.enter_context(flushed_denormals())
        if not model.training:
            model.train()
        training = training_of(model, goal, rows, companions, order_seed)
        begin(training, limits.checkpoint)
        stack.enter_context(attached(training.companions.regularizers, model))
        interrupt = stack.enter_context(Interrupt())
        steps = training.length and training.epochs * -(-training.length // training.accumulate)
        is_shown = bool(limits.progress) and world.is_main()
        display = stack.enter_context(Progress(name_of(training.optimizer), steps, shown=is_shown))
        outcome, cause = _drive(training, limits, interrupt, display)
        return _finish(training, outcome, cause, limits.checkpoint)


def _drive(
    training: Training, limits: Limits, interrupt: Interrupt, display: Progress
) -> tuple[Outcome, str]:
    """Epoch after epoch until there is an outcome, and what is known of its cause."""
    regularizers = training.companions.regularizers
    stepper = Stepper(
        training.model, training.optimizer, training.loss, training.inputs, regularizers
    )
    time_limit = math.inf if limits.time_limit is None else limits.time_limit
    kept, last_kept = limits.checkpoint, training.seconds
    while training.epoch < training.epochs and not training.is_stopped:
        if training.seconds >= time_limit:
            return Outcome.TIME_LIMIT, ""
        for group in training.groups():
            taken = stepper.step(group, training.progress)
            if not math.isfinite(taken.value):
                return Outcome.DIVERGED, _why(training, taken.value, group)
            training.count(len(group), taken)
            for regularizer in regularizers:
                regularizer.after_step(training.model, training.progress, training.rate)
            if _asked_to_stop(training, taken.value, group[-1]):
                return Outcome.INTERRUPTED, "a probe asked for it"
            if kept and kept.is_due(training.step, training.seconds - last_kept):
                _keep(training, kept)
                last_kept = training.seconds
            if display.is_due(training.seconds):
                display.show(training.step, training.seconds, _where(training))
            # Here, and not before the step: a group that was drawn has moved the generators.
            if interrupt.requested:
                return Outcome.INTERRUPTED, "Ctrl-C was pressed"
            if training.seconds >= time_limit:
                return Outcome.TIME_LIMIT, ""
        if bad := first_bad_parameter(training.model):
            return Outcome.DIVERGED, f"{bad} is not finite after step {training.step}"
        _close_epoch(training)
        if kept and training.seconds - last_kept >= PAUSE:
            _keep(training, kept)
            last_kept = training.seconds
    return Outcome.EARLY_STOPPED if training.is_stopped else Outcome.FINISHED, ""


def _close_epoch(training: Training) -> None:
    """Validation, a row of the trace, early stopping."""
    held_out = training.validation
    measured = NO_SCORE
    if held_out is not None:
        measured = score(training.model, held_out, training.loss, training.inputs)
    training.epoch += 1
    training.position = 0
    training.note(measured)
    training.remember()
    _reschedule(training)
    early_stopping = training.companions.early_stopping
    if early_stopping is not None:
        monitored = measured[MONITORS[early_stopping.monitor]]
        stop = early_stopping.update(monitored, training.model, training.epoch)
        training.is_stopped = bool(stop)


def _reschedule(training: Training) -> None:
    """The learning rate of the next epoch; the trace has that of the one that is over."""
    scheduler = training.companions.scheduler
    if isinstance(scheduler, ReduceLROnPlateau):
        monitored = "training_loss" if training.validation is None else "validation_loss"
        scheduler.step(training.trace.last[monitored])
    elif scheduler is not None:
        scheduler.step()


def _asked_to_stop(training: Training, value: float, batch: Batch) -> bool:
    """Tell the probes that are due; whether one of them asked to stop."""
    told = due(training.companions.probes, training.step)
    if not told:
        return False
    moment = Moment(
        training.step, training.epoch, training.progress, value, training.rate, training.model,
        training.optimizer, batch,
    )  # fmt: skip
    answers = [probe(moment) for probe in told]  # all of them, whatever the first says
    return any(answers)


def _why(training: Training, value: float, group: list[Batch]) -> str:
    """The layer that a loss which is no number comes from."""
    bad = next((batch for batch in group if not _is_fine(training, batch)), group[-1])
    found = origin(training.model, bad.x)
    return (
        f"the loss became {value} at step {training.step + 1}, in epoch {training.epoch + 1}: "
        f"{found.cause}"
    )


def _is_fine(training: Training, batch: Batch) -> bool:
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        output = training.inputs.run(training.model, batch.x)
        return math.isfinite(float(training.loss(output, batch.y)))


def _keep(training: Training, checkpoint: Checkpoint) -> None:
    """Put the training aside; a disk that has filled up since is a finding, not the end of it."""
    try:
        training.put_aside(checkpoint.file)
        training.storage_problem = ""
    except StorageError as problem:
        training.storage_problem = str(problem)


def _finish(training: Training, outcome: Outcome, cause: str, checkpoint: Checkpoint | None) -> Run:
    """The last checkpoint, the last row, the weights that are to be kept, and the record."""
    if outcome is Outcome.DIVERGED:
        training.append(math.nan, math.nan)
        training.go_back()
    else:
        if checkpoint:
            # Before the row of an epoch cut short, which a resumed training will not have.
            _keep(training, checkpoint)
        if training.rows:
            training.note()
    early_stopping = training.companions.early_stopping
    if early_stopping is not None and training.epoch:
        early_stopping.restore(training.model)
    return run_of(training, outcome, cause, checkpoint)


def _where(training: Training) -> str:
    """One line for a person who waits."""
    last, done = training.trace.last, training.progress
    left = (1.0 - done) * training.seconds / done if done else math.nan
    accuracy = last["validation_accuracy"]
    parts = [
        f"epoch {training.epoch + 1}/{training.epochs}",
        f"loss {training.loss_sum / max(1, training.rows):.4g}",
        "" if math.isnan(accuracy) else f"accuracy {accuracy:.4f}",
        f"rate {training.rate:.3g}",
        f"{left:.0f} s left",
    ]
    return ", ".join(filter(None, parts))
