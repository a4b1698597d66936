"""The torch half: optimizers, initializers, normalizers, regularizers, augmentation and training.

Needs the extra `nets`. Names are resolved when they are first used.
"""

from __future__ import annotations

from typing import Any

from thalweg.core.lazy import resolve

# Where each public name lives.
_HOMES = {
    "AdaGrad": "nets.optimizers.adagrad",
    "Adam": "nets.optimizers.adam",
    "Augmentation": "nets.augmentation.compose",
    "BatchNorm": "nets.norms.batch_norm",
    "ColourJitter": "nets.augmentation.colour",
    "CosineRamp": "nets.regularizers.schedule",
    "Dropout": "nets.regularizers.dropout",
    "EarlyStopping": "nets.regularizers.early_stopping",
    "HeavyBall": "nets.optimizers.heavy_ball",
    "HorizontalFlip": "nets.augmentation.flip",
    "KLSparsity": "nets.regularizers.kl_sparsity",
    "L1": "nets.regularizers.l1",
    "L2": "nets.regularizers.l2",
    "LBFGS": "nets.optimizers.lbfgs",
    "LensDistortion": "nets.augmentation.lens",
    "LinearRamp": "nets.regularizers.schedule",
    "MaxNorm": "nets.regularizers.max_norm",
    "Nadam": "nets.optimizers.nadam",
    "NaiveNormalization": "nets.norms.naive_normalization",
    "Nesterov": "nets.optimizers.nesterov",
    "RMSProp": "nets.optimizers.rmsprop",
    "RandomCrop": "nets.augmentation.crop",
    "Recipe": "nets.recipes.recipe",
    "Regularizer": "nets.regularizers.regularizer",
    "Rotation": "nets.augmentation.affine",
    "SGD": "nets.optimizers.sgd",
    "Stretching": "nets.augmentation.affine",
    "TowardsEnd": "nets.regularizers.schedule",
    "Translation": "nets.augmentation.affine",
    "TruncatedNewton": "nets.optimizers.truncated_newton",
    "evaluate": "nets.training.evaluate",
    "fans": "nets.initializers.fans",
    "fit": "nets.training.fit",
    "fold": "nets.norms.fold",
    "initialize": "nets.initializers.initialize",
    "log_odds": "nets.initializers.log_odds",
    "lr_find": "nets.training.lr_find",
    "naive_normalization": "nets.norms.naive_normalization",
    "no_decay_groups": "nets.optimizers.groups",
    "objective": "nets.training.objective",
    "parameter_groups": "nets.optimizers.units",
    "population_statistics": "nets.norms.population",
    "pre_initialize": "nets.initializers.pre_initialize",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return resolve(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return __all__
