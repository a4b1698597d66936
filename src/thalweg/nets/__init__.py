"""The torch half: optimizers, initializers, normalizers, regularizers, augmentation and training.

Needs the extra `nets`. Names are resolved when they are first used.
"""

from __future__ import annotations

from typing import Any

from thalweg.core.lazy import resolve

# Where each public name lives.
_HOMES = {
    "AdaGrad": "thalweg.nets.optimizers.adagrad",
    "Adam": "thalweg.nets.optimizers.adam",
    "Augmentation": "thalweg.nets.augmentation.compose",
    "BatchNorm": "thalweg.nets.norms.batch_norm",
    "ColourJitter": "thalweg.nets.augmentation.colour",
    "CosineRamp": "thalweg.nets.regularizers.schedule",
    "Dropout": "thalweg.nets.regularizers.dropout",
    "EarlyStopping": "thalweg.nets.regularizers.early_stopping",
    "HeavyBall": "thalweg.nets.optimizers.heavy_ball",
    "HorizontalFlip": "thalweg.nets.augmentation.flip",
    "KLSparsity": "thalweg.nets.regularizers.kl_sparsity",
    "L1": "thalweg.nets.regularizers.l1",
    "L2": "thalweg.nets.regularizers.l2",
    "LBFGS": "thalweg.nets.optimizers.lbfgs",
    "LensDistortion": "thalweg.nets.augmentation.lens",
    "LinearRamp": "thalweg.nets.regularizers.schedule",
    "MaxNorm": "thalweg.nets.regularizers.max_norm",
    "Nadam": "thalweg.nets.optimizers.nadam",
    "NaiveNormalization": "thalweg.nets.norms.naive_normalization",
    "Nesterov": "thalweg.nets.optimizers.nesterov",
    "RMSProp": "thalweg.nets.optimizers.rmsprop",
    "RandomCrop": "thalweg.nets.augmentation.crop",
    "Recipe": "thalweg.nets.recipes.recipe",
    "Regularizer": "thalweg.nets.regularizers.regularizer",
    "Rotation": "thalweg.nets.augmentation.affine",
    "SGD": "thalweg.nets.optimizers.sgd",
    "Stretching": "thalweg.nets.augmentation.affine",
    "TowardsEnd": "thalweg.nets.regularizers.schedule",
    "Translation": "thalweg.nets.augmentation.affine",
    "TruncatedNewton": "thalweg.nets.optimizers.truncated_newton",
    "evaluate": "thalweg.nets.training.evaluate",
    "fans": "thalweg.nets.initializers.fans",
    "fit": "thalweg.nets.training.fit",
    "fold": "thalweg.nets.norms.fold",
    "initialize": "thalweg.nets.initializers.initialize",
    "log_odds": "thalweg.nets.initializers.log_odds",
    "lr_find": "thalweg.nets.training.lr_find",
    "naive_normalization": "thalweg.nets.norms.naive_normalization",
    "no_decay_groups": "thalweg.nets.optimizers.groups",
    "objective": "thalweg.nets.training.objective",
    "parameter_groups": "thalweg.nets.optimizers.units",
    "population_statistics": "thalweg.nets.norms.population",
    "pre_initialize": "thalweg.nets.initializers.pre_initialize",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return resolve(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return __all__
