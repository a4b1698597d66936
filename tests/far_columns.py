"""For tests of linear problems: columns far from zero, and what exact arithmetic makes of them."""

from fractions import Fraction

import numpy as np
import scipy.sparse

from thalweg.objectives.matrix import check_matrix
from thalweg.objectives.rows import Rows

EPS = np.finfo(np.float64).eps
OFFSETS = (0.0, 1e3, 1e6, 1e9)
STORAGES = ("C", "F", "float32", "csr")
N, P = 40, 4


def matrix(storage, offset, n=N):
    """Two columns about ±`offset`, one about zero, and one of which most entries are zero.

    They are stored by the name `storage`: "csr", or a dense order, float32 or float64.
    """
    rng = np.random.default_rng(0)
    spread = max(1.0, offset / 1e6) if storage == "float32" else 1.0  # or it would be rounded off
    X = spread * rng.standard_normal((n, P)) * [1.0, 0.25, 3.0, 1.0]
    X += np.array([offset + 7.0 * spread, -offset - 2.0 * spread, 0.0, 0.0])
    X[:, 3] *= rng.random(n) < 0.3
    makers = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "float32": lambda X: X.astype(np.float32),
        "csr": scipy.sparse.csr_array,
    }
    return makers[storage](X)


def exact(X):
    """The entries as they are stored, longdouble[n, p]: what is done to them loses nothing."""
    dense = X.toarray() if scipy.sparse.issparse(X) else X
    return np.asarray(dense).astype(np.longdouble)


def fractions(A):
    """The same numbers as fractions: for sums that cancel by more digits than longdouble has."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(A, dtype=np.float64))


def weights(n=N):
    """Of sum 1, and some of them 0."""
    s = np.arange(n) % 5
    return s / s.sum()


def rows_of(X, c=None, **options):
    """`Rows` of a matrix of any storage."""
    matrix = check_matrix(X)
    return Rows(matrix, weights(matrix.shape[0]) if c is None else c, **options)


def shift_of(rows):
    """s, longdouble[p]."""
    return (np.zeros(rows.p) if rows.shift is None else rows.shift).astype(np.longdouble)


def within(found, expected, sizes, ulps=16):
    """Whether `found` is off by a few ulps of the `sizes` of the terms it was summed from."""
    error = np.abs(np.asarray(found, dtype=np.longdouble) - expected)
    assert np.shape(found) == np.shape(expected)
    assert np.all(error <= ulps * EPS * np.asarray(sizes)), (error / (EPS * sizes)).max()
    return True
