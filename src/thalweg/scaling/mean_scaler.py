"""MeanScaler: every column by its mean and its range.

    x′ = (x − mean)/(max − min)

Values of the training data lie in [−1, 1] and average zero. `center=False` divides only, which is
all that a sparse matrix can have done to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.scaling.affine import CentredScaler
from thalweg.scaling.moments import extremes, mean_and_spread, positive


class MeanScaler(CentredScaler):
    """Subtract the mean of every column, and divide by its range."""

    def _measured(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        low, high = extremes(X)
        mean = mean_and_spread(X)[0] if self.center else np.zeros_like(low)
        return mean, positive(high - low)
