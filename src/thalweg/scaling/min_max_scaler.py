"""MinMaxScaler: every column into a given range.

    x′ = a + (b − a)·(x − min)/(max − min)          (a, b): `feature_range`

min and max are those of the training data; other data may leave [a, b], and `clip=True` holds it
there. The lecture's ranges are [0, 1] and [−1, 0]; any a < b will do. One outlier sets the range:
where columns are skewed, take their logarithm first (`LogScaler`).

A sparse matrix stays sparse where a = 0 and the smallest value of every column is 0.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thalweg.core.checks import check_number, describe
from thalweg.core.errors import InputError
from thalweg.scaling.affine import AffineScaler
from thalweg.scaling.moments import extremes, positive


class MinMaxScaler(AffineScaler):
    """Scale every column of the training data to run from the one end of a range to the other."""

    keeps_zeros: ClassVar[str] = "columns whose minimum is 0 and feature_range=(0, 1) keep zeros"

    def __init__(
        self, feature_range: tuple[float, float] = (0.0, 1.0), *, clip: bool = False
    ) -> None:
        self.feature_range = feature_range
        self.clip = clip

    def _measured(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        low, high = extremes(X)
        return low, positive(high - low)

    def _range(self) -> tuple[float, float]:
        try:
            a, b = self.feature_range
        except (TypeError, ValueError):
            raise InputError(
                f"feature_range must be two numbers, got {describe(self.feature_range)}: "
                "pass (0, 1)"
            ) from None
        a = check_number("feature_range[0]", a)
        return a, check_number("feature_range[1]", b, above=a)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(np.ravel(self.feature_range)[0] == 0)
        return tags
