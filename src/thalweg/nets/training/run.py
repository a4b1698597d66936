"""The `Run` of a training that has ended, with the reason in one paragraph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thalweg.core.card import count_of
from thalweg.core.certificate import NONE, Certificate
from thalweg.core.environment import environment
from thalweg.core.outcome import Outcome
from thalweg.core.run import Run
from thalweg.nets.training.choice import name_of, options_of
from thalweg.nets.training.journey import Training
from thalweg.running.checkpoint import Checkpoint, checkpoint_lost


def run_of(training: Training, outcome: Outcome, cause: str, checkpoint: Checkpoint | None) -> Run:
    """What `fit` returns."""
    trace = training.trace
    values = trace["value"]
    if best := getattr(training.companions.early_stopping, "best_epoch", None):
        # The model has the weights of that epoch; one cut short comes after its row.
        values = values[: 1 + int(np.searchsorted(trace["epoch"], best))]
    finite = values[np.isfinite(values)]
    problem = training.storage_problem
    return Run(
        objective=f"{training.loss.name} of {type(training.model).__name__}",
        method=name_of(training.optimizer),
        w=training.weights(),
        value=float(finite[-1]) if finite.size else math.nan,
        outcome=outcome,
        reason=reason(training, outcome, cause, checkpoint),
        trace=trace,
        certificate=no_certificate(float(trace.last["training_loss"])),
        w0=training.w0,
        tol=0.0,
        seed=training.seed,
        options=options_of(training.optimizer),
        counts={
            "epochs": training.epoch,
            "steps": training.step,
            "passes": trace.last["passes"],
        },
        findings=(checkpoint_lost(problem),) if problem else (),
        environment=environment(),
        compiled=training.clock.compiled,
    )


def reason(training: Training, outcome: Outcome, cause: str, checkpoint: Checkpoint | None) -> str:
    """The outcome with its numbers, its cause and what helps."""
    done = f"{count_of(training.epoch, 'epoch')} of {training.epochs}"
    steps = count_of(training.step, "step")
    resume = (
        f"Call fit again with checkpoint='{checkpoint.file}' to go on."
        if checkpoint
        else "Give checkpoint=... to make a training resumable."
    )
    if outcome is Outcome.DIVERGED:
        kept = training.last_finite_epoch
        whose = f"those of the end of epoch {kept}" if kept else "those it began with"
        return (
            f"{outcome} Here, {cause}. The model holds the last finite weights, {whose}. "
            "Try a smaller learning rate, clip_norm, or scaled inputs, with a new optimizer: "
            "the state of this one is of the weights that left."
        )
    if outcome is Outcome.TIME_LIMIT:
        return f"The time limit came after {done}, {steps}. {_losses(training)} {resume}"
    if outcome is Outcome.INTERRUPTED:
        return f"Stopped after {done}, {steps}: {cause}. {_losses(training)} {resume}"
    best = ""
    if training.companions.early_stopping is not None:
        epoch = getattr(training.companions.early_stopping, "best_epoch", None)
        best = " The model holds the best weights" + (f", of epoch {epoch}." if epoch else ".")
    return f"{outcome} {done}, {steps}. {_losses(training)}{best}"


def no_certificate(loss: float) -> Certificate:
    """A training proves nothing about its weights, and says so."""
    return Certificate(
        kind=NONE,
        holds=False,
        measured=loss,
        limit=math.nan,
        statement="none: the loss is a mean over batches while the weights moved",
        shows="how the losses went, in the trace",
        does_not_show="that the weights are near a minimum: tw.classify of "
        "tw.nets.objective(model, data, loss) looks at that",
    )


def _losses(training: Training) -> str:
    trace = training.trace
    rows: dict[str, Any] = trace.last
    if len(trace) == 1:
        return f"The loss of the first batch was {rows['training_loss']:.4g}."
    seen = trace["validation_loss"]
    seen = seen[~np.isnan(seen)]
    text = f"Training loss {trace['training_loss'][0]:.4g} → {rows['training_loss']:.4g}"
    if seen.size:
        text += f", validation loss {seen[-1]:.4g}"
        accuracy = trace["validation_accuracy"]
        accuracy = accuracy[~np.isnan(accuracy)]
        text += f", accuracy {accuracy[-1]:.4f}" if accuracy.size else ""
    return text + "."
