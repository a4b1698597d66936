import itertools

import numpy as np
import pytest
import scipy.sparse

from storages import seen, storages
from thalweg.kernels.compile import kernel
from thalweg.kernels.rows import (
    Centred,
    Standardized,
    columns,
    entry,
    is_sparse,
    row_add_outer,
    row_add_squares,
    row_axpy,
    row_dot,
    row_quadratic,
    row_scores,
    row_square,
    stored,
)


@kernel
def dots(X, w, out):
    for i in range(out.size):
        out[i] = row_dot(X, i, w)


@kernel
def transposed(X, a, g):
    for i in range(a.size):
        row_axpy(X, i, a[i], g)


@kernel
def squares(X, out):
    for i in range(out.size):
        out[i] = row_square(X, i)


@kernel
def quadratics(X, u, v, out):
    for i in range(out.size):
        out[i] = row_quadratic(X, i, u, v)


@kernel
def column_squares(X, a, g):
    for i in range(a.size):
        row_add_squares(X, i, a[i], g)


@kernel
def class_scores(X, W, b, out):
    for i in range(out.shape[0]):
        row_scores(X, i, W, b, out[i])


@kernel
def outers(X, R, G):
    for i in range(R.shape[0]):
        row_add_outer(X, i, R[i], G)


@kernel
def dense_entries(X, out):
    for i in range(out.shape[0]):
        for j in range(columns(X)):
            out[i, j] = entry(X, i, j)


@kernel
def sparse_entries(X, out):
    for k in range(out.size):
        out[k] = stored(X, k)


@pytest.mark.parametrize(
    ("storage", "dtype"),
    [
        *itertools.product(("C", "F", "csr32", "csr64"), (np.float32, np.float64)),
        ("centred", np.float64),
        ("centred F", np.float32),
        ("standardized", np.float32),
        ("scaled", np.float32),
    ],
)
def test_each_storage_does_what_the_dense_matrix_does(storage, dtype):
    X, rows = seen(storage, dtype), storages(dtype)[storage]
    rng = np.random.default_rng(1)
    w, a = rng.standard_normal(5).astype(dtype), rng.standard_normal(7)
    out, g = np.empty(7), np.zeros(5)
    dots(rows, w, out)
    np.testing.assert_allclose(out, X @ w.astype(np.float64), rtol=1e-14, atol=1e-15)
    transposed(rows, a, g)
    np.testing.assert_allclose(g, X.T @ a, rtol=1e-13, atol=1e-15)
    squares(rows, out)
    np.testing.assert_allclose(out, np.sum(X**2, axis=1), rtol=1e-14)


def test_one_row_by_hand():
    X = np.array([[2.0, -3.0]])
    out = np.empty(1)
    quadratics(X, np.array([1.0, 10.0]), np.array([5.0, 7.0]), out)
    assert out[0] == 1 * 4 + 10 * 9 + 5 * 2 - 7 * 3  # Σ ux² + vx
    g = np.array([100.0, 200.0])
    column_squares(X, np.array([0.5]), g)
    assert g.tolist() == [100 + 0.5 * 4, 200 + 0.5 * 9]
    scores = np.full((1, 2), np.nan)  # overwritten, not added to
    class_scores(X, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -0.5]), scores)
    assert scores.tolist() == [[2 - 9 + 0.5, 4 - 12 - 0.5]]
    G = np.ones((2, 2))
    outers(X, np.array([[10.0, 1.0]]), G)
    assert G.tolist() == [[1 + 20, 1 + 2], [1 - 30, 1 - 3]]


