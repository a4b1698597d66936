import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.objectives.columns import (
    append,
    centred_gram,
    entries_in_rows,
    gather,
    narrowed,
    offsets,
    weighted,
)
from thalweg.objectives.gram import weighted_means

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 5)) * (RNG.random((30, 5)) < 0.6) + np.array([0.0, 5.0, 0.0, 1.0, 0.0])
WEIGHTS = np.arange(30.0)
STORAGES = [np.asarray, np.asfortranarray, scipy.sparse.csr_array]


def problem(storage=np.asarray, dtype=np.float64, **options):
    return tw.LinearProblem(
        storage(X.astype(dtype)), RNG.standard_normal(30), sample_weight=WEIGHTS, l2=0.1, **options
    )


def dense(A):
    if isinstance(A, np.ndarray):
        return A
    assert A.indices.dtype == np.int32
    return scipy.sparse.csr_array(tuple(A), shape=(len(A.indptr) - 1, 30)).toarray()


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_rebuilds_the_scores(storage, dtype, fit_intercept, standardize):
    data = problem(storage, dtype, fit_intercept=fit_intercept, standardize=standardize)
    features, means = np.array([3, 0, 1]), weighted_means(data)
    A = dense(gather(data, features, means))
    assert A.dtype == np.float64
    w = np.zeros(data.dim)
    w[features] = [1.0, -2.0, 0.5]
    b = 0.7 if fit_intercept else 0.0
    w[5:] = b
    o = offsets(data, features, means)
    z = w[features] @ A / np.sqrt(np.maximum(data.weights, 1e-300)) + b + o @ w[features]
    seen = data.weights > 0
    np.testing.assert_allclose(z[seen], data.scores(w)[seen], rtol=1e-12, atol=1e-12)
    if not fit_intercept:
        assert not o.any()
    elif storage is not scipy.sparse.csr_array:
        np.testing.assert_allclose(A @ np.sqrt(data.weights), 0.0, atol=1e-6)


@pytest.mark.parametrize("storage", STORAGES)
def test_threads_change_no_bit(storage, cut_finely):
    one = problem(storage, threads=1)
    means, features = weighted_means(one), np.array([4, 1])
    expected = gather(one, features, means)
    cut_finely()
    for threads in (1, 2, 3, 8):
        found = gather(problem(storage, threads=threads), features, means)
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(found, expected)
        else:
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("storage", STORAGES)
def test_appended_equals_gathered_at_once(storage):
    data = problem(storage)
    means = weighted_means(data)
    parts = [gather(data, np.array(part), means) for part in ([2], [0, 4])]
    np.testing.assert_array_equal(
        dense(append(*parts)), dense(gather(data, np.array([2, 0, 4]), means))
    )


@pytest.mark.parametrize("storage", STORAGES)
def test_factors_multiply_samples(storage):
    data = problem(storage)
    A = gather(data, np.array([1, 3]), weighted_means(data))
    factors = RNG.random(30)
    np.testing.assert_array_equal(dense(weighted(A, factors)), dense(A) * factors)


def test_a_constant_feature_is_exactly_zero_about_its_mean():
    constant = np.full((50, 1), 0.1)  # the mean of 50 of these is not quite 0.1
    data = tw.LinearProblem(constant, np.arange(50.0), l2=1.0, sample_weight=np.arange(50.0) + 1)
    assert not np.any(gather(data, np.array([0]), weighted_means(data)))
    plain = tw.LinearProblem(constant, np.arange(50.0), l2=1.0, fit_intercept=False)
    assert np.all(gather(plain, np.array([0]), weighted_means(plain)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_narrowed_is_a_slice(dtype, cut_finely):
    cut_finely()
    data = problem(scipy.sparse.csr_array, dtype, threads=3)
    features = np.array([0, 2, 4])
    expected = X.astype(dtype)[:, features].astype(np.float64)
    counts = entries_in_rows(data, features)
    np.testing.assert_array_equal(counts, np.count_nonzero(expected, axis=1))
    found = narrowed(data, features, counts)
    assert found.entries == counts.sum()
    rows = scipy.sparse.csr_array(tuple(found.rows), shape=found.shape)
    np.testing.assert_array_equal(rows.toarray(), expected)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_centred_gram_by_its_definition(fit_intercept, standardize):
    data = problem(scipy.sparse.csr_array, fit_intercept=fit_intercept, standardize=standardize)
    features, h = np.array([0, 1, 4]), data.weights * np.linspace(0.1, 1.0, 30)
    seen = X[:, features] * data.features.units[features]
    if fit_intercept:
        seen = seen - h @ seen / h.sum()
    expected = (seen.T * h) @ seen + 0.1 * np.eye(3)
    found = centred_gram(data, features, entries_in_rows(data, features), h)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_a_constant_feature_has_a_curvature_above_zero():
    constant = scipy.sparse.csr_array(np.column_stack([np.full(9, 0.1), np.arange(9.0)]))
    data = tw.LinearProblem(constant, np.arange(9.0), l1=0.1)
    features = np.array([0, 1])
    H = centred_gram(data, features, entries_in_rows(data, features), np.linspace(0.1, 0.3, 9))
    assert 0.0 < H[0, 0] <= 1e-13
