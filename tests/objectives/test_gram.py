import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.objectives import gram
from thalweg.objectives.gram import (
    class_gram,
    feature_gram,
    rough_gram,
    sample_rows,
    weighted_means,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4)) * (RNG.random((30, 4)) < 0.6) + np.array([0.0, 5.0, 0.0, 1.0])
Y = RNG.standard_normal(30)
WEIGHTS = np.arange(30.0)


def problem(storage=np.asarray, **options):
    return tw.LinearProblem(storage(X), Y, sample_weight=WEIGHTS, l2=0.1, **options)


def slow_rows(fit_intercept, standardize):
    """√c times the rows that the model sees, centred if it has an intercept."""
    c = WEIGHTS / WEIGHTS.sum()
    mean = c @ X
    features = X - mean if fit_intercept else X.copy()
    if standardize:
        features /= np.sqrt(c @ (X - mean) ** 2)
    return np.sqrt(c)[:, None] * features


def test_means_by_hand():
    data = tw.LinearProblem([[1.0], [4.0]], [0.0, 1.0], sample_weight=[1.0, 2.0])
    assert weighted_means(data) == pytest.approx(3.0)
    assert weighted_means(tw.LinearProblem([[1.0]], [0.0], fit_intercept=False)) == 0.0


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_both_equal_the_slow_definition(storage, fit_intercept, standardize):
    data = problem(storage, fit_intercept=fit_intercept, standardize=standardize)
    Z = slow_rows(fit_intercept, standardize)
    np.testing.assert_allclose(sample_rows(data), Z, atol=1e-12)
    np.testing.assert_allclose(feature_gram(data), Z.T @ Z, atol=1e-12)


def test_blocks_add_up(monkeypatch):
    whole = feature_gram(problem())
    monkeypatch.setattr(gram, "BLOCK", 20)  # five rows at a time
    np.testing.assert_allclose(feature_gram(problem()), whole, rtol=1e-13)


def test_large_means_cost_dense_data_no_digits():
    shifted = tw.LinearProblem(X + 1e6, Y, sample_weight=WEIGHTS)
    Z = slow_rows(True, False)
    np.testing.assert_allclose(feature_gram(shifted), Z.T @ Z, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("mean", [1e3, 1e6, 1e9])
def test_large_means_cost_no_digits_where_every_row_has_the_feature(storage, mean):
    eighths = np.round(8.0 * X + 40.0) / 8.0 + mean  # never 0, and exact beside 1e9
    data = tw.LinearProblem(storage(eighths), Y, sample_weight=WEIGHTS)
    c, near = data.weights.astype(np.longdouble), eighths - np.longdouble(mean)
    # About the mean itself, which is no float64.
    Z = np.sqrt(c)[:, None] * (near - c @ near / c.sum())
    np.testing.assert_allclose(sample_rows(data), Z.astype(float), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(feature_gram(data), (Z.T @ Z).astype(float), rtol=1e-13, atol=1e-14)
    p, c = RNG.dirichlet(np.ones(3), 30), data.weights
    classes = tw.LinearProblem(
        storage(eighths), np.arange(30) % 3, "multinomial", sample_weight=WEIGHTS
    )
    # The model's origin is the mean as it is rounded: that difference is exact.
    seen = np.column_stack([eighths - weighted_means(data), np.ones(30)])
    expected = sum(
        c[i] * np.kron(np.outer(seen[i], seen[i]), np.diag(p[i]) - np.outer(p[i], p[i]))
        for i in range(30)
    )
    np.testing.assert_allclose(class_gram(classes.centred, p), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_any_number_of_threads_gives_the_same_bits(storage, cut_finely):
    p, rows = RNG.dirichlet(np.ones(3), 30), np.arange(0, 30, 2)

    def found(threads):
        data = problem(storage, threads=threads)
        classes = tw.LinearProblem(
            storage(X), np.arange(30) % 3, "multinomial", threads=threads, sample_weight=WEIGHTS
        )
        return feature_gram(data), class_gram(classes, p), rough_gram(data, rows, np.ones(15))

    whole = found(1)
    cut_finely()
    expected = found(1)
    for threads in (2, 3, 8):
        for part, one in zip(found(threads), expected, strict=True):
            np.testing.assert_array_equal(part, one)
    for part, one in zip(expected, whole, strict=True):
        np.testing.assert_allclose(part, one, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_the_gram_of_classes_equals_the_slow_definition(
    storage, fit_intercept, standardize, monkeypatch
):
    labels = np.arange(30) % 3
    data = tw.LinearProblem(
        storage(X), labels, "multinomial", sample_weight=WEIGHTS, fit_intercept=fit_intercept,
        standardize=standardize,
    )  # fmt: skip
    c = WEIGHTS / WEIGHTS.sum()
    features = slow_rows(fit_intercept, True) / np.sqrt(np.where(c > 0, c, 1.0))[:, None]
    features = np.where(c[:, None] > 0, features, 0.0) if standardize else X
    if fit_intercept:
        features = np.column_stack([features, np.ones(30)])
    p = RNG.dirichlet(np.ones(3), 30)
    expected = sum(
        c[i] * np.kron(np.outer(features[i], features[i]), np.diag(p[i]) - np.outer(p[i], p[i]))
        for i in range(30)
    )
    np.testing.assert_allclose(class_gram(data, p), expected, atol=1e-12)
    monkeypatch.setattr(gram, "BLOCK", 60)  # a few rows at a time
    np.testing.assert_allclose(class_gram(data, p), expected, atol=1e-12)


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_a_rough_gram_equals_the_slow_definition(storage, fit_intercept, standardize):
    data = problem(storage, fit_intercept=fit_intercept, standardize=standardize)
    rows, h = np.array([2, 3, 11, 29]), np.array([1e-30, 2e-30, 0.0, 5e-30])
    features = X.copy()
    if standardize:
        features = (X - data.features.place) * data.features.units
    if fit_intercept:
        features = np.column_stack([features, np.ones(30)])
    Z = np.sqrt(h)[:, None] * features[rows]
    np.testing.assert_allclose(rough_gram(data, rows, h), Z.T @ Z, rtol=1e-5, atol=1e-36)
    assert not rough_gram(data, rows[:0], h[:0]).any()
