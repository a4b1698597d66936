"""The torch half: optimizers, initializers, normalizers, regularizers, augmentation and training.

Needs the extra `nets`. Names are resolved when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives.
_HOMES = {
    "AdaGrad": "optimizers.adagrad",
    "Adam": "optimizers.adam",
    "HeavyBall": "optimizers.heavy_ball",
    "Nadam": "optimizers.nadam",
    "Nesterov": "optimizers.nesterov",
    "RMSProp": "optimizers.rmsprop",
    "Recipe": "recipes.recipe",
    "SGD": "optimizers.sgd",
    "evaluate": "training.evaluate",
    "fit": "training.fit",
    "lr_find": "training.lr_find",
    "no_decay_groups": "optimizers.groups",
    "objective": "training.objective",
    "parameter_groups": "optimizers.units",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'thalweg.nets' has no attribute {name!r}")
    value = getattr(import_module(f"thalweg.nets.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
