"""ZScore: every column by its mean and its standard deviation.

    x′ = (x − μ)/σ          σ² = (1/n) Σᵢ (xᵢ − μ)²

Every column of the training data then has mean 0 and variance 1, so that one learning rate suits
all of them. σ divides by n, as the lecture's `np.std`. `center=False` divides by σ only, which is
all that a sparse matrix can have done to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.scaling.affine import CentredScaler
from thalweg.scaling.moments import mean_and_spread, positive


class ZScore(CentredScaler):
    """Subtract the mean of every column, and divide by its standard deviation."""

    def _measured(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        mean, spread = mean_and_spread(X)
        return mean if self.center else np.zeros_like(mean), positive(spread)
