"""What is done to data before a model sees it: scaling and whitening, as scikit-learn transformers.

Each is fitted on training data alone and then applied to any. Names are resolved when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives.
_HOMES = {
    "ImageScaler": "image_scaler",
    "LogScaler": "log_scaler",
    "MeanScaler": "mean_scaler",
    "MinMaxScaler": "min_max_scaler",
    "Whitening": "whitening",
    "ZScore": "z_score",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'thalweg.data' has no attribute {name!r}")
    value = getattr(import_module(f"thalweg.data.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
