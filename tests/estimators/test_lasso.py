"""The lasso: a soft threshold by hand, nothing but l1, and where all coefficients are zero."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import thalweg as tw


def test_one_feature_by_hand():
    # Centred: w = max(x·y/n − alpha, 0)/(x·x/n) = (2/3 − ½)/(2/3).
    model = tw.Lasso(alpha=0.5, tol=1e-12).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    np.testing.assert_allclose(model.coef_, [0.25], atol=1e-6)
    assert model.intercept_ == pytest.approx(0.75, abs=1e-6)


def test_it_is_the_elastic_net_with_nothing_but_l1():
    X, y = load_diabetes(return_X_y=True)
    lasso = tw.Lasso(alpha=0.3, method="cd").fit(X, y)
    net = tw.ElasticNet(alpha=0.3, l1_ratio=1.0, method="cd").fit(X, y)
    np.testing.assert_array_equal(lasso.coef_, net.coef_)
    assert "l1_ratio" not in lasso.get_params()


def test_the_strongest_useful_penalty_is_the_largest_slope_at_zero():
    X, y = load_diabetes(return_X_y=True)
    largest = np.max(np.abs((X - X.mean(axis=0)).T @ (y - y.mean()))) / len(y)
    above = tw.Lasso(alpha=1.001 * largest, method="cd").fit(X, y)
    below = tw.Lasso(alpha=0.99 * largest, method="cd").fit(X, y)
    assert not above.coef_.any()
    assert np.count_nonzero(below.coef_) == 1
