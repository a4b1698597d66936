"""Tweedie regression: the kinds that others are, and those that are refused."""

import numpy as np
import pytest

import thalweg as tw


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    return X, rng.gamma(2.0, np.exp(0.3 * X[:, 0]))


def test_power_zero_is_ridge():
    X, y = data()
    model = tw.TweedieRegressor(alpha=0.5, tol=1e-12).fit(X, y)
    ridge = tw.Ridge(alpha=0.5 * len(y), tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), rtol=1e-6)


@pytest.mark.parametrize(("power", "other"), [(1, tw.PoissonRegressor), (2, tw.GammaRegressor)])
def test_powers_one_and_two_are_poisson_and_gamma(power, other):
    X, y = data()
    model = tw.TweedieRegressor(power=power, alpha=0.1).fit(X, y)
    np.testing.assert_array_equal(model.coef_, other(alpha=0.1).fit(X, y).coef_)


@pytest.mark.parametrize(("near", "other"), [(1.0 + 1e-9, 1), (2.0 - 1e-9, 2)])
def test_powers_between_lead_to_them(near, other):
    X, y = data()
    found, limit = (
        tw.TweedieRegressor(power=power, alpha=0.1, tol=1e-10).fit(X, y) for power in (near, other)
    )
    np.testing.assert_allclose(found.coef_, limit.coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"power": 3}, "power must not be 3 here: with a log link it is not convex; use 1 to 2"),
        ({"power": 0.5}, "power must not be 0.5 here"),
        ({"power": -1}, "power must not be -1 here"),
        ({"power": 0, "link": "log"}, "link must not be 'log' here: with power=0 it is not convex"),
        ({"power": 1.5, "link": "identity"}, "link must not be 'identity' here"),
    ],
)
def test_what_is_not_convex_is_refused(options, says):
    with pytest.raises(tw.InputError, match=says):
        tw.TweedieRegressor(**options).fit(*data())
