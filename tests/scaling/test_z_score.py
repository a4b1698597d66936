import numpy as np
import pytest
import scipy.sparse
import sklearn.preprocessing

import thalweg as tw


def test_by_hand():
    Z = tw.scaling.ZScore().fit_transform([[1.0], [2.0], [3.0]])
    np.testing.assert_allclose(Z.ravel(), np.array([-1, 0, 1]) / np.sqrt(2 / 3), rtol=1e-15)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_scikit_learn_in_double(center, dtype):
    X = (np.random.default_rng(0).normal(size=(60, 4)) * [1, 1e4, 1e-4, 3] + 2).astype(dtype)
    wide = X.astype(np.float64)
    theirs = sklearn.preprocessing.StandardScaler(with_mean=center).fit_transform(wide)
    tolerance = 1e-10 if dtype == np.float64 else 1e-6
    np.testing.assert_allclose(
        tw.scaling.ZScore(center=center).fit_transform(X), theirs, rtol=tolerance, atol=tolerance
    )


def test_mean_zero_and_variance_one_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(500, 3)) + 1e6
    Z = tw.scaling.ZScore().fit_transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(Z.std(axis=0), 1.0, rtol=1e-10)


def test_sparse_data_has_the_spread_about_its_mean():
    X = scipy.sparse.csr_array(np.array([[0.0], [0.0], [3.0]]))
    assert tw.scaling.ZScore(center=False).fit(X).spread_ == pytest.approx([np.sqrt(2.0)])
