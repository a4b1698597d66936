"""ZScore: every column by its mean and its standard deviation.

    x′ = (x − μ)/σ          σ² = (1/n) Σᵢ (xᵢ − μ)²

Every column of the training data then has mean 0 and variance 1, so that one learning rate suits
all of them. σ divides by n, as the lecture's `np.std`. `center=False` divides by σ only, which is
all that a sparse matrix can have done to it.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thalweg.scaling.affine import AffineScaler
from thalweg.scaling.moments import mean_and_spread, positive


class ZScore(AffineScaler):
    """Subtract the mean of every column, and divide by its standard deviation."""

    keeps_zeros: ClassVar[str] = "center=False keeps them"

    def __init__(self, *, center: bool = True) -> None:
        self.center = center

    def _measured(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        mean, spread = mean_and_spread(X)
        return mean if self.center else np.zeros_like(mean), positive(spread)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.center
        return tags
