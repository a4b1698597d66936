"""What is done to data before a model sees it: scaling and whitening, as scikit-learn transformers.

Each is fitted on training data alone and then applied to any. Names are resolved when first used.
"""

from __future__ import annotations

from typing import Any

from thalweg.core.lazy import resolve

# Where each public name lives.
_HOMES = {
    "ImageScaler": "thalweg.scaling.image_scaler",
    "LogScaler": "thalweg.scaling.log_scaler",
    "MeanScaler": "thalweg.scaling.mean_scaler",
    "MinMaxScaler": "thalweg.scaling.min_max_scaler",
    "Whitening": "thalweg.scaling.whitening",
    "ZScore": "thalweg.scaling.z_score",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return resolve(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return __all__
