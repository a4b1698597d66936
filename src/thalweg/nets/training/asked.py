"""What is asked of a training, in groups: its goal, its rows, what goes along, what may end it.

They are `fit`'s arguments as they were given; `opening` checks them and makes a `Training` of them.
What is seldom asked is a `More`, and has its default where its group is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from thalweg.core.checks import check_known
from thalweg.nets.training.probe import Probe
from thalweg.running.checkpoint import Checkpoint


class More(TypedDict, total=False):
    """What a training may be told besides, by name."""

    shuffle: bool
    drop_last: bool
    accumulate: int
    augmentation: Any
    early_stopping: Any
    scheduler: Any
    checkpoint: str | Path | Checkpoint | None
    time_limit: float | None
    precision: str | None


class Goal(NamedTuple):
    """What is minimised, by what, for how long."""

    optimizer: Any  # a name, an optimizer, or a function that makes one
    loss: Any  # a name, or a function of outputs and labels
    epochs: int
    seed: int
    precision: str | None = None  # of forward passes; None for the model's own


class Rows(NamedTuple):
    """The data, and how it is cut into steps."""

    data: Any
    validation: Any
    batch_size: int | None  # None for all
    shuffle: bool = True
    drop_last: bool = False
    accumulate: int = 1  # batches whose gradients make one step


class Companions(NamedTuple):
    """What acts beside the optimizer; each may remember something from step to step."""

    regularizers: Sequence[Any] = ()
    probes: Sequence[Probe] = ()
    augmentation: Any = None
    early_stopping: Any = None
    scheduler: Any = None  # of the learning rate, stepped once an epoch


class Limits(NamedTuple):
    """What may end a training or put it aside, and whether its progress is shown."""

    progress: bool
    checkpoint: Checkpoint | None = None
    time_limit: float | None = None  # seconds


def more_of(group: type[tuple[Any, ...]], more: More) -> dict[str, Any]:
    """What of `more` belongs to a group, as its keyword arguments."""
    fields: tuple[str, ...] = group._fields  # type: ignore[attr-defined]
    return {name: value for name, value in more.items() if name in fields}


def check_names(more: More) -> None:
    """A name that no group has is a mistake, and not to be passed over."""
    known = (*Goal._fields, *Rows._fields, *Companions._fields, *Limits._fields)
    check_known("fit", "argument", more, known)
