"""MeanScaler: every column by its mean and its range.

    x′ = (x − mean)/(max − min)

Values of the training data lie in [−1, 1] and average zero. `center=False` divides only, which is
all that a sparse matrix can have done to it.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thalweg.scaling.affine import AffineScaler
from thalweg.scaling.moments import extremes, mean_and_spread, positive


class MeanScaler(AffineScaler):
    """Subtract the mean of every column, and divide by its range."""

    keeps_zeros: ClassVar[str] = "center=False keeps them"

    def __init__(self, *, center: bool = True) -> None:
        self.center = center

    def _measured(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        low, high = extremes(X)
        mean = mean_and_spread(X)[0] if self.center else np.zeros_like(low)
        return mean, positive(high - low)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.center
        return tags
