"""Whitening: features without correlation, each of variance 1.

    Σ = (1/n) Σᵢ (xᵢ − μ)(xᵢ − μ)ᵀ = U diag(λ) Uᵀ

    pca    z = diag(λ + ε)^(−½) Uᵀ (x − μ)          along the principal axes, largest λ first
    zca    z = U diag(λ + ε)^(−½) Uᵀ (x − μ)        turned back, as near to x as it can be

The covariance of z on the training data is the identity, so that a quadratic loss has condition
number 1. Directions in which the training data does not vary (constant or repeated columns, fewer
rows than columns) become 0 rather than noise; there are still as many columns, `rank_` of them
with a variance. ε > 0 holds back directions of little variance; pixels often want it.

U and λ come from a QR factorisation of the centred data and the singular values of R: forming Σ
would square the condition number. The largest entry of every axis is positive.

Cost: O(np²) to fit, a copy of X; O(np²) to transform. Kessy, Lewin & Strimmer, Am. Stat. 72 (2018).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from thalweg.core.checks import check_choice, check_number
from thalweg.core.errors import InputError
from thalweg.scaling.moments import blocks
from thalweg.scaling.validation import validated, validated_inverse

NOISE = 10.0  # a singular value is none up to this many times the rounding


class Whitening(TransformerMixin, BaseEstimator):
    """Rotate and scale so that the covariance of the training data becomes the identity."""

    mean_: np.ndarray  # μ, float64[p]
    axes_: np.ndarray  # Uᵀ, one axis a row, float64[rank, p]
    spread_: np.ndarray  # √(λ + ε), float64[rank]
    rank_: int

    def __init__(self, kind: str = "pca", *, eps: float = 0.0) -> None:
        self.kind = kind
        self.eps = eps

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the axes of `X`: training data, and no other."""
        check_choice("kind", self.kind, ("pca", "zca"))
        eps = check_number("eps", self.eps, at_least=0.0)
        _refuse_sparse(X)
        X = validated(self, X, reset=True)
        mean = X.mean(axis=0, dtype=np.float64)
        R = np.linalg.qr(X - mean, mode="r")
        _, root, axes = np.linalg.svd(R, full_matrices=False)  # root = √(nλ)
        # Along an axis the rounding of X adds up over the columns that it mixes.
        size = np.sqrt(np.einsum("ij,ij->j", X, X, dtype=np.float64))
        rounding = np.finfo(X.dtype).eps * np.linalg.norm(axes * size, axis=1)
        kept = root > NOISE * np.maximum(rounding, np.finfo(np.float64).eps * root[0])
        self.rank_ = int(kept.sum())
        root, axes = root[kept], axes[kept]
        largest = axes[np.arange(self.rank_), np.abs(axes).argmax(axis=1)]
        self.mean_ = mean
        self.axes_ = axes * np.sign(largest)[:, None]
        self.spread_ = np.sqrt(root**2 / len(X) + eps)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """`X` whitened, float[n, p] in its own type."""
        check_is_fitted(self, "axes_")
        _refuse_sparse(X)
        X = validated(self, X, reset=False)
        zero = np.zeros_like(self.mean_)
        return _affine(X, self.mean_, self._turned((self.axes_ / self.spread_[:, None]).T), zero)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """What `transform` made `X` of, as far as the training data varied."""
        check_is_fitted(self, "axes_")
        _refuse_sparse(X)
        Z = validated_inverse(X, len(self.mean_))
        back = self.spread_[:, None] * self.axes_
        return _affine(Z, np.zeros_like(self.mean_), self._turned(back.T).T, self.mean_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the input for zca; pca0, pca1, … for pca."""
        check_is_fitted(self, "axes_")
        names = _check_feature_names_in(self, input_features)
        if self.kind == "zca":
            return names
        return np.asarray([f"pca{i}" for i in range(len(names))], dtype=object)

    def _turned(self, M: np.ndarray) -> np.ndarray:
        """Columns of `M`, float64[p, rank], turned back (zca) or with zeros beside them (pca)."""
        if self.kind == "zca":
            return M @ self.axes_
        return np.hstack([M, np.zeros((len(M), len(M) - self.rank_))])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _affine(X: np.ndarray, before: np.ndarray, M: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(X − before) M + after, computed in double and stored in the type of X."""
    Z = np.empty(X.shape, dtype=X.dtype)
    for rows in blocks(X):
        Z[rows] = (X[rows] - before) @ M + after
    return Z


def _refuse_sparse(X: Any) -> None:
    if scipy.sparse.issparse(X):
        raise InputError(
            "X must be dense for whitening, got a sparse matrix: turning the axes fills its zeros; "
            "take ZScore(center=False), or pass X.toarray()"
        )
