"""`Recipe`: all that decides a training, as one record that can be written down and changed.

    recipe = Recipe(layers="mlp:128x64", learning_rate=1e-3, epochs=5)
    model, run = recipe.train((X, y), validation=(X_val, y_val))
    recipe.changed(learning_rate=1e-2).difference(recipe)

Nothing outside the record and the data matters: the seed decides the first weights, the order of
the rows, dropout and augmentation.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from thalweg import nets
from thalweg.core.checks import check_choice, check_count, check_known, check_number, describe
from thalweg.core.errors import InputError
from thalweg.core.options import name_and_options
from thalweg.core.run import Run
from thalweg.nets.initializers.initialize import initialize
from thalweg.nets.initializers.schemes import scheme_of
from thalweg.nets.recipes.layers import ACTIVATIONS, NORMS, build, check_layers
from thalweg.nets.recipes.scaling import SCALINGS, Scaling
from thalweg.nets.recipes.toml import to_toml
from thalweg.nets.training.batches import Pair, pair_of
from thalweg.nets.training.choice import NAMES, optimizer_of
from thalweg.nets.training.fit import fit
from thalweg.nets.training.journey import own_randomness
from thalweg.nets.training.losses import LOSSES

DEFAULT = "default"  # PyTorch's own first weights
MONITORS = ("validation loss", "validation accuracy")


class Prepared(NamedTuple):
    """What a recipe trains, before the first step."""

    model: nn.Module
    data: Pair
    validation: Pair | None


class Trained(NamedTuple):
    """What came of a recipe."""

    model: nn.Module
    run: Run


@dataclass(frozen=True, repr=False)
class Recipe:
    """A network and its training, in words and numbers."""

    layers: str = "mlp:256x256"  # see `thalweg.nets.recipes.layers`
    activation: str = "relu"
    initializer: str = "he"
    bias: float = 0.0  # of every layer to begin with
    norm: str = "none"  # or "batch"
    keep: float = 1.0  # dropout's share of units that stay
    scaling: str = "none"  # of the inputs, measured on the training data
    optimizer: str = "adam"
    optimizer_options: Mapping[str, Any] = field(default_factory=dict)  # besides those below
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    clip_norm: float | None = None
    max_norm: float | None = None
    l1: float = 0.0
    loss: str = "cross-entropy"
    epochs: int = 10
    batch_size: int | None = 64  # 0 in TOML is None: all rows
    augmentation: tuple[str, ...] = ()  # "horizontal-flip", "rotation[degrees=10]"
    patience: int | None = None  # epochs without improvement before early stopping
    monitor: str = "validation accuracy"
    seed: int = 0

    def __post_init__(self) -> None:
        check_layers(self.layers)
        check_choice("activation", self.activation, tuple(ACTIVATIONS))
        if self.initializer != DEFAULT:
            scheme_of(self.initializer)
        check_choice("norm", self.norm, NORMS)
        check_choice("scaling", self.scaling, SCALINGS)
        check_choice("optimizer", self.optimizer, tuple(NAMES))
        check_choice("loss", self.loss, tuple(LOSSES))
        check_choice("monitor", self.monitor, MONITORS)
        check_number("bias", self.bias)
        check_number(
            "keep", self.keep, above=0.0, at_most=1.0, advice="it is the share of units that stay"
        )
        check_number("learning_rate", self.learning_rate, above=0.0)
        for name in ("weight_decay", "l1"):
            check_number(name, getattr(self, name), at_least=0.0)
        for name in ("clip_norm", "max_norm"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), above=0.0, advice="None is no limit")
        check_count("epochs", self.epochs)
        check_count("seed", self.seed, at_least=0)
        for name in ("batch_size", "patience"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        names = self.augmentation
        if not isinstance(names, list | tuple) or not all(isinstance(x, str) for x in names):
            raise InputError(f"augmentation must be a list of names, got {describe(names)}")
        if not isinstance(self.optimizer_options, Mapping):
            told = describe(self.optimizer_options)
            raise InputError(f"optimizer_options must be a table, got {told}")
        object.__setattr__(self, "augmentation", tuple(self.augmentation))
        object.__setattr__(self, "optimizer_options", dict(self.optimizer_options))

    def build(self, input_shape: Sequence[int], outputs: int) -> nn.Module:
        """The network for inputs [n, *input_shape], with its first weights."""
        with own_randomness(self.seed, torch.device("cpu")):
            network = build(
                self.layers,
                input_shape,
                check_count("outputs", outputs),
                activation=self.activation,
                norm=self.norm,
                keep=self.keep,
            )
            if self.initializer != DEFAULT:
                initialize(network, self.initializer, self.bias, seed=self.seed)
        if self.scaling != "none":
            return nn.Sequential(Scaling(self.scaling, input_shape), *network)
        return network

    def optimizer_for(self, model: nn.Module) -> torch.optim.Optimizer:
        """Its optimizer, of the parameters of `model`."""
        asked = {
            "lr": self.learning_rate,
            "weight_decay": self.weight_decay,
            "clip_norm": self.clip_norm,
            "max_norm": self.max_norm,
            "l1": self.l1,
        }
        options = {name: value for name, value in asked.items() if value not in (None, 0.0)}
        return optimizer_of(self.optimizer, model, **{**options, **self.optimizer_options})

    def train(self, data: Any, validation: Any = None, **asked: Any) -> Trained:
        """Build a network for `data`, a pair (x, y), and train it.

        `asked` goes to `fit`: checkpoint, time_limit, probes, regularizers, progress.
        """
        ready = self.prepare(data, validation)
        return Trained(ready.model, self.fit(ready, **asked))

    def prepare(self, data: Any, validation: Any = None) -> Prepared:
        """The network for `data` before its first step, and the pairs as `fit` takes them."""
        x, y = _pair("data", data)
        model = self.build(x.shape[1:], self.outputs(y))
        if isinstance(model[0], Scaling):  # type: ignore[index]
            model[0].measure(x)  # type: ignore[index]
        held = None if validation is None else _pair("validation", validation)
        if self.loss != "cross-entropy":
            y = y.reshape(len(y), -1)
            held = held and (held[0], held[1].reshape(len(held[1]), -1))
        return Prepared(model, (x, y), held)

    def fit(self, ready: Prepared, **asked: Any) -> Run:
        """Train a network that `prepare` has made, in place; `asked` as for `train`."""
        stopping = None
        if self.patience is not None:
            stopping = nets.EarlyStopping(self.patience, self.monitor)
        return fit(
            ready.model,
            ready.data,
            self.optimizer_for(ready.model),
            self.loss,
            self.epochs,
            batch_size=self.batch_size,
            validation=ready.validation,
            early_stopping=stopping,
            augmentation=augmentation_of(self.augmentation, self.seed),
            seed=self.seed,
            **asked,
        )

    def outputs(self, y: torch.Tensor) -> int:
        """How many outputs labels like these ask for."""
        if self.loss == "cross-entropy":
            return int(y.shape[1]) if y.ndim > 1 else int(y.max()) + 1
        return max(1, y[0].numel())

    def batch(self, rows: int) -> int:
        """Rows of a batch, of so many."""
        return min(rows, self.batch_size or rows)

    def steps(self, rows: int) -> int:
        """Of all epochs together."""
        return self.epochs * -(-rows // self.batch(rows))

    def changed(self, **new: Any) -> Recipe:
        """The same recipe with some fields changed."""
        check_fields(new)
        return replace(self, **new)

    def changes(self, other: Recipe) -> dict[str, Any]:
        """The fields that `other` has otherwise, as it has them."""
        theirs = {each.name: getattr(other, each.name) for each in fields(self)}
        return {name: value for name, value in theirs.items() if getattr(self, name) != value}

    def difference(self, other: Recipe) -> str:
        """What `other` has otherwise, a line a field: `learning_rate: 0.001 → 0.01`."""
        lines = [
            f"{name}: {_word(getattr(self, name))} → {_word(value)}"
            for name, value in self.changes(other).items()
        ]
        return "\n".join(lines) or "no difference"

    def to_toml(self) -> str:
        """The recipe as TOML text; what is None is left out."""
        record = asdict(self)
        if record["batch_size"] is None:
            record["batch_size"] = 0
        return to_toml(record)

    @classmethod
    def from_toml(cls, text: str | Path) -> Recipe:
        """Read back what `to_toml` wrote, from text or from a file."""
        try:
            record = tomllib.loads(text.read_text("utf-8") if isinstance(text, Path) else text)
        except (ValueError, RecursionError) as problem:
            raise InputError(f"a recipe must be TOML, got text that is not: {problem}") from problem
        check_fields(record)
        if record.get("batch_size") == 0:
            record["batch_size"] = None
        return cls(**record)

    def __repr__(self) -> str:
        """All fields, one a line; those that are not as usual are marked."""
        usual = Recipe.__dataclass_fields__
        width = max(map(len, usual))
        lines = []
        for each in fields(self):
            value = getattr(self, each.name)
            default = {} if each.name == "optimizer_options" else each.default
            lines.append(f"{' ' if value == default else '*'} {each.name:<{width}} {_word(value)}")
        return "\n".join(["Recipe", *lines])


def augmentation_of(texts: Sequence[str], seed: int) -> Any:
    """The augmentation that names stand for, "rotation[degrees=10]"; None for none."""
    if not texts:
        return None
    made = []
    for text in texts:
        name, options = name_and_options(text)
        kind = getattr(nets, "".join(word.capitalize() for word in name.split("-")), None)
        if kind is None:
            raise InputError(
                f"augmentation must be a known name, got {text!r}: write, for example, "
                "'horizontal-flip' or 'rotation[degrees=10]'"
            )
        made.append(kind(**options))
    return nets.Augmentation(*made, seed=seed)


def _pair(name: str, data: Any) -> Pair:
    advice = "use recipe.build and tw.nets.fit for a DataLoader"
    return pair_of(f"{name} of a recipe", data, advice)


def check_fields(said: Iterable[str]) -> None:
    """Raise unless every name is that of a field of a recipe."""
    check_known("a recipe", "field", said, [each.name for each in fields(Recipe)])


def _word(value: Any) -> str:
    return "none" if value is None or value in ((), {}) else str(value)
