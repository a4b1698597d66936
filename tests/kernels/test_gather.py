import numpy as np
import pytest
import scipy.sparse

from thalweg.kernels.gather import count_entries, gather_dense, gather_sparse
from thalweg.kernels.rows import CSR

X = np.array([[1.0, 0.0, 3.0], [0.0, 5.0, 6.0], [7.0, 0.0, 0.0]])
ROOTS = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_by_hand(order):
    out = np.full((2, 3), np.nan)
    for start, stop in ((0, 1), (1, 3)):
        gather_dense(
            np.asarray(X, dtype=np.float32, order=order), np.array([2, 0]), np.array([1.0, 0.0]),
            np.array([10.0, 1.0]), ROOTS, start, stop, out,
        )  # fmt: skip
    assert out.tolist() == [[20.0, 100.0, -30.0], [1.0, 0.0, 21.0]]


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_sparse_by_hand(kind):
    rows = scipy.sparse.csr_array(X)
    csr = CSR(rows.data, rows.indices.astype(kind), rows.indptr.astype(kind))
    slots = np.array([1, -1, 0])  # feature 2 first, then feature 0
    counts = np.zeros(2, dtype=np.int64)
    count_entries(csr, slots, 0, 2, counts)
    assert counts.tolist() == [2, 1]
    count_entries(csr, slots, 2, 3, counts)
    assert counts.tolist() == [2, 2]
    place, data, indices = np.array([0, 2]), np.empty(4), np.empty(4, dtype=np.int32)
    for start, stop in ((0, 2), (2, 3)):
        scales = np.array([10.0, 1.0])
        gather_sparse(csr, slots, scales, ROOTS, start, stop, place, data, indices)
    assert data.tolist() == [30.0, 120.0, 1.0, 21.0]
    assert indices.tolist() == [0, 1, 0, 2]
    assert place.tolist() == [2, 4]
