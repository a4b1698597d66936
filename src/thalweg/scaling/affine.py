"""What the scalers of single columns share: a shift and a division, both found on training data.

    x′ = a + (b − a)·(x − c)/s          c: `center_`, s: `spread_`, float64[p] each

with (a, b) = (0, 1) but for a min-max scaler's own range. A constant column has s = 1 and becomes
a. All is computed in double, a block of rows at a time, and stored in the type of X.

Sparse data stays sparse where every zero stays zero, a = (b − a)·c/s; elsewhere it is refused
rather than filled.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from thalweg.core.errors import InputError
from thalweg.scaling.moments import blocks
from thalweg.scaling.validation import validated, validated_inverse


class AffineScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """One shift and one factor for every column; subclasses say how they are measured."""

    keeps_zeros: ClassVar[str]  # what to write so that a sparse matrix stays sparse
    clip: bool = False  # whether later data is held in [a, b]
    center_: np.ndarray
    spread_: np.ndarray

    def _measured(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """c and s of a checked matrix."""
        raise NotImplementedError

    def _range(self) -> tuple[float, float]:
        """a and b."""
        return 0.0, 1.0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Measure the columns of `X`: training data, and no other."""
        self._range()
        X = validated(self, X, reset=True)
        center, spread = self._measured(X)
        if scipy.sparse.issparse(X):
            self._check_zeros(center, spread)
        self.center_, self.spread_ = center, spread
        return self

    def transform(self, X: Any) -> Any:
        """A scaled copy of `X`, by what was measured in `fit`."""
        check_is_fitted(self, "center_")
        X = validated(self, X, reset=False)
        if scipy.sparse.issparse(X):
            self._check_zeros(self.center_, self.spread_)
            return _with_data(X, self._into_range(X.data / self.spread_[X.indices]))
        Z = np.empty_like(X, subok=False)
        for rows in blocks(X):
            part = X[rows] - self.center_
            part /= self.spread_
            Z[rows] = self._into_range(part)
        return Z

    def inverse_transform(self, X: Any) -> Any:
        """What `transform` made `X` of."""
        check_is_fitted(self, "center_")
        Z = validated_inverse(X, len(self.center_))
        a, b = self._range()
        if scipy.sparse.issparse(Z):
            self._check_zeros(self.center_, self.spread_)
            return _with_data(Z, Z.data * self.spread_[Z.indices] / (b - a))
        X = np.empty_like(Z, subok=False)
        for rows in blocks(Z):
            X[rows] = (Z[rows] - np.float64(a)) / (b - a) * self.spread_ + self.center_
        return X

    def _into_range(self, scaled: np.ndarray) -> np.ndarray:
        """From [0, 1] to [a, b], in place."""
        a, b = self._range()
        if (a, b) != (0.0, 1.0):
            scaled *= b - a
            scaled += a
        return np.clip(scaled, a, b, out=scaled) if self.clip else scaled

    def _check_zeros(self, center: np.ndarray, spread: np.ndarray) -> None:
        """Raise unless every zero stays zero."""
        a, b = self._range()
        zero = a - (b - a) * center / spread
        moved = np.flatnonzero(zero)
        if moved.size:
            raise InputError(
                f"X must be dense for {self!r}, got a sparse matrix whose zeros in column "
                f"{moved[0]} would become {zero[moved[0]]:.3g}: {self.keeps_zeros}, or pass "
                "X.toarray()"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class CentredScaler(AffineScaler):
    """One whose shift may be left out: `center=False` divides only, and takes sparse matrices."""

    keeps_zeros: ClassVar[str] = "center=False keeps them"

    def __init__(self, *, center: bool = True) -> None:
        self.center = center

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.center
        return tags


def _with_data(X: Any, data: np.ndarray) -> Any:
    """A matrix with the places of `X` and other entries, in the type of X."""
    return type(X)((data.astype(X.dtype), X.indices.copy(), X.indptr.copy()), shape=X.shape)
