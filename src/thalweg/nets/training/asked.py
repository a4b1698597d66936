"""What is asked of a training, in groups: its goal, its rows, what goes along, what may end it.

They are `fit`'s arguments as they were given; `opening` checks them and makes a `Training` of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from thalweg.nets.training.probe import Probe
from thalweg.running.checkpoint import Checkpoint


class Goal(NamedTuple):
    """What is minimised, by what, for how long."""

    optimizer: Any  # a name, an optimizer, or a function that makes one
    loss: Any  # a name, or a function of outputs and labels
    epochs: int
    seed: int
    precision: str | None  # of forward passes; None for the model's own


class Rows(NamedTuple):
    """The data, and how it is cut into steps."""

    data: Any
    validation: Any
    batch_size: int | None  # None for all
    shuffle: bool
    drop_last: bool
    accumulate: int  # batches whose gradients make one step


class Companions(NamedTuple):
    """What acts beside the optimizer; each may remember something from step to step."""

    regularizers: Sequence[Any] = ()
    augmentation: Any = None
    early_stopping: Any = None
    scheduler: Any = None  # of the learning rate, stepped once an epoch
    probes: Sequence[Probe] = ()


class Limits(NamedTuple):
    """What may end a training or put it aside, and whether its progress is shown."""

    time_limit: float | None  # seconds
    checkpoint: Checkpoint | None
    progress: bool
