import numpy as np
import pytest
import scipy.sparse
from numba import njit

from thalweg.kernels.compile import kernel
from thalweg.kernels.prefetch import (
    AHEAD,
    LINE,
    MOST_LINES,
    _prefetch_range,
    prefetch_row,
    prefetch_sample,
)
from thalweg.kernels.rows import CSR, ScaledCSR, Standardized, row_dot

N, P = 30, 300  # a row is longer than what is asked for of it
MATRIX = np.random.default_rng(0).standard_normal((N, P))


def storages():
    sparse = scipy.sparse.csr_array(MATRIX)
    parts = CSR(sparse.data, sparse.indices, sparse.indptr)
    ones = np.ones(P)
    return [MATRIX, Standardized(MATRIX, 0 * ones, ones), parts, ScaledCSR(*parts, ones)]


@kernel
def scores(X, y, weight, order, w, out):
    for t in range(order.size):
        prefetch_sample(X, y, weight, order, t + AHEAD)
        prefetch_row(X, order[t])
        out[t] = row_dot(X, order[t], w)


@pytest.mark.parametrize("X", storages(), ids=lambda X: type(X).__name__)
def test_it_asks_and_changes_nothing(X):
    rng = np.random.default_rng(1)
    order, w, y = rng.integers(N, size=50), rng.standard_normal(P), rng.standard_normal(N)
    out, kept = np.empty(50), MATRIX.copy()
    scores(X, y, np.ones(N), order, w, out)
    np.testing.assert_allclose(out, MATRIX[order] @ w, rtol=1e-12)
    np.testing.assert_array_equal(kept, MATRIX)
    assert MATRIX[0].nbytes > LINE * MOST_LINES


def ask(X, i):
    prefetch_row(X, i)


def ask_for_all(X, y, weight, order):
    prefetch_sample(X, y, weight, order, 0)


def requests(function, *given):
    """How many there are in the code, compiled anew: what a disk cache holds cannot be read."""
    fresh = njit(function)
    fresh(*given)
    return fresh.inspect_llvm(fresh.signatures[0]).count("call void @llvm.prefetch")


def test_the_processor_is_told():
    by_columns, rest = np.asfortranarray(MATRIX), (np.ones(N), np.ones(N), np.arange(N))
    assert requests(ask, MATRIX, 0) > 0
    assert requests(ask, by_columns, 0) == 0  # a row is as many lines as it has entries
    assert requests(ask_for_all, by_columns, *rest) >= 2  # target and weight


@pytest.mark.parametrize(("function", "arguments"), [(prefetch_row, 2), (_prefetch_range, 3)])
def test_outside_of_kernels_there_is_nothing_to_ask(function, arguments):
    with pytest.raises(NotImplementedError):
        function(*([None] * arguments))
