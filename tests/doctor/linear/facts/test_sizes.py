import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.doctor.linear.facts.sizes import sizes

X = np.array(
    [[1.0, 0.0, 5.0, 0.0], [3.0, 0.0, 5.0, 2.0], [5.0, 0.0, 5.0, 0.0], [7.0, 0.0, 5.0, 2.0]]
)
Y = np.array([0.0, 1.0, 2.0, 4.0])


def storages(X):
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "CSR": scipy.sparse.csr_array(X),
        "CSC": scipy.sparse.csc_array(X),
    }


@pytest.mark.parametrize("storage", storages(X))
def test_by_hand(storage):
    found = sizes(tw.LinearProblem(storages(X)[storage], Y))
    np.testing.assert_allclose(found.means, [4.0, 0.0, 5.0, 1.0])
    np.testing.assert_allclose(found.deviations, [5.0**0.5, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(found.sizes, [21.0**0.5, 0.0, 5.0, 2.0**0.5])
    np.testing.assert_allclose(found.units, [21.0**0.5, 0.0, 5.0, 2.0])  # of what is not zero
    assert found.constant.tolist() == [1, 2]


def test_samples_of_weight_zero_are_not_there():
    other = np.vstack([X, [9.0, 9.0, 9.0, 9.0]])
    weighted = tw.LinearProblem(other, np.append(Y, 9.0), sample_weight=[1, 1, 1, 1, 0])
    for one, two in zip(sizes(weighted), sizes(tw.LinearProblem(X, Y)), strict=True):
        np.testing.assert_allclose(one, two)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_large_mean_does_not_hide_what_varies(sparse):
    rng = np.random.default_rng(0)
    X = 1e4 + rng.normal(size=(50_000, 2)) * [1.0, 0.0]
    found = sizes(tw.LinearProblem(scipy.sparse.csr_array(X) if sparse else X, X[:, 0]))
    assert found.constant.tolist() == [1]
    np.testing.assert_allclose(found.deviations[0], X[:, 0].std(), rtol=1e-6)


def test_what_underflows_is_not_constant():
    found = sizes(tw.LinearProblem(1e-200 * X, Y))
    assert found.constant.tolist() == [1, 2]


def test_features_as_the_model_sees_them():
    plain, scaled = (tw.LinearProblem(X, Y, standardize=flag) for flag in (False, True))
    np.testing.assert_allclose(sizes(plain).seen(plain), sizes(plain).sizes)
    np.testing.assert_allclose(sizes(scaled).seen(scaled), [1.0, 0.0, 0.0, 1.0])
    bare = tw.LinearProblem(X, Y, standardize=True, fit_intercept=False)  # scaled, not shifted
    np.testing.assert_allclose(sizes(bare).seen(bare)[0], (21.0 / 5.0) ** 0.5)
