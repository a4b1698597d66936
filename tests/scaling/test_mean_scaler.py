import numpy as np
import scipy.sparse

import thalweg as tw


def test_by_hand():
    X = np.array([[0.0, 1.0], [1.0, 1.0], [5.0, 1.0]])
    Z = tw.scaling.MeanScaler().fit_transform(X)
    np.testing.assert_allclose(Z, [[-0.4, 0], [-0.2, 0], [0.6, 0]], rtol=1e-15)


def test_training_data_averages_zero_within_a_range_of_one():
    X = np.random.default_rng(0).exponential(size=(200, 5)) * 10.0 ** np.arange(-2, 3)
    Z = tw.scaling.MeanScaler().fit_transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.ptp(Z, axis=0), 1.0, rtol=1e-14)


def test_without_a_center_it_divides_only():
    X = scipy.sparse.csr_array(np.array([[0.0, 4.0], [2.0, -4.0]]))
    assert tw.scaling.MeanScaler(center=False).fit_transform(X).toarray().tolist() == [
        [0.0, 0.5],
        [1.0, -0.5],
    ]
