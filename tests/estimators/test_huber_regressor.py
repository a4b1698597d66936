"""Robust regression against scikit-learn's objective and optimum."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model

import thalweg as tw


def drawn(seed, n=80, p=5, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X + offset, X @ rng.standard_normal(p) + rng.standard_t(1.5, n) + 3.0


def objective(model, X, y, weights=1.0):
    t = np.abs(X @ model.coef_ + model.intercept_ - y) / model.scale_
    e = model.epsilon
    losses = model.scale_ * (1.0 + np.where(t <= e, t**2, 2.0 * e * t - e**2))
    return np.sum(weights * losses) + model.alpha * model.coef_ @ model.coef_


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_coefficients_and_scale_are_scikit_learns(seed, alpha, fit_intercept):
    X, y = drawn(seed)
    weights = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float)
    options = {"epsilon": 1.1 + 0.3 * seed, "alpha": alpha, "fit_intercept": fit_intercept}
    ours = tw.HuberRegressor(**options, tol=1e-10).fit(X, y, weights)
    theirs = sklearn.linear_model.HuberRegressor(**options, tol=1e-9, max_iter=10_000)
    theirs.fit(X, y, weights)
    assert ours.certificate_.holds
    assert objective(ours, X, y, weights) <= objective(theirs, X, y, weights) * (1.0 + 1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    assert ours.scale_ == pytest.approx(theirs.scale_, rel=1e-3)
    np.testing.assert_array_equal(ours.outliers_, theirs.outliers_)


def test_offsets_and_storages_cost_nothing():
    X, y = drawn(0)
    near = tw.HuberRegressor(tol=1e-10).fit(X, y)
    far = tw.HuberRegressor(tol=1e-10).fit(X + 1e6, y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    assert far.scale_ == pytest.approx(near.scale_, rel=1e-6)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = (
        tw.HuberRegressor(tol=1e-10).fit(kind(X), y) for kind in (np.array, scipy.sparse.csr_array)
    )
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)


def test_with_fewer_samples_than_features():
    X, y = drawn(1, n=20, p=40)
    ours = tw.HuberRegressor(alpha=5.0, tol=1e-9).fit(X, y)
    theirs = sklearn.linear_model.HuberRegressor(alpha=5.0, tol=1e-9, max_iter=10_000).fit(X, y)
    assert ours.certificate_.holds
    assert objective(ours, X, y) <= objective(theirs, X, y) * (1.0 + 1e-8)
    # scikit-learn stops short of the optimum here, by its own measure.
    tight = tw.HuberRegressor(alpha=5.0, tol=1e-10, method="lbfgs", max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, tight.coef_, atol=1e-4)


def test_a_warm_start_at_the_optimum_is_its_end():
    X, y = drawn(2)
    model = tw.HuberRegressor(warm_start=True).fit(X, y)
    before = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_allclose(model.coef_, before, atol=1e-8)


def test_a_constant_target_is_met():
    X, _ = drawn(3)
    model = tw.HuberRegressor().fit(X, np.full(80, 7.0))
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-9)
    assert model.intercept_ == pytest.approx(7.0)