@pytest.mark.parametrize(
    ("storage", "dtype"),
    [
        ("C", "f8"), ("F", "f4"), ("csr32", "f8"), ("csr64", "f4"), ("centred", "f8"),
        ("centred F", "f4"), ("standardized", "f4"), ("scaled", "f4"),
    ],
)  # fmt: skip
def test_squares_and_classes_do_what_the_dense_matrix_does(storage, dtype):
    X, rows = seen(storage, dtype), storages(dtype)[storage]
    rng = np.random.default_rng(2)
    u, v, a = rng.standard_normal(5), rng.standard_normal(5), rng.standard_normal(7)
    W, b, R = rng.standard_normal((5, 3)), rng.standard_normal(3), rng.standard_normal((7, 3))
    out, g = np.empty(7), rng.standard_normal(5)
    Z, G = np.empty((7, 3)), rng.standard_normal((5, 3))
    quadratics(rows, u, v, out)
    np.testing.assert_allclose(out, X**2 @ u + X @ v, rtol=1e-13, atol=1e-14)
    expected = g + a @ X**2
    column_squares(rows, a, g)
    np.testing.assert_allclose(g, expected, rtol=1e-13, atol=1e-14)
    class_scores(rows, W, b, Z)
    np.testing.assert_allclose(Z, X @ W + b, rtol=1e-13, atol=1e-14)
    expected = G + X.T @ R
    outers(rows, R, G)
    np.testing.assert_allclose(G, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("storage", ["F", "centred", "centred F", "standardized"])
def test_entries_of_a_dense_matrix(storage):
    out = np.full((7, 5), np.nan)
    dense_entries(storages("f4")[storage], out)
    np.testing.assert_allclose(out, seen(storage, "f4"), rtol=1e-15)


@pytest.mark.parametrize("storage", ["csr64", "scaled"])
def test_entries_of_a_sparse_matrix(storage):
    X = storages("f4")[storage]
    out = np.full(X.data.size, np.nan)
    sparse_entries(X, out)
    expected = scipy.sparse.csr_array((out, X.indices, X.indptr), shape=(7, 5)).toarray()
    np.testing.assert_allclose(expected, seen(storage, "f4"), rtol=1e-15)


def test_a_standardized_entry_by_hand():
    values = np.array([[3.0, 5.0]], dtype=np.float32)
    out = np.empty((1, 2))
    dense_entries(Standardized(values, np.array([1.0, 2.0]), np.array([10.0, 4.0])), out)
    assert out.tolist() == [[20.0, 12.0]]


def test_only_some_storages_leave_entries_out():
    sparse = {name for name, X in storages("f8").items() if is_sparse(X)}
    assert sparse == {"csr32", "csr64", "scaled"}


def test_float32_entries_are_standardized_in_float64():
    # The mean and the entry agree in all digits of float32.
    X = Standardized(np.full((1, 1), 1e8, np.float32), np.array([1e8 - 1 / 8]), np.array([8.0]))
    out = np.empty((1, 1))
    dense_entries(X, out)
    assert out[0, 0] == 1.0


def test_a_centred_entry_keeps_what_is_beside_a_large_mean():
    # An entry and a mean near each other: their difference is exact.
    values = np.array([[1e9 + 1 / 8], [1e9 - 3 / 8]])
    out = np.empty((2, 1))
    dense_entries(Centred(values, np.array([1e9])), out)
    assert out.tolist() == [[1 / 8], [-3 / 8]]


def test_float32_entries_are_centred_in_float64():
    X, out = Centred(np.full((1, 1), 1e8, np.float32), np.array([1e8 - 1 / 8])), np.empty((1, 1))
    dense_entries(X, out)
    assert out[0, 0] == 1 / 8


def test_float32_squares_of_columns_do_not_overflow():
    X, g, out = np.full((1, 1), 1e30, dtype=np.float32), np.zeros(1), np.empty(1)
    column_squares(X, np.ones(1), g)
    quadratics(X, np.ones(1), np.ones(1), out)
    assert g[0] == pytest.approx(1e60)
    assert out[0] == pytest.approx(1e60)


def test_float32_sums_do_not_overflow():
    X = np.full((1, 2), 1e30, dtype=np.float32)
    out = np.empty(1)
    squares(X, out)
    assert out[0] == pytest.approx(2e60)


def test_nan_stays_nan():
    X, out = np.array([[np.nan, 1.0]]), np.empty(1)
    dots(X, np.zeros(2), out)
    assert np.isnan(out[0])


PRIMITIVES = {
    columns: 1, entry: 3, stored: 2, row_dot: 3, row_axpy: 4, row_square: 2, row_quadratic: 4,
    row_add_squares: 4, row_scores: 5, row_add_outer: 4,
}  # fmt: skip


@pytest.mark.parametrize(("primitive", "arguments"), PRIMITIVES.items())
def test_outside_of_kernels_there_is_no_slow_form(primitive, arguments):
    with pytest.raises(NotImplementedError):
        primitive(*([None] * arguments))
