"""Data that ships with scikit-learn, by name: @cancer, @diabetes, @digits, @iris, @wine."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from thalweg.core.errors import InputError, suggest
from thalweg.tables.raw import Raw

LOADERS = {
    "@cancer": ("load_breast_cancer", "diagnosis"),
    "@diabetes": ("load_diabetes", "progression"),
    "@digits": ("load_digits", "digit"),
    "@iris": ("load_iris", "species"),
    "@wine": ("load_wine", "cultivar"),
}


def read_builtin(name: str, dtype: str | None = None) -> Raw:
    """Features with their names, and labels with theirs."""
    if name not in LOADERS:
        raise InputError(f"source {name!r} is no built-in data: {suggest(name, LOADERS)}")
    loader, target = LOADERS[name]
    data = getattr(import_module("sklearn.datasets"), loader)()
    X = np.ascontiguousarray(data.data, dtype or np.float64)
    class_names = [str(each) for each in getattr(data, "target_names", [])]
    return Raw(
        X,
        "built-in",
        y=data.target,
        names=[str(each) for each in data.feature_names],
        class_names=class_names or None,
        target=target,
        sample_shape=data.images.shape[1:] if "images" in data else (),
    )
