"""How good predictions are, as numbers that no change of model redefines.

classes       accuracy, mean recall (the mean over classes of the share told right), and where
              there are probabilities log loss, −(1/n) Σ log p(yᵢ)
quantities    R² = 1 − Σ(ŷᵢ − yᵢ)²/Σ(yᵢ − ȳ)², root mean square error, mean absolute error
"""

from __future__ import annotations

import numpy as np

TINY = 1e-15  # a probability below this counts as this: one sure mistake is not infinitely bad


def class_scores(
    y: np.ndarray, told: np.ndarray, probabilities: np.ndarray | None = None
) -> dict[str, float]:
    """Of class numbers `told` for `y`; rows of no known class (y < 0) are left out."""
    known = y >= 0
    y, told = y[known], told[known]
    if not len(y):
        return {}
    right = told == y
    found = {
        "accuracy": float(right.mean()),
        "mean recall": float(np.mean([right[y == c].mean() for c in np.unique(y)])),
    }
    if probabilities is not None:
        of_truth = probabilities[known][np.arange(len(y)), y]
        found["log loss"] = float(-np.log(np.maximum(of_truth, TINY)).mean())
    return found


def number_scores(y: np.ndarray, told: np.ndarray) -> dict[str, float]:
    """Of numbers `told` for `y`; rows whose y is missing are left out."""
    known = ~np.isnan(y)
    y, told = y[known], told[known]
    if not len(y):
        return {}
    error = told - y
    spread = float(((y - y.mean()) ** 2).sum())
    return {
        "R²": 1.0 - float((error**2).sum()) / spread if spread else float(not error.any()),
        "root mean square error": float(np.sqrt((error**2).mean())),
        "mean absolute error": float(np.abs(error).mean()),
    }
