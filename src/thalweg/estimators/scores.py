"""Scores XW + b of a fitted estimator: rows checked as scikit-learn does, each told by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from thalweg.kernels.scores import scores


def checked_scores(estimator: Any, X: Any, formats: tuple[str, ...]) -> np.ndarray:
    """Of rows X, dense or of these sparse `formats`; in the precision of X and the coefficients."""
    check_is_fitted(estimator)
    if not _is_ordinary(estimator, X):
        X = validate_data(estimator, X, accept_sparse=formats, reset=False)
    W, b = estimator.coef_.T, estimator.intercept_
    W = W.toarray() if scipy.sparse.issparse(W) else W  # after sparsify()
    return scores(X, W, b).astype(np.result_type(X.dtype, W), copy=False)


def _is_ordinary(estimator: Any, X: Any) -> bool:
    """Whether scikit-learn would have nothing to say or convert: finite numbers without names."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and len(X) > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )
