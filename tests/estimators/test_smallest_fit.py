"""Fits of dependent columns end at the smallest coefficients, whichever method ran."""

import numpy as np
import pytest

import thalweg as tw


@pytest.mark.parametrize("method", ["auto", "lbfgs", "newton-cg", "cholesky"])
@pytest.mark.parametrize("make", [tw.LinearRegression, lambda **o: tw.Ridge(alpha=0.0, **o)])
def test_what_two_equal_columns_share_is_halved(make, method):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(40)
    X = np.column_stack([x, x, rng.standard_normal(40)])
    model = make(method=method, tol=1e-10).fit(X, 2.0 * x + 0.1 * rng.standard_normal(40))
    assert model.coef_[0] == pytest.approx(model.coef_[1], abs=1e-6)
    assert model.coef_[0] + model.coef_[1] == pytest.approx(2.0, abs=0.1)


def test_the_method_that_was_asked_for_ends_at_the_smallest_of_the_closed_form():
    X = np.random.default_rng(0).standard_normal((6, 9))
    y = np.arange(6.0)
    for method in ("newton-cg", "lbfgs"):
        model = tw.Ridge(0.0, method=method, fit_intercept=False).fit(X, y)
        assert model.method_ == method
        assert model.certificate_.holds
        np.testing.assert_allclose(model.coef_, np.linalg.pinv(X) @ y, rtol=1e-10)
