"""The shapes that scikit-learn gives coefficients and intercepts, for every shape of target."""

import numpy as np
import pytest
import sklearn.linear_model

import thalweg as tw


@pytest.mark.parametrize("name", ["Ridge", "Lasso", "ElasticNet"])
@pytest.mark.parametrize("shape", [(20,), (20, 1), (20, 2)], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_shapes_and_types_are_scikit_learns(name, shape, fit_intercept):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(shape)
    ours = getattr(tw, name)(alpha=0.1, fit_intercept=fit_intercept).fit(X, y)
    theirs = getattr(sklearn.linear_model, name)(alpha=0.1, fit_intercept=fit_intercept).fit(X, y)
    for fitted in ("coef_", "intercept_"):
        mine, other = getattr(ours, fitted), getattr(theirs, fitted)
        assert type(mine) is type(other)
        np.testing.assert_allclose(mine, other, rtol=1e-2, atol=1e-3)
    assert ours.predict(X).shape == theirs.predict(X).shape
    assert ours.coef_.flags.c_contiguous


def test_a_number_for_all_weights_is_no_weight():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    one, none = tw.Lasso(0.1).fit(X, y, sample_weight=2.0), tw.Lasso(0.1).fit(X, y)
    np.testing.assert_allclose(one.coef_, none.coef_, rtol=1e-12)
