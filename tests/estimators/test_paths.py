"""Paths as arrays: scikit-learn's shapes, and at every point the fit of its own."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import thalweg as tw


def data(n=50, p=6):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return X, X[:, :3] @ [1.0, -2.0, 0.5] + rng.standard_normal(n)


@pytest.mark.parametrize("shape", [(50, 6), (20, 60)])
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_the_elastic_nets_path_is_scikit_learns(shape, storage):
    X, y = data(*shape)
    ours = tw.enet_path(storage(X), y, l1_ratio=0.7, alphas=8, eps=0.01, tol=1e-11)
    theirs = sklearn.linear_model.enet_path(
        X, y, l1_ratio=0.7, alphas=8, eps=0.01, tol=1e-11, max_iter=100_000
    )
    for mine, other, near in zip(ours, theirs, (1e-8, 1e-4, None), strict=True):
        assert mine.shape == other.shape
        if near is not None:
            np.testing.assert_allclose(mine, other, rtol=near, atol=1e-5)
    assert ours[2].max() <= 1e-11 * 0.5 * np.mean(y**2)


def test_the_lassos_path_takes_alphas_in_any_order_and_counts_iterations():
    X, y = data()
    alphas, coefs, gaps, iterations = tw.lasso_path(X, y, alphas=[0.01, 1.0], return_n_iter=True)
    assert alphas.tolist() == [1.0, 0.01]
    for k, alpha in enumerate(alphas):
        alone = tw.Lasso(alpha, fit_intercept=False, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(coefs[:, k], alone.coef_, atol=1e-2)
    assert len(iterations) == len(gaps) == 2


def test_weights_are_repeated_rows():
    X, y = data()
    s = np.random.default_rng(1).integers(1, 4, 50)
    weighted = tw.lasso_path(X, y, alphas=5, sample_weight=s, tol=1e-10)
    repeated = tw.lasso_path(np.repeat(X, s, axis=0), np.repeat(y, s), alphas=5, tol=1e-10)
    for one, other in zip(weighted[:2], repeated[:2], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_points_of_the_logistic_path_are_fits_of_their_own(load, fit_intercept):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    coefs, Cs, iterations = tw.logistic_path(
        X, y, Cs=[1.0, 0.01], fit_intercept=fit_intercept, tol=1e-10
    )
    assert Cs.tolist() == [0.01, 1.0]
    assert iterations.shape == (2,)
    for k, C in enumerate(Cs):
        alone = tw.LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-10).fit(X, y)
        slow = np.column_stack([alone.coef_, alone.intercept_])[:, : coefs.shape[-1]]
        np.testing.assert_allclose(np.atleast_2d(coefs[k]), slow, rtol=1e-3, atol=1e-3)


def test_a_point_that_does_not_arrive_is_told():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="1 of 1 points of the path did not reach tol"):
        tw.logistic_path(X, y, Cs=[1e4], max_iter=1)


@pytest.mark.parametrize("shape", [(60, 8), (20, 40)])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_positive_path_is_scikit_learns(shape, sparse):
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.5)
    y = X[:, :3] @ [1.0, -1.0, 0.5] + 0.3 * rng.standard_normal(shape[0])
    stored = scipy.sparse.csc_array(X) if sparse else X
    for ratio in (1.0, 0.5):
        told = {"l1_ratio": ratio, "positive": True, "alphas": 15}
        alphas, coefs, gaps = tw.enet_path(stored, y, **told, tol=1e-10)
        theirs = sklearn.linear_model.enet_path(X, y, **told, tol=1e-10, max_iter=100_000)
        np.testing.assert_allclose(alphas, theirs[0], rtol=1e-6)
        np.testing.assert_allclose(coefs, theirs[1], atol=1e-5)
        assert coefs.min() >= 0.0
        assert np.all(gaps <= 1e-10 * (y @ y))


def test_what_cannot_be_asked_is_refused():
    X, y = data()
    with pytest.raises(tw.InputError, match="got 'alpha': leave it out"):
        tw.enet_path(X, y, alpha=1.0)
    with pytest.raises(tw.InputError, match="use enet_path"):
        tw.lasso_path(X, y, l1_ratio=0.5)
    with pytest.raises(tw.InputError, match=r"give alphas=\[1.0\]"):
        tw.enet_path(X, y, l1_ratio=0.0)
    with pytest.raises(tw.InputError, match="at least two classes"):
        tw.logistic_path(X, np.ones(50, dtype=int))
