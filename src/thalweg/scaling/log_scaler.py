"""LogScaler: the logarithm of the columns that are skewed, and the others as they are.

    x′ = sign(x)·log(1 + |x|/u)

A column is logged if, in the training data, all its values are at least 0, its skewness

    g = (1/n) Σᵢ ((xᵢ − μ)/σ)³

exceeds `skewness`, and the logarithm takes a tenth of g away or more (of a column with two values
it takes nothing). u is the value below which a twentieth of the column's positive entries lie:
x′ does not depend on the unit in which x is measured, counts are logged as log(1 + x), and what
lies far above u as log(x/u).

Zero stays zero, so that a sparse matrix stays sparse, and a negative value in later data has its
mirror image instead of a NaN. It does no scaling: put `ZScore` after it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from thalweg.core.checks import check_number
from thalweg.scaling.moments import extremes, skewness
from thalweg.scaling.validation import validated, validated_inverse

HELP = 0.9  # g after the logarithm, over g before, at most
UNIT = 0.05  # share of the positive entries of a column that lie below u


class LogScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Take the logarithm of non-negative columns with a long tail to the right."""

    logged_: np.ndarray  # which columns, bool[p]
    unit_: np.ndarray  # u, float64[p]; 1 in columns that are left alone
    skewness_: np.ndarray  # g in the training data, float64[p]

    def __init__(self, *, skewness: float = 1.0) -> None:
        self.skewness = skewness

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the skewed columns of `X`: training data, and no other."""
        limit = check_number("skewness", self.skewness, at_least=0.0)
        X = validated(self, X, reset=True)
        g = skewness(X)
        tried = (extremes(X)[0] >= 0.0) & (g > limit)
        unit = _units(X, tried)
        helped = np.abs(skewness(_mapped(X, tried, unit, _log))) < HELP * np.abs(g)
        self.skewness_ = g
        self.logged_ = tried & helped
        self.unit_ = np.where(self.logged_, unit, 1.0)
        return self

    def transform(self, X: Any) -> Any:
        """A copy of `X` with the logarithm of the columns that `fit` found skewed."""
        check_is_fitted(self, "logged_")
        return _mapped(validated(self, X, reset=False), self.logged_, self.unit_, _log)

    def inverse_transform(self, X: Any) -> Any:
        """What `transform` made `X` of."""
        check_is_fitted(self, "logged_")
        return _mapped(validated_inverse(X, len(self.unit_)), self.logged_, self.unit_, _exp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _log(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.copysign(np.log1p(np.abs(x) / u), x)


def _exp(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.copysign(np.expm1(np.abs(x)) * u, x)


def _mapped(X: Any, logged: np.ndarray, unit: np.ndarray, function: Any) -> Any:
    """A copy of `X` with `function` of the entries in the logged columns."""
    Z = X.copy()
    if scipy.sparse.issparse(Z):
        where = logged[Z.indices]
        Z.data[where] = function(Z.data[where], unit[Z.indices[where]])
    else:
        Z[:, logged] = function(Z[:, logged], unit[logged])
    return Z


def _units(X: Any, columns: np.ndarray) -> np.ndarray:
    """u of these columns, float64[p]; 1 elsewhere."""
    unit = np.ones(X.shape[1])
    by_column = X.tocsc() if scipy.sparse.issparse(X) else X
    for j in np.flatnonzero(columns):
        if scipy.sparse.issparse(by_column):
            entries = by_column.data[by_column.indptr[j] : by_column.indptr[j + 1]]
        else:
            entries = by_column[:, j]
        entries = entries[entries > 0.0]  # a skewed column that is not negative has some
        k = int(UNIT * (entries.size - 1))
        unit[j] = np.partition(entries, k)[k]
    return unit
