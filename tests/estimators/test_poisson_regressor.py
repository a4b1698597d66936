"""Poisson regression where the answer is known."""

import numpy as np
import pytest

import thalweg as tw


def test_two_groups_have_the_means_of_their_counts():
    # Counts 1 and 3 in one group, 6 and 10 in the other: means 2 and 8, w = log 4.
    model = tw.PoissonRegressor(alpha=0.0, tol=1e-12).fit(
        [[0.0], [0.0], [1.0], [1.0]], [1, 3, 6, 10]
    )
    assert model.coef_[0] == pytest.approx(np.log(4.0), rel=1e-6)
    assert model.intercept_ == pytest.approx(np.log(2.0), rel=1e-6)


def test_an_exposure_makes_rates_of_counts():
    # 4 in 2 years and 2 in 1, 6 in 1 and 18 in 3: rates 2 and 6.
    X, years = [[0.0], [0.0], [1.0], [1.0]], np.array([2.0, 1.0, 1.0, 3.0])
    model = tw.PoissonRegressor(alpha=0.0, tol=1e-12).fit(X, [4, 2, 6, 18], offset=np.log(years))
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [2.0, 6.0], rtol=1e-6)


def test_the_sum_of_means_is_that_of_the_counts():
    # The slope in the intercept is zero: what every Poisson model with one has.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.poisson(3.0, 60)
    model = tw.PoissonRegressor(alpha=0.3, tol=1e-12).fit(X, y)
    assert model.predict(X).sum() == pytest.approx(y.sum(), rel=1e-6)
