import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from linear_data import features
from thalweg.doctor.linear.facts import repeats as module
from thalweg.doctor.linear.facts.repeats import repeats
from thalweg.doctor.linear.facts.sizes import sizes


def found(X, **options):
    problem = tw.LinearProblem(X, np.arange(float(X.shape[0])), **options)
    return repeats(problem, sizes(problem)).tolist()


def test_by_hand():
    X = features(50, 3)
    X = np.column_stack([X, -2.0 * X[:, 1], X[:, 2], np.zeros(50)])
    assert found(X) == [[1, 3], [2, 4]]


@pytest.mark.parametrize("convert", [np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_storage(convert, standardize, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 40)) * (rng.random((100, 40)) < 0.2)
    X[:, 7], X[:, 39] = 4.0 * X[:, 3], -X[:, 3]  # by powers of two: exact in float32 as well
    assert found(convert(X.astype(dtype)), standardize=standardize) == [[3, 7], [3, 39]]


@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array])
def test_a_shift_repeats_only_beside_an_intercept(convert):
    x = (features(60, 1) > 0).astype(float)
    X = convert(np.hstack([x, 1.0 - x]))
    assert found(X) == [[0, 1]]
    assert found(X, fit_intercept=False) == []


def test_close_is_not_the_same():
    X = features(200, 2)
    X = np.column_stack([X, X[:, 0] + 1e-3 * X[:, 1]])
    assert found(X) == []


def test_what_looks_alike_is_looked_at(monkeypatch):
    monkeypatch.setattr(module, "AGREEMENT", 10.0)  # all columns look alike
    X = features(50, 4)
    assert found(X) == []
    assert found(np.column_stack([X, 2.0 * X[:, 0]])) == [[0, 4]]


def test_equal_to_all_pairs_one_by_one():
    rng = np.random.default_rng(3)
    X = scipy.sparse.random_array((30, 300), density=0.05, rng=rng, format="csr")
    X.data[:] = 1.0  # words: many are in the same single sample
    dense = X.toarray()
    keys = [dense[:, j].tobytes() for j in range(300)]
    by_hand = [
        [keys.index(key), j]
        for j, key in enumerate(keys)
        if dense[:, j].any() and keys.index(key) < j
    ]
    assert len(by_hand) > 20
    assert found(X, fit_intercept=False) == by_hand


def test_one_column_repeats_none():
    assert found(features(20, 1)) == []
    assert found(np.ones((20, 2))) == []
