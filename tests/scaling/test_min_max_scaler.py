import numpy as np
import pytest
import scipy.sparse
import sklearn.preprocessing

import thalweg as tw

X = np.array([[1.0, 10.0], [3.0, 40.0], [5.0, 20.0]])


def test_by_hand_to_the_lectures_ranges():
    Z = tw.scaling.MinMaxScaler().fit_transform(X)
    np.testing.assert_allclose(Z, [[0, 0], [0.5, 1], [1, 1 / 3]], rtol=1e-15)
    Z = tw.scaling.MinMaxScaler((-1, 0)).fit_transform(X)
    np.testing.assert_allclose(Z, [[-1, -1], [-0.5, 0], [0, -2 / 3]], rtol=1e-15)


@pytest.mark.parametrize("span", [(0, 1), (-1, 0), (-3.5, 8)])
def test_equals_scikit_learn(span):
    A = np.random.default_rng(0).normal(size=(50, 4)) * [1, 1e6, 1e-6, 1] + [0, 5, 0, 1e3]
    theirs = sklearn.preprocessing.MinMaxScaler(feature_range=span).fit(A)
    ours = tw.scaling.MinMaxScaler(span).fit(A)
    B = A[::-1] * 1.5
    np.testing.assert_allclose(ours.transform(B), theirs.transform(B), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_training_data_reaches_both_ends_exactly(dtype):
    A = np.random.default_rng(1).normal(size=(100, 20)).astype(dtype)
    Z = tw.scaling.MinMaxScaler().fit_transform(A)
    assert (Z.min(axis=0) == 0.0).all()
    assert (Z.max(axis=0) == 1.0).all()


def test_later_data_may_leave_the_range_unless_clipped():
    later = np.array([[9.0, 0.0]])
    assert tw.scaling.MinMaxScaler().fit(X).transform(later).max() == 2.0
    clipped = tw.scaling.MinMaxScaler(clip=True).fit(X).transform(later)
    assert clipped.tolist() == [[1.0, 0.0]]
    sparse = tw.scaling.MinMaxScaler(clip=True).fit(
        scipy.sparse.csr_array([[0.0, 2.0], [1.0, 0.0]])
    )
    assert sparse.transform(scipy.sparse.csr_array([[3.0, 1.0]])).toarray().tolist() == [[1.0, 0.5]]


def test_a_constant_column_goes_to_the_lower_end():
    Z = tw.scaling.MinMaxScaler((-1, 1)).fit_transform(np.full((3, 1), 7.0))
    assert Z.tolist() == [[-1.0]] * 3


def test_bad_ranges():
    for span, said in [
        ((1, 0), r"feature_range\[1\] must be above 1, got 0\.0"),
        (3, "feature_range must be two numbers, got 3"),
        ((0, np.inf), r"feature_range\[1\] must be above 0, got inf"),
    ]:
        with pytest.raises(tw.InputError, match=said):
            tw.scaling.MinMaxScaler(span).fit(X)
