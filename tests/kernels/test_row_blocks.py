import numpy as np
import pytest

from storages import seen, storages
from thalweg.kernels.compile import kernel
from thalweg.kernels.row_blocks import rows_add_squares, rows_axpy, rows_dot, rows_in_cache
from thalweg.kernels.rows import Centred


@kernel
def dots_of_rows(X, start, stop, w, b, z):
    rows_dot(X, start, stop, w, b, z)


@kernel
def transposed_rows(X, start, stop, a, g):
    rows_axpy(X, start, stop, a, g)


@kernel
def column_squares_of_rows(X, start, stop, a, g):
    rows_add_squares(X, start, stop, a, g)


@kernel
def count_of_rows(X):
    return rows_in_cache(X)


@pytest.mark.parametrize("storage", storages("f4"))
def test_several_rows_at_a_time_do_what_one_does_after_the_other(storage):
    X, rows = seen(storage, "f4"), storages("f4")[storage]
    rng = np.random.default_rng(4)
    w, a = rng.standard_normal(5), rng.standard_normal(7)
    for start, stop in ((0, 7), (1, 6), (2, 4), (3, 3)):  # fours and what is left of them
        here = slice(start, stop)
        z, g, s = np.full(7, np.nan), np.ones(5), np.ones(5)
        dots_of_rows(rows, start, stop, w, 0.3, z)
        np.testing.assert_allclose(z[: stop - start], X[here] @ w + 0.3, rtol=1e-13, atol=1e-14)
        assert np.isnan(z[stop - start :]).all()
        transposed_rows(rows, start, stop, a[here], g)
        np.testing.assert_allclose(g, 1.0 + X[here].T @ a[here], rtol=1e-13, atol=1e-14)
        column_squares_of_rows(rows, start, stop, a, s)
        np.testing.assert_allclose(s, 1.0 + a[here] @ X[here] ** 2, rtol=1e-13, atol=1e-14)


def test_as_many_rows_are_taken_as_stay_in_cache():
    wide, tall = np.zeros((4, 20_000)), np.zeros((4, 2))
    assert [count_of_rows(X) for X in (wide, tall)] == [4, 64]
    by_columns = [np.asfortranarray(wide), np.asfortranarray(tall)]
    assert [count_of_rows(X) for X in by_columns] == [256, 1024]
    # Centred or not, a matrix is read in the same order.
    assert [count_of_rows(Centred(X, np.zeros(X.shape[1]))) for X in by_columns] == [256, 1024]


PRIMITIVES = {rows_in_cache: 1, rows_dot: 6, rows_axpy: 5, rows_add_squares: 5}


@pytest.mark.parametrize(("primitive", "arguments"), PRIMITIVES.items())
def test_outside_of_kernels_there_is_no_slow_form(primitive, arguments):
    with pytest.raises(NotImplementedError):
        primitive(*([None] * arguments))
