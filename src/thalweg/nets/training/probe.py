"""Probes: functions that are told of a training after its steps, may end it, and may remember.

    probe(moment)                   after every step, or every `probe.every` steps; True ends it
    probe.state_dict()              what it remembers, in tensors, numbers and words
    probe.load_state_dict(state)    go on from there

Any function is a probe. What one with the last two remembers goes into the checkpoint with the
weights of the same moment, so that a resumed training has it as one that never stopped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import nn

from thalweg.core.checks import check_callable
from thalweg.nets.training.batches import Batch


class Moment(NamedTuple):
    """What a probe is told after a step, with the gradients still in place."""

    step: int
    epoch: int  # epochs done
    progress: float  # share of the training done
    value: float  # F before the step
    rate: float
    model: nn.Module
    optimizer: torch.optim.Optimizer
    batch: Batch


class Probe(Protocol):
    """A function of a moment."""

    def __call__(self, moment: Moment, /) -> bool | None:
        """Whether to end the training."""


@runtime_checkable
class Stateful(Protocol):
    """What remembers something from step to step."""

    def state_dict(self) -> Any:
        """What it remembers."""

    def load_state_dict(self, state: Any, /) -> Any:
        """Remember this instead."""


def probes_of(probes: Iterable[Any]) -> tuple[Probe, ...]:
    """Functions, all of them."""
    probes = tuple(probes)
    for probe in probes:
        check_callable("probes", probe, signature="of a Moment that returns True to stop")
    return probes


def stateful(probes: Sequence[Probe]) -> list[Stateful]:
    """Those that remember something."""
    return [probe for probe in probes if isinstance(probe, Stateful)]


def due(probes: Sequence[Probe], step: int) -> list[Probe]:
    """Those that are to be told of this step."""
    return [probe for probe in probes if step % getattr(probe, "every", 1) == 0]
