import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import thalweg as tw
from thalweg.scaling.affine import AffineScaler


class Shift(AffineScaler):
    """Subtracts what it is told, and divides by two."""

    keeps_zeros = "by=0 keeps them"

    def __init__(self, by=0.0):
        self.by = by

    def _measured(self, X):
        return np.full(X.shape[1], self.by), np.full(X.shape[1], 2.0)


def test_by_hand_there_and_back():
    X = np.array([[3.0, 1.0], [5.0, 7.0]])
    scaler = Shift(1.0).fit(X)
    assert scaler.transform(X).tolist() == [[1.0, 0.0], [2.0, 3.0]]
    assert scaler.inverse_transform([[1.0, 0.0]]).tolist() == [[3.0, 1.0]]


def test_float32_is_shifted_in_double():
    # 16777217 has no float32: taken in single, the difference would be 0 or 2.
    X = np.array([[16777218.0]], dtype=np.float32)
    Z = Shift(16777217.0).fit(X).transform(X)
    assert Z.dtype == np.float32
    assert Z[0, 0] == 0.5


def test_sparse_only_where_zeros_stay():
    X = scipy.sparse.csr_array(np.array([[0.0, 4.0], [2.0, 0.0]]))
    assert Shift(0.0).fit(X).transform(X).toarray().tolist() == [[0.0, 2.0], [1.0, 0.0]]
    with pytest.raises(tw.InputError, match=r"column 0 would become -0\.5: by=0 keeps them"):
        Shift(1.0).fit(X)


def test_a_refused_fit_leaves_nothing_behind():
    X = scipy.sparse.csr_array(np.eye(2))
    scaler = Shift(1.0)
    with pytest.raises(tw.InputError):
        scaler.fit(X)
    with pytest.raises(NotFittedError):
        scaler.transform(X)
