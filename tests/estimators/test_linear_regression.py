"""Ordinary least squares, against its definition."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model

import thalweg as tw


def data(n=60, p=4, targets=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.logspace(-1, 1, p) + 3.0
    y = rng.standard_normal(n if targets is None else (n, targets))
    return X, y + X[:, :1] if targets else y + X[:, 0], rng.uniform(0.1, 2.0, n)


def slow(X, y, s, fit_intercept):
    """The smallest minimizer, by a pseudoinverse about the weighted means."""
    mean = np.average(X, axis=0, weights=s) if fit_intercept else np.zeros(X.shape[1])
    level = np.average(y, axis=0, weights=s) if fit_intercept else 0.0
    root = np.sqrt(s)[:, None]
    w = np.linalg.pinv(root * (X - mean)) @ (root * (y - level).reshape(len(y), -1))
    return w.T.reshape(-1, X.shape[1]), level - mean @ w


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize(("n", "targets"), [(60, None), (60, 3), (4, None), (4, 2)])
def test_coefficients_are_the_smallest_that_fit_best(fit_intercept, storage, n, targets):
    X, y, s = data(n, 6 if n < 6 else 4, targets)
    model = tw.LinearRegression(fit_intercept=fit_intercept).fit(storage(X), y, s)
    W, b = slow(X, y, s, fit_intercept)
    np.testing.assert_allclose(np.atleast_2d(model.coef_), W, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, b if fit_intercept else 0.0, rtol=1e-5, atol=1e-6)
    assert model.coef_.ndim == (1 if targets is None else 2)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n", [60, 5])
def test_singular_values_and_rank_are_scikit_learns(fit_intercept, n):
    X, y, s = data(n, 7)
    X[:, 3] = X[:, 1] - X[:, 2]
    mine = tw.LinearRegression(fit_intercept=fit_intercept).fit(X, y, s)
    theirs = sklearn.linear_model.LinearRegression(fit_intercept=fit_intercept).fit(X, y, s)
    assert mine.rank_ == theirs.rank_
    assert len(mine.singular_) == len(theirs.singular_)
    atol = 1e-7 * theirs.singular_[0]
    np.testing.assert_allclose(mine.singular_, theirs.singular_, rtol=1e-9, atol=atol)


def test_a_sparse_fit_has_neither():
    X, y, _ = data()
    model = tw.LinearRegression().fit(X, y)
    assert model.rank_ == 4
    model.fit(scipy.sparse.csr_array(X), y)
    assert not hasattr(model, "rank_")
    assert not hasattr(model, "singular_")


def test_it_is_certified_without_a_gap():
    X, y, _ = data()
    certificate = tw.LinearRegression().fit(X, y).certificate_
    assert certificate.holds
    assert certificate.gap is None


@pytest.mark.parametrize("shape", [(20,), (20, 1), (20, 2)])
def test_shapes_are_those_of_scikit_learn(shape):
    # Others take residuals of it, and of two axes less one NumPy makes a square table.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=shape)
    ours, theirs = (
        tw.LinearRegression().fit(X, y),
        sklearn.linear_model.LinearRegression().fit(X, y),
    )
    for name in ("coef_", "intercept_"):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name))
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
