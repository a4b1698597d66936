"""Input of a transformer: an array or a CSR matrix of float32 or float64, finite, or a sentence.

scikit-learn's own checks do the rest (shape, names of features); what is not finite is named by
its place, which theirs do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array, validate_data

from thalweg.core.errors import InputError
from thalweg.core.finiteness import first_not_finite

DTYPES = [np.float64, np.float32]


def validated(estimator: Any, X: Any, *, reset: bool) -> Any:
    """`X` for `fit` (with `reset`) or `transform`; a sparse one has each entry once."""
    return _canonical(
        validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype=DTYPES, ensure_all_finite=False
        )
    )


def validated_inverse(Z: Any, width: int) -> Any:
    """`Z` for `inverse_transform`, which has as many columns as `transform` returns."""
    Z = check_array(Z, accept_sparse="csr", dtype=DTYPES, ensure_all_finite=False, input_name="X")
    if Z.shape[1] != width:
        raise InputError(
            f"X must have {width} columns, as transform returns, got {Z.shape[1]}: "
            "pass what transform returned"
        )
    return _canonical(Z)


def check_finite(X: np.ndarray) -> None:
    """Raise unless all entries of an array are finite."""
    place = first_not_finite(X)
    if place is not None:
        raise _not_finite(X[place], place)


def _canonical(X: Any) -> Any:
    if not scipy.sparse.issparse(X):
        check_finite(X)
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    bad = first_not_finite(X.data)
    if bad is not None:
        row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
        raise _not_finite(X.data[bad], (row, X.indices[bad[0]]))
    return X


def _not_finite(value: float, place: Any) -> InputError:
    where = (
        f"in row {place[0]}, column {place[1]}"
        if len(place) == 2
        else f"in image {place[0]}, channel {place[1]}, at {place[2:]}"
    )
    return InputError(
        f"X must be finite, got {value} {where}: impute or drop NaN and infinite entries first"
    )
