"""ElasticNetCV: errors of every fold by hand, its grid, and the choice among l1_ratios."""

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import thalweg as tw


def data(n=60, p=8):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) + 1.0
    return X, X[:, :3] @ [1.0, -2.0, 0.5] + rng.standard_normal(n)


@pytest.mark.parametrize("shape", [(60, 8), (30, 70)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_errors_of_folds_are_those_of_fits_of_their_own(shape, fit_intercept):
    X, y = data(*shape)
    s = np.random.default_rng(1).random(len(y)) + 0.5
    alphas, ratios = [0.5, 0.1, 0.02], [0.3, 1.0]
    model = tw.ElasticNetCV(
        l1_ratio=ratios, alphas=alphas, cv=KFold(3), tol=1e-11, fit_intercept=fit_intercept
    ).fit(X, y, s)
    slow = np.empty((2, 3, 3))
    for f, (train, test) in enumerate(KFold(3).split(X)):
        for r, ratio in enumerate(ratios):
            for k, alpha in enumerate(alphas):
                one = tw.ElasticNet(alpha, l1_ratio=ratio, tol=1e-11, fit_intercept=fit_intercept)
                error = one.fit(X[train], y[train], s[train]).predict(X[test]) - y[test]
                slow[r, k, f] = np.average(error**2, weights=s[test])
    np.testing.assert_allclose(model.mse_path_, slow, rtol=1e-4)
    r, k = np.unravel_index(np.argmin(slow.mean(axis=2)), (2, 3))
    assert (model.l1_ratio_, model.alpha_) == (ratios[r], alphas[k])
    assert model.choice_.score == pytest.approx(-slow.mean(axis=2).min(), rel=1e-4)
    assert model.choice_.error == pytest.approx(slow[r, k].std(ddof=1) / 3**0.5, rel=1e-3)
    one = tw.ElasticNet(alphas[k], l1_ratio=ratios[r], tol=1e-11, fit_intercept=fit_intercept)
    np.testing.assert_allclose(model.coef_, one.fit(X, y, s).coef_, rtol=1e-4, atol=1e-5)


def test_the_grid_begins_where_the_first_coefficient_does():
    X, y = data()
    model = tw.ElasticNetCV(l1_ratio=[0.5, 1.0], alphas=7, eps=0.01).fit(X, y)
    top = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    np.testing.assert_allclose(model.alphas_[:, 0], [2 * top, top], rtol=1e-8)
    np.testing.assert_allclose(model.alphas_[:, -1], [0.02 * top, 0.01 * top], rtol=1e-8)
    assert not tw.ElasticNet(model.alphas_[0, 0], l1_ratio=0.5).fit(X, y).coef_.any()


def test_a_grid_without_l1_has_to_be_given():
    X, y = data()
    with pytest.raises(tw.InputError, match=r"give alphas=\[10.0, 1.0, 0.1\]"):
        tw.ElasticNetCV(l1_ratio=0.0).fit(X, y)
    model = tw.ElasticNetCV(l1_ratio=0.0, alphas=[0.1, 10.0, 1.0]).fit(X, y)
    assert model.alphas_.tolist() == [10.0, 1.0, 0.1]
    ridge = tw.Ridge(model.alpha_ * len(y)).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-3)


def test_a_target_that_nothing_explains_has_no_coefficients():
    X, _ = data()
    model = tw.ElasticNetCV().fit(X, np.full(60, 3.0))
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(3.0)


def test_fits_that_do_not_arrive_are_told():
    X, y = data(30, 70)
    X[:, 1] = X[:, 0] + 1e-9 * X[:, 2]
    with pytest.warns(ConvergenceWarning):
        tw.ElasticNetCV(alphas=3, eps=1e-6, tol=1e-16, max_iter=1).fit(X, y)


@pytest.mark.parametrize("shape", [(60, 6), (30, 50)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_positive_is_scikit_learns(shape, intercept, ratio):
    rng = np.random.default_rng(3)
    X = rng.standard_normal(shape) + 10.0 * intercept
    y = X[:, :4] @ [1.0, -1.0, 0.5, 0.3] + rng.standard_normal(shape[0])
    told = {"l1_ratio": ratio, "positive": True, "fit_intercept": intercept, "cv": 3, "alphas": 20}
    ours = tw.ElasticNetCV(**told, tol=1e-10).fit(X, y)
    theirs = sklearn.linear_model.ElasticNetCV(**told, tol=1e-13, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-6)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.coef_.min() >= 0.0
    assert np.all(ours.gaps_ <= 1e-10 * (y @ y))
    assert ours.certificate_.holds


def test_what_cannot_be_honoured_is_refused():
    X, y = data()
    for given in ({"selection": "random"}, {"precompute": X.T @ X}):
        with pytest.raises(tw.InputError, match="must not be"):
            tw.ElasticNetCV(**given).fit(X, y)
    with pytest.raises(ValueError, match="For multi-task outputs, use MultiTaskElasticNetCV"):
        tw.ElasticNetCV().fit(X, np.column_stack([y, y]))
