import numpy as np
import pytest
import scipy.sparse
import scipy.stats

import thalweg as tw

rng = np.random.default_rng(0)
TAIL = rng.lognormal(sigma=2.0, size=500)
X = np.column_stack([TAIL, rng.normal(size=500), -TAIL, rng.poisson(1.0, 500) ** 3, TAIL - 1.0])


def test_by_hand():
    A = np.array([[0.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [7.0]])
    scaler = tw.scaling.LogScaler().fit(A)
    assert scaler.logged_.tolist() == [True]
    assert scaler.unit_.tolist() == [1.0]
    np.testing.assert_allclose(
        scaler.transform([[0.0], [1.0], [7.0], [-1.0]]).ravel(),
        np.log([1.0, 2.0, 8.0, 0.5]) * [1, 1, 1, 1],
        rtol=1e-15,
    )


def test_only_skewed_columns_that_are_not_negative_are_logged():
    scaler = tw.scaling.LogScaler().fit(X)
    assert scaler.logged_.tolist() == [True, False, False, True, False]
    Z = scaler.transform(X)
    assert np.array_equal(Z[:, [1, 2, 4]], X[:, [1, 2, 4]])
    np.testing.assert_allclose(scaler.skewness_, scipy.stats.skew(X), rtol=1e-10)
    assert (np.abs(scipy.stats.skew(Z)[[0, 3]]) < scipy.stats.skew(X)[[0, 3]] / 2).all()


def test_the_threshold_is_the_skewness():
    g = tw.scaling.LogScaler().fit(X).skewness_[0]
    assert tw.scaling.LogScaler(skewness=g * 0.999).fit(X).logged_[0]
    assert not tw.scaling.LogScaler(skewness=g).fit(X).logged_[0]


def test_a_column_that_the_logarithm_would_not_straighten_is_left():
    # Two values stay two values, as far to either side as before.
    A = np.array([[1.0]] * 9 + [[2.0]])
    assert tw.scaling.LogScaler().fit(A).skewness_[0] > 1.0
    assert not tw.scaling.LogScaler(skewness=1.0).fit(A).logged_[0]


def test_units_of_measurement_do_not_matter():
    scaler = tw.scaling.LogScaler()
    Z = scaler.fit_transform(X[:, :1])
    for factor in (1e-9, 1e9):
        np.testing.assert_allclose(scaler.fit_transform(X[:, :1] * factor), Z, rtol=1e-9)


def test_later_values_below_zero_are_mirrored():
    scaler = tw.scaling.LogScaler().fit(X)
    row = np.array([[3.0, 0.0, 0.0, 2.0, 0.0]])
    np.testing.assert_array_equal(scaler.transform(-row), -scaler.transform(row))


def test_sparse_units_are_those_of_dense():
    counts = scipy.sparse.csr_array(rng.poisson(0.3, (400, 3)) ** 3 * 2.0)
    ours, dense = tw.scaling.LogScaler().fit(counts), tw.scaling.LogScaler().fit(counts.toarray())
    assert ours.logged_.all()
    assert np.array_equal(ours.unit_, dense.unit_)


def test_a_negative_threshold_is_refused():
    with pytest.raises(tw.InputError, match="skewness must be at least 0, got -1"):
        tw.scaling.LogScaler(skewness=-1).fit(X)
