"""The pairs of a row against the product of dense matrices."""

import numpy as np
import pytest
import scipy.sparse

from thalweg.kernels.gram import pairs_pass
from thalweg.kernels.rows import CSR


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_half_and_its_mirror_are_the_whole(dtype, index):
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((40, 9), density=0.4, rng=rng, format="csr").astype(dtype)
    # A row need not be sorted.
    for i in range(40):
        row = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[row], X.data[row] = X.indices[row][::-1].copy(), X.data[row][::-1].copy()
    h, hr = rng.random(40), rng.normal(size=40)
    second, first, cross = np.zeros((9, 9)), np.zeros(9), np.zeros(9)
    rows = CSR(X.data, X.indices.astype(index), X.indptr.astype(index))
    pairs_pass(rows, h, hr, np.zeros(9), 0, 15, second, first, cross)
    pairs_pass(rows, h, hr, np.zeros(9), 15, 40, second, first, cross)
    dense = X.toarray().astype(np.float64)
    whole = second + second.T - np.diag(np.diag(second))
    np.testing.assert_allclose(whole, dense.T @ (h[:, None] * dense), rtol=1e-12)
    np.testing.assert_allclose(first, h @ dense, rtol=1e-12)
    np.testing.assert_allclose(cross, hr @ dense, rtol=1e-12, atol=1e-14)
    is_pair = (second != 0) & (second.T != 0)
    assert not is_pair[~np.eye(9, dtype=bool)].any(), "each pair is added on one side only"


def test_features_that_every_row_stores_are_shifted_before_they_are_multiplied():
    rng = np.random.default_rng(1)
    dense = np.column_stack([1e9 + rng.normal(size=50), rng.normal(size=50)])
    X = scipy.sparse.csr_array(dense)
    shift, h = np.array([1e9, 0.0]), np.full(50, 0.02)
    second, first, cross = np.zeros((2, 2)), np.zeros(2), np.ones(2)
    rows = CSR(X.data, X.indices, X.indptr)
    pairs_pass(rows, h, np.empty(0), shift, 0, 50, second, first, cross)
    off = dense - shift
    whole = second + second.T - np.diag(np.diag(second))
    np.testing.assert_allclose(whole, off.T @ off / 50, rtol=1e-12)
    np.testing.assert_allclose(first, off.mean(axis=0), rtol=1e-10)
    assert cross.tolist() == [1.0, 1.0]  # nothing was asked of it
