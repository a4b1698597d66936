"""One step of training: gradients of a group of batches, then the optimizer's move.

A group of batches B₁ … B_k (`accumulate`) counts as one batch of n = Σ|Bⱼ| rows:

    F = Σⱼ (|Bⱼ|/n)·(loss on Bⱼ + penalties)

and each batch is let go before the next one is looked at. Penalties are asked for after each
forward pass, as some look at activations; those of weights come out once, as the shares sum to 1.

An optimizer whose `step` needs a closure (LBFGS, TruncatedNewton) is given one that computes F and
its gradient over the same group, as often as it likes. `closure.graph()` is F as a tensor that can
be differentiated twice, with nothing added to `.grad`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import nn

from thalweg.nets.optimizers.method_optimizer import MethodOptimizer
from thalweg.nets.training.batches import Batch
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.losses import Loss


class Taken(NamedTuple):
    """What one step was taken on."""

    value: float  # F before the step
    loss: float  # F without penalties
    rows: int  # n
    looks: int  # rows that were passed through the network, again and again with a closure


class Stepper:
    """Steps `optimizer` on batches of `model`'s data."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        loss: Loss,
        inputs: Inputs,
        regularizers: Sequence[Any] = (),
    ) -> None:
        self.model, self.optimizer, self.loss, self.inputs = model, optimizer, loss, inputs
        self.regularizers = regularizers
        self.needs_closure = needs_closure(optimizer)

    def step(self, group: Sequence[Batch], progress: float) -> Taken:
        """One step; none where F is not finite, as its gradient would spoil all weights."""
        closure = Closure(self, group, progress)
        if self.needs_closure:
            self.optimizer.step(closure)  # type: ignore[arg-type]
        else:
            closure()
            if math.isfinite(closure.value):
                self.optimizer.step()
        return Taken(closure.value, closure.loss, closure.rows, closure.calls * closure.rows)


class Closure:
    """F and its gradient on one group of batches."""

    def __init__(self, stepper: Stepper, group: Sequence[Batch], progress: float) -> None:
        self._stepper, self._group, self._progress = stepper, group, progress
        self.rows = sum(len(batch.x) for batch in group)
        self.calls = 0
        self.value = self.loss = math.nan  # of the first call: where the step begins

    def __call__(self) -> torch.Tensor:
        """F; its gradient replaces what was in `.grad`."""
        self._stepper.optimizer.zero_grad(set_to_none=True)
        with torch.enable_grad():
            if len(self._group) == 1:
                loss, total = self._on(self._group[0])
                total.backward()
                loss, total = loss.detach(), total.detach()
            else:
                loss = total = torch.zeros((), device=self._stepper.inputs.like.device)
                for batch in self._group:
                    share = len(batch.x) / self.rows
                    part, whole = self._on(batch)
                    (share * whole).backward()
                    loss, total = loss + share * part.detach(), total + share * whole.detach()
        self._note(loss, total)
        return total

    def graph(self) -> torch.Tensor:
        """F as a tensor with its graph, for Hessian-vector products by double backward."""
        with torch.enable_grad():
            loss = total = torch.zeros((), device=self._stepper.inputs.like.device)
            for batch in self._group:
                share = len(batch.x) / self.rows
                part, whole = self._on(batch)
                loss, total = loss + share * part, total + share * whole
        self._note(loss.detach(), total.detach())
        return total

    def _note(self, loss: torch.Tensor, total: torch.Tensor) -> None:
        if self.calls == 0:
            self.value, self.loss = total.item(), loss.item()
        self.calls += 1

    def _on(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss on one batch, and F on it."""
        stepper = self._stepper
        loss = stepper.loss(stepper.inputs.run(stepper.model, batch.x), batch.y)
        total = loss
        for regularizer in stepper.regularizers:
            penalty = regularizer.penalty(stepper.model, self._progress)
            if isinstance(penalty, torch.Tensor) or penalty:
                total = total + penalty
        return loss, total


def needs_closure(optimizer: torch.optim.Optimizer) -> bool:
    """Whether `step` cannot be called without one."""
    if isinstance(optimizer, MethodOptimizer):
        return True
    closure = inspect.signature(optimizer.step).parameters.get("closure")
    return closure is not None and closure.default is inspect.Parameter.empty
