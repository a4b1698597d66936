import numpy as np
import pytest
import scipy.sparse
import scipy.stats

import thalweg as tw
from thalweg.scaling import moments
from thalweg.scaling.moments import extremes, mean_and_spread, mean_power, positive, skewness

X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [6.0, 3.0, 5.0]])


def test_by_hand():
    low, high = extremes(X)
    assert low.tolist() == [1.0, 0.0, 5.0]
    assert high.tolist() == [6.0, 3.0, 5.0]
    mean, spread = mean_and_spread(X)
    np.testing.assert_allclose(mean, [3.0, 1.0, 5.0], rtol=1e-15)
    np.testing.assert_allclose(spread, [np.sqrt(14 / 3), np.sqrt(2.0), 0.0], rtol=1e-15)
    # Deviations −1, −1, 2 over √2: (−1 − 1 + 8)/3 over 2√2.
    assert skewness(X)[1] == pytest.approx(1 / np.sqrt(2.0))
    assert skewness(X)[2] == 0.0


@pytest.mark.parametrize("block", [1, 50, 100_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_numpy_and_scipy_dense_and_sparse(block, dtype, monkeypatch):
    monkeypatch.setattr(moments, "BLOCK", block)
    A = scipy.sparse.random_array((101, 7), density=0.4, rng=0).toarray().astype(dtype)
    A[:, 3] -= 2 * (A[:, 3] > 0)
    wide = A.astype(np.float64)
    for form in (A, scipy.sparse.csr_array(A)):
        mean, spread = mean_and_spread(form)
        np.testing.assert_allclose(mean, wide.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(spread, wide.std(axis=0), rtol=1e-12)
        np.testing.assert_allclose(skewness(form), scipy.stats.skew(wide), rtol=1e-10)
        np.testing.assert_array_equal(extremes(form), [wide.min(axis=0), wide.max(axis=0)])
        assert mean.dtype == np.float64


def test_a_large_mean_cancels_nothing_and_extreme_units_neither_overflow_nor_vanish():
    base = np.array([[1.0], [2.0], [4.0]])
    spread = np.sqrt(14 / 9)
    for factor in (1e-200, 1e200):
        np.testing.assert_allclose(mean_and_spread(base * factor)[1], spread * factor, rtol=1e-14)
    assert mean_and_spread(base + 1e9)[1] == pytest.approx([spread], rel=1e-14)


def test_a_range_beyond_double_is_refused():
    with pytest.raises(tw.InputError, match=r"got -1.5e\+308 to 1e\+308 in column 1"):
        extremes(np.array([[0.0, 1e308], [1.0, -1.5e308]]))


def test_a_constant_column_is_exactly_constant():
    A = np.full((30, 1), 0.1)
    assert A.mean() != 0.1  # as numpy sums it
    mean, spread = mean_and_spread(A)
    assert (mean[0], spread[0]) == (0.1, 0.0)


def test_powers_and_what_to_divide_by():
    ones = np.ones(3)
    np.testing.assert_allclose(mean_power(X, 0 * ones, 2 * ones, 2), (X**2).mean(axis=0) / 4)
    assert positive(np.array([0.0, 2.0])).tolist() == [1.0, 2.0]
