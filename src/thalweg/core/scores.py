"""How good predictions are, as numbers that no change of model redefines.

classes       accuracy, mean recall (the mean over classes of the share told right), and where
              there are probabilities log loss, −(1/n) Σ log p(yᵢ)
quantities    R² = 1 − Σ(ŷᵢ − yᵢ)²/Σ(yᵢ − ȳ)², root mean square error, mean absolute error
"""

from __future__ import annotations

import numpy as np

TINY = 1e-15  # a probability below this counts as this: one sure mistake is not infinitely bad


def recalls(y: np.ndarray, told: np.ndarray) -> np.ndarray:
    """The share of each class that is told right, of the classes that y has, in their order."""
    return np.array([(told[y == c] == c).mean() for c in np.unique(y)])


def mean_recall(y: np.ndarray, told: np.ndarray) -> float:
    """The mean over the classes that y has; 1/K of K classes where all answers are alike."""
    return float(recalls(y, told).mean())


def r_squared(y: np.ndarray, told: np.ndarray) -> float:
    """R² of numbers float[n] or float[n, outputs]; 1 is perfect, 0 the best constant, no floor."""
    rest, spread = float(((told - y) ** 2).sum()), float(((y - y.mean(0)) ** 2).sum())
    return 1.0 - rest / spread if spread else float(rest == 0.0)


def class_scores(
    y: np.ndarray, told: np.ndarray, probabilities: np.ndarray | None = None
) -> dict[str, float]:
    """Of class numbers `told` for `y`; rows of no known class (y < 0) are left out."""
    known = y >= 0
    y, told = y[known], told[known]
    if not len(y):
        return {}
    found = {
        "accuracy": float((told == y).mean()),
        "mean recall": mean_recall(y, told),
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
    return {
        "R²": r_squared(y, told),
        "root mean square error": float(np.sqrt((error**2).mean())),
        "mean absolute error": float(np.abs(error).mean()),
    }
