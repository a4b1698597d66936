"""Quantile regression against scikit-learn's linear programs, and where there is more than one."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model

import thalweg as tw


def drawn(seed, n=80, p=6, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + offset
    return X, X @ rng.standard_normal(p) + rng.standard_t(2, n)


def pinball(model, X, y, weights=None):
    r = y - X @ model.coef_ - model.intercept_
    losses = np.maximum(model.quantile * r, (model.quantile - 1.0) * r)
    return np.average(losses, weights=weights) + model.alpha * np.abs(model.coef_).sum()


def beside(X, y, weights=None, **options):
    ours = tw.QuantileRegressor(**options).fit(X, y, sample_weight=weights)
    theirs = sklearn.linear_model.QuantileRegressor(**options).fit(X, y, sample_weight=weights)
    assert ours.certificate_.holds
    assert pinball(ours, X, y, weights) <= pinball(theirs, X, y, weights) * (1.0 + 1e-9)
    return ours, theirs


def test_a_line_through_two_points_by_hand():
    X, y = np.array([[0.0], [1.0], [1.0]]), np.array([1.0, 3.0, 9.0])
    for quantile, top in ((0.4, 2.0), (0.6, 8.0)):
        model = tw.QuantileRegressor(quantile=quantile, alpha=0).fit(X, y)
        np.testing.assert_allclose([model.coef_[0], model.intercept_], [top, 1.0], atol=1e-12)


# HiGHS stops at residuals of 10⁻⁷, which leaves some coefficients off by more than that.
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_coefficients_are_scikit_learns(seed, alpha, fit_intercept):
    X, y = drawn(seed)
    weights = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float)
    options = {"quantile": 0.1317 + 0.2 * seed, "alpha": alpha, "fit_intercept": fit_intercept}
    for each in (None, weights + 0.5, weights):
        ours, theirs = beside(X, y, each, **options)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-6)
        if ours.coef_.any():
            assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_so_they_are_with_more_features_than_samples_and_far_from_zero(seed):
    X, y = drawn(seed, n=30, p=50)
    ours, theirs = beside(X, y, alpha=0.05)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    X, y = drawn(seed, offset=1e6)
    near = tw.QuantileRegressor(alpha=0.01).fit(X - 1e6, y)
    far = tw.QuantileRegressor(alpha=0.01).fit(X, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-7, atol=1e-9)


def test_weights_are_repetitions():
    X, y = drawn(0)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = tw.QuantileRegressor(alpha=0.02).fit(X, y, sample_weight=weights)
    repeated = tw.QuantileRegressor(alpha=0.02).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)


def test_a_quantile_of_the_samples_lies_below():
    X, y = drawn(1, n=1000)
    for quantile in (0.05, 0.5, 0.9):
        model = tw.QuantileRegressor(quantile=quantile, alpha=0).fit(X, y)
        below = np.mean(y < model.predict(X) - 1e-9)
        assert below <= quantile <= below + 7.5 / len(y)


def test_of_many_optima_one_is_found_and_proved():
    # Any slope from 1 to 10 is as good.
    model = tw.QuantileRegressor(alpha=0).fit([[0.0], [1.0], [1.0]], [1.0, 2.0, 11.0])
    assert model.certificate_.gap < 1e-9
    assert model.intercept_ == pytest.approx(1.0)
    assert 1.0 <= model.coef_[0] <= 10.0


def test_wide_rows_go_by_column_generation_and_both_may_be_asked_for():
    X, y = drawn(3, n=60, p=400)
    wide = tw.QuantileRegressor(alpha=0.1).fit(X, y)
    assert wide.method_ == "column-generation"
    whole = tw.QuantileRegressor(alpha=0.1, method="interior-point").fit(X, y)
    assert whole.method_ == "interior-point"
    np.testing.assert_allclose(wide.coef_, whole.coef_, atol=1e-9)


def test_memory_grows_like_the_data():
    # Linear programs of scikit-learn's kind hold two identity matrices besides.
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(4000, 3000, 0.003, format="csr", random_state=1)
    y = np.asarray(X @ rng.standard_normal(3000)).ravel() + rng.standard_normal(4000)
    tw.QuantileRegressor(alpha=0.001).fit(X[:200], y[:200])
    tracemalloc.start()
    model = tw.QuantileRegressor(alpha=0.0007).fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.certificate_.holds
    assert np.count_nonzero(model.coef_) > 20
    assert most < 40e6  # a matrix of 3000² alone is 72 MB


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"solver": "interior-point"}, "Solver interior-point is not anymore available"),
        ({"solver_options": {"maxiter": 1}}, "solver_options must not be"),
    ],
)
def test_what_cannot_be_honoured_is_refused(options, says):
    with pytest.raises(tw.InputError, match=says):
        tw.QuantileRegressor(**options).fit(*drawn(0))


@pytest.mark.parametrize(
    ("quantile", "alpha", "coef"), [(0.49, 0.0, 1.0), (0.51, 0.0, 10.0), (0.5, 0.01, 1.0)]
)
def test_a_corner_in_whole_numbers_is_one_to_the_last_bit(quantile, alpha, coef):
    X, y = np.array([[0.0], [1.0], [1.0]]), np.array([1.0, 2.0, 11.0])
    model = tw.QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y)
    assert model.coef_.tolist() == [coef]
