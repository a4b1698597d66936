"""`Program`: all that decides what a program of the zoo does, as one record.

Its parts are records too: the data, the network, the optimizer's steps and how the loop behaves.
Names of fields are unique over all parts, so that one call changes any of them:

    changed(program, learning_rate=10.0, zero_grad=False)

A faulty program is its healthy twin, changed; it says what is wrong with it in `fault`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import torch
from torch import nn

from doctor.data import Data, Split
from doctor.nets import Net, build
from doctor.prepare import prepare


@dataclass(frozen=True)
class Steps:
    """The optimizer and its numbers."""

    optimizer: str = "adam"
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict)  # of torch's optimizer, besides

    def make(self, model: nn.Module) -> torch.optim.Optimizer:
        """The optimizer, of the parameters that are not frozen."""
        kind, own = OPTIMIZERS[self.optimizer]
        trained = [p for p in model.parameters() if p.requires_grad]
        common = {"lr": self.learning_rate, "weight_decay": self.weight_decay}
        return kind(trained, **{**common, **own, **self.options})


OPTIMIZERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "sgd": (torch.optim.SGD, {}),
    "heavy-ball": (torch.optim.SGD, {"momentum": 0.9}),
    "nesterov": (torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    "adagrad": (torch.optim.Adagrad, {}),
    "rmsprop": (torch.optim.RMSprop, {}),
    "adam": (torch.optim.Adam, {}),
    "nadam": (torch.optim.NAdam, {}),
    "adamw": (torch.optim.AdamW, {}),
    "adadelta": (torch.optim.Adadelta, {}),
}


@dataclass(frozen=True)
class Loop:
    """How the loop behaves: as it should by default, or as loops do that someone wrote at night."""

    zero_grad: bool = True
    shuffle: bool = True
    aligned: bool = True  # labels are drawn in the order of the samples
    trains_in: str = "train"  # the mode of the model while it trains: "train" or "eval"
    evaluates_in: str = "eval"  # and while it is evaluated
    sign: float = 1.0  # of the loss
    accumulate: int = 1  # batches to a step
    divides: bool = True  # the loss by their number
    clip_norm: float | None = None
    l1: float = 0.0
    augmentation: str = "none"  # see `doctor.loop`
    decay: float = 1.0  # of the learning rate, each epoch
    warmup: int = 0  # epochs in which the learning rate rises linearly


@dataclass(frozen=True)
class Fault:
    """What is wrong, and how it shows."""

    family: str  # how it came about: what the split goes by
    cause: str  # one of `doctor.causes`
    alternatives: tuple[str, ...]  # causes that are no wrong answer
    why: str
    source: str  # where such faults were described
    harm: str = "score"  # how it shows: see `doctor.measure`
    margin: float = 0.08


@dataclass(frozen=True)
class Program:
    """A training, written down."""

    name: str
    data: Data
    net: Net = field(default_factory=Net)
    steps: Steps = field(default_factory=Steps)
    loop: Loop = field(default_factory=Loop)
    loss: str = "cross-entropy"  # see `doctor.losses`
    batch_size: int = 32
    epochs: int = 30
    seed: int = 0
    floor: float | None = None  # the score that a healthy one reaches; None: that of its data
    fault: Fault | None = None
    twin: Program | None = None  # the same without the fault

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.fault is None

    @property
    def family(self) -> str:
        """How its fault came about, or what a healthy one is trained on."""
        return self.fault.family if self.fault else self.data.source

    @property
    def has_one_output(self) -> bool:
        """Whether one score is enough for its loss; else it has one a class."""
        return self.loss in ("binary-cross-entropy", "bce", "squared", "absolute")

    def split(self) -> Split:
        """Its data, in training and validation parts."""
        return prepare(self.data)

    def model(self, data: Split) -> nn.Sequential:
        """A network with its first weights, drawn from PyTorch's generator."""
        outputs = 1 if self.has_one_output else data.classes
        model = build(self.net, data.x.shape[1:], outputs)
        return model.to(data.x.dtype)

    def optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        """Its optimizer, of `model`."""
        return self.steps.make(model)


PARTS = {"data": Data, "net": Net, "steps": Steps, "loop": Loop}


def changed(program: Program, **new: Any) -> Program:
    """The same program with some fields changed, of whatever part they are."""
    own = {each.name for each in fields(Program)}
    given = {name: value for name, value in new.items() if name in own}
    for part, kind in PARTS.items():
        names = {each.name for each in fields(kind)}
        inner = {name: value for name, value in new.items() if name in names - own}
        if inner:
            given[part] = replace(given.get(part, getattr(program, part)), **inner)
    known = own.union(*({each.name for each in fields(kind)} for kind in PARTS.values()))
    if strange := set(new) - known:
        raise TypeError(f"a program has no field {sorted(strange)}")
    return replace(program, **given)
