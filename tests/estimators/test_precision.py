"""Coefficients in the precision of X."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

import thalweg as tw


def far_from_zero(n=2000):
    """Columns as pascals, kelvins and years are, in single precision; scores of size one."""
    rng = np.random.default_rng(0)
    X = rng.normal([1e5, 290.0, 2000.0, 0.0], [800.0, 5.0, 10.0, 1.0], (n, 4)).astype(np.float32)
    Z = (X - X.mean(axis=0, dtype=np.float64)) / X.std(axis=0, dtype=np.float64)
    score = Z @ [1.0, -1.0, 0.5, 0.5]
    return X, score + rng.normal(size=n)


def models():
    yield tw.Ridge(), lambda y: y
    yield tw.Ridge(method="newton-cg"), lambda y: y
    yield tw.LinearRegression(), lambda y: y
    yield tw.Lasso(alpha=1e-3), lambda y: y
    yield tw.ElasticNet(alpha=1e-3), lambda y: y
    yield tw.RidgeCV(), lambda y: y
    yield tw.LogisticRegression(), lambda y: y > 0.0
    yield tw.LogisticRegression(), lambda y: np.digitize(y, [-1.0, 1.0])
    yield tw.PoissonRegressor(alpha=1e-3), lambda y: np.exp(np.minimum(0.3 * y, 3.0)).round()


def scores_of(model, X):
    """In double, of the coefficients as they are kept."""
    return np.asarray(X, np.float64) @ np.float64(model.coef_.T) + np.float64(model.intercept_)


@pytest.mark.parametrize(("model", "target"), list(models()))
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_rounding_of_coefficients_moves_no_score(model, target, storage):
    X, y = far_from_zero()
    single = model.fit(storage(X), target(y))
    kept = scores_of(single, X)
    assert single.coef_.dtype == np.float32
    assert single.intercept_.dtype == np.float64
    double = model.fit(storage(X.astype(np.float64)), target(y))
    assert double.coef_.dtype == np.float64
    np.testing.assert_allclose(kept, scores_of(double, X), atol=2e-6)


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_what_is_proved_is_proved_of_what_is_kept(storage):
    X, y = far_from_zero()
    model = tw.LogisticRegression(C=0.1).fit(storage(X), y > 0.0)
    run, l2 = model.runs_[0], 1.0 / (0.1 * len(y))
    w = np.append(model.coef_, model.intercept_)
    assert np.array_equal(run.w, w)
    z = scores_of(model, X)[:, 0]
    value = np.logaddexp(0.0, np.where(y > 0.0, -z, z)).mean()
    value += l2 / 2.0 * np.square(w[:-1]).sum()
    assert run.value == pytest.approx(value, rel=1e-12)
    problem = tw.LinearProblem(X.astype(np.float64), y > 0.0, "logistic", l2=l2)
    best = tw.minimize(problem, "newton", tol=1e-15, progress=False)
    assert value - best.value <= model.certificate_.gap <= 1e-6 * np.log(2.0)


def test_single_precision_that_is_not_enough_is_told():
    """Two columns that are nearly one: a difference of 1e7 times each is what fits."""
    rng = np.random.default_rng(1)
    a, d = rng.normal(size=(2, 500))
    X = np.column_stack([a, a + 1e-5 * d]).astype(np.float32)
    # What is left of their difference is fitted with weights near 1e7, and those are rounded.
    y = 100.0 * (X[:, 1].astype(np.float64) - X[:, 0]) / 1e-5 + 100.0 * rng.normal(size=500)
    model = tw.Ridge(alpha=1e-20, tol=1e-13)
    with pytest.warns(ConvergenceWarning, match=r"float32, as X is.*X\.astype\('float64'\)"):
        model.fit(X, y)
    assert not model.certificate_.holds
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.fit(X.astype("float64"), y).certificate_.holds


def test_scores_are_in_the_precision_of_rows_and_coefficients():
    X, y = far_from_zero()
    model = tw.Ridge().fit(X, y)
    assert model.predict(X).dtype == np.float32
    assert model.predict(X.astype(np.float64)).dtype == np.float64
