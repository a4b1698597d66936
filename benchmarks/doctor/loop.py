"""`run`: train a program with a plain PyTorch loop that does what its `Loop` says, faults included.

    result = run(program)
    result = run(program, watch=watch)

`watch` is a context manager, or a function of model and optimizer that makes one. Its `step(loss,
targets=labels)` is called once after every step of the optimizer, with the gradients still in
place, and its `validate(loss)` after every epoch.

The seed decides everything, and PyTorch's generator is left as it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from doctor.data import Split
from doctor.losses import criterion, score
from doctor.program import Program


@dataclass(frozen=True)
class Result:
    """What came of a program."""

    score: float  # as the program evaluates itself; see `doctor.losses`
    fresh_score: float  # as its users will find it, with the model in eval mode
    training_score: float
    training_loss: tuple[float, ...]  # mean over the batches of each epoch
    validation_loss: tuple[float, ...]  # after each epoch, as the program evaluates itself
    steps: int
    seconds: float
    model: nn.Module


def run(program: Program, watch: Any = None) -> Result:
    """Train `program` to its end and say what it reached."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(program.seed)
        data = program.split()
        model = program.model(data)
        optimizer = program.optimizer(model)
        if watch is not None and not hasattr(watch, "__enter__"):
            watch = watch(model, optimizer)
        with nullcontext() if watch is None else watch as observer:
            return _train(program, data, model, optimizer, observer)


def _train(
    program: Program,
    data: Split,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    observer: Any,
) -> Result:
    loop, loss_of = program.loop, criterion(program)
    begun, steps = time.perf_counter(), 0
    training_loss, validation_loss = [], []
    other = torch.randperm(len(data.x)) if not loop.aligned else torch.arange(len(data.x))
    for epoch in range(program.epochs):
        _set_rate(program, optimizer, epoch)
        model.train(loop.trains_in == "train")
        order = torch.randperm(len(data.x)) if loop.shuffle else torch.arange(len(data.x))
        batches = [rows for rows in order.split(program.batch_size) if len(rows) > 1]
        values = []
        for number, rows in enumerate(batches, 1):
            if loop.zero_grad and (number - 1) % loop.accumulate == 0:
                optimizer.zero_grad()
            x = AUGMENTATIONS[loop.augmentation](data.x[rows])
            y = data.y[other[rows]]
            loss = loop.sign * loss_of(model(x), y)
            if loop.l1:
                loss = loss + loop.l1 * sum(p.abs().sum() for p in model.parameters())
            (loss / loop.accumulate if loop.divides else loss).backward()
            values.append(loss.detach())
            if number % loop.accumulate and number < len(batches):
                continue
            if loop.clip_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), loop.clip_norm)
            optimizer.step()
            steps += 1
            if observer is not None:
                observer.step(loss, targets=y)
        training_loss.append(float(torch.stack(values).mean()))
        model.train(loop.evaluates_in == "train")
        with torch.no_grad():
            output = model(data.x_val)
            validation_loss.append(float(loss_of(output, data.y_val)))
        if observer is not None:
            observer.validate(validation_loss[-1])
    seconds = time.perf_counter() - begun
    model.eval()
    with torch.no_grad():
        return Result(
            score(program, output, data.y_val, data.classes),
            score(program, model(data.x_fresh), data.y_fresh, data.classes),
            score(program, model(data.x), data.y, data.classes),
            tuple(training_loss),
            tuple(validation_loss),
            steps,
            seconds,
            model,
        )


def _set_rate(program: Program, optimizer: torch.optim.Optimizer, epoch: int) -> None:
    """η·min(1, (t + 1)/warmup)·decayᵗ in epoch t."""
    loop = program.loop
    share = min(1.0, (epoch + 1) / loop.warmup) if loop.warmup else 1.0
    for group in optimizer.param_groups:
        group["lr"] = program.steps.learning_rate * share * loop.decay**epoch


def _half(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The function of a random half of the rows."""

    def augmented(x: torch.Tensor) -> torch.Tensor:
        chosen = (torch.rand(len(x)) < 0.5).reshape(-1, *[1] * (x.ndim - 1))
        return torch.where(chosen, function(x), x)

    return augmented


def _rolled(x: torch.Tensor) -> torch.Tensor:
    down, right = torch.randint(-1, 2, (2,)).tolist()
    return x.roll((down, right), (-2, -1))


AUGMENTATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "none": lambda x: x,
    "noise": lambda x: x + 0.1 * torch.randn_like(x),
    "roll": _rolled,  # by at most a pixel
    "turn": _half(lambda x: x.transpose(-2, -1)),  # makes a bar across of a bar down
    "negate first": _half(lambda x: torch.cat([-x[:, :1], x[:, 1:]], 1)),
    "mix": lambda x: x[torch.randperm(len(x))],  # the samples, not their labels
}
