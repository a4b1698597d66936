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
    "Augmentation": "augmentation.compose",
    "BatchNorm": "norms.batch_norm",
    "ColourJitter": "augmentation.colour",
    "CosineRamp": "regularizers.schedule",
    "Dropout": "regularizers.dropout",
    "EarlyStopping": "regularizers.early_stopping",
    "HeavyBall": "optimizers.heavy_ball",
    "HorizontalFlip": "augmentation.flip",
    "KLSparsity": "regularizers.kl_sparsity",
    "L1": "regularizers.l1",
    "L2": "regularizers.l2",
    "LBFGS": "optimizers.lbfgs",
    "LensDistortion": "augmentation.lens",
    "LinearRamp": "regularizers.schedule",
    "MaxNorm": "regularizers.max_norm",
    "Nadam": "optimizers.nadam",
    "NaiveNormalization": "norms.naive_normalization",
    "Nesterov": "optimizers.nesterov",
    "RMSProp": "optimizers.rmsprop",
    "RandomCrop": "augmentation.crop",
    "Recipe": "recipes.recipe",
    "Regularizer": "regularizers.regularizer",
    "Rotation": "augmentation.affine",
    "SGD": "optimizers.sgd",
    "Stretching": "augmentation.affine",
    "TowardsEnd": "regularizers.schedule",
    "Translation": "augmentation.affine",
    "TruncatedNewton": "optimizers.truncated_newton",
    "evaluate": "training.evaluate",
    "fans": "initializers.fans",
    "fit": "training.fit",
    "fold": "norms.fold",
    "initialize": "initializers.initialize",
    "log_odds": "initializers.log_odds",
    "lr_find": "training.lr_find",
    "naive_normalization": "norms.naive_normalization",
    "no_decay_groups": "optimizers.groups",
    "objective": "training.objective",
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
