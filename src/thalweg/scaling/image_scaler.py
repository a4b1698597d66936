"""ImageScaler: every channel of a batch of images as one column.

    [N, C, H, W]  →  N·H·W rows of C columns  →  any scaler of columns  →  [N, C, H, W]

All pixels of a channel share one mean and one spread, so that an image keeps its contrasts, and
other sizes can be scaled by what one size taught. `ImageScaler(ZScore())` is the usual "subtract
the channel means, divide by the channel deviations", `ImageScaler(MinMaxScaler())` maps bytes to
[0, 1], `ImageScaler(Whitening("zca"))` takes the correlation of colours away.

Any number of axes after the second will do: [N, C] is a batch of single pixels, [N, C, L] of
signals. Small integers (uint8) become float32, which holds them exactly.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.scaling.moments import blocks
from thalweg.scaling.validation import check_finite
from thalweg.scaling.z_score import ZScore


class ImageScaler(TransformerMixin, BaseEstimator):
    """Scale images by channel. `scaler`: a transformer of columns, `ZScore()` where it is None."""

    scaler_: Any  # the scaler, fitted on pixels

    def __init__(self, scaler: Any = None) -> None:
        self.scaler = scaler

    def fit(self, X: Any, y: Any = None) -> Self:
        """Measure the channels of `X`: training images, and no others."""
        scaler = ZScore() if self.scaler is None else self.scaler
        if not hasattr(scaler, "fit") or not hasattr(scaler, "transform"):
            raise InputError(
                f"scaler must be a transformer of columns, got {describe(scaler)}: "
                "pass, for example, tw.scaling.MinMaxScaler()"
            )
        X = _checked(validate_data(self, X, allow_nd=True, ensure_all_finite=False))
        self.scaler_ = clone(scaler).fit(_pixels(X))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """A copy of `X` with its channels scaled by what was measured in `fit`."""
        check_is_fitted(self, "scaler_")
        X = _checked(validate_data(self, X, reset=False, allow_nd=True, ensure_all_finite=False))
        return _by_pixel(X, self.scaler_.transform)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """What `transform` made `X` of."""
        check_is_fitted(self, "scaler_")
        X = _checked(check_array(X, allow_nd=True, ensure_all_finite=False))
        if X.shape[1] != self.n_features_in_:
            raise InputError(
                f"X must have {self.n_features_in_} channels, got shape {X.shape}: "
                "pass what transform returned"
            )
        return _by_pixel(X, self.scaler_.inverse_transform)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _checked(X: np.ndarray) -> np.ndarray:
    """Images in float32 or float64, finite, with pixels."""
    if 0 in X.shape:
        raise InputError(f"X must hold images with at least one pixel, got shape {X.shape}")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float32 if X.dtype.itemsize <= 2 else np.float64)
    check_finite(X)
    return X


def _pixels(X: np.ndarray) -> np.ndarray:
    """One pixel a row, float[N·H·W, C]."""
    return np.moveaxis(X, 1, -1).reshape(-1, X.shape[1])


def _by_pixel(X: np.ndarray, function: Any) -> np.ndarray:
    """`function` of the pixels, a few images at a time, in the shape of `X`."""
    Z = np.empty(X.shape, X.dtype)
    for rows in blocks(X):
        mapped = np.asarray(function(_pixels(X[rows])))
        Z[rows] = np.moveaxis(mapped.reshape(np.moveaxis(X[rows], 1, -1).shape), -1, 1)
    return Z
