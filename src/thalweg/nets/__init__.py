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
    "LBFGS": "optimizers.lbfgs",
    "TruncatedNewton": "optimizers.truncated_newton",
    "BatchNorm": "norms.batch_norm",
    "HeavyBall": "optimizers.heavy_ball",
    "Nadam": "optimizers.nadam",
    "NaiveNormalization": "norms.naive_normalization",
    "Nesterov": "optimizers.nesterov",
    "RMSProp": "optimizers.rmsprop",
    "SGD": "optimizers.sgd",
    "fans": "initializers.fans",
    "fold": "norms.fold",
    "initialize": "initializers.initialize",
    "log_odds": "initializers.log_odds",
    "naive_normalization": "norms.naive_normalization",
    "no_decay_groups": "optimizers.groups",
    "parameter_groups": "optimizers.units",
    "population_statistics": "norms.population",
    "pre_initialize": "initializers.pre_initialize",
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
