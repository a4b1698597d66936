"""Gamma regression where the answer is known."""

import numpy as np
import pytest

import thalweg as tw


def test_two_groups_have_their_means():
    model = tw.GammaRegressor(alpha=0.0, tol=1e-12).fit([[0.0], [0.0], [1.0], [1.0]], [1, 3, 6, 10])
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [2.0, 8.0], rtol=1e-6)


def test_the_mean_of_ratios_is_one():
    # The slope in the intercept: Σ(1 − y/μ) = 0.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.gamma(2.0, 1.0, 60)
    model = tw.GammaRegressor(alpha=0.3, tol=1e-12).fit(X, y)
    assert np.mean(y / model.predict(X)) == pytest.approx(1.0, rel=1e-6)


def test_zeros_are_refused():
    with pytest.raises(tw.InputError, match=r"y must be positive for the gamma loss, got 0\.0"):
        tw.GammaRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
