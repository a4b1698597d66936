"""Changing the import changes no number: every estimator beside scikit-learn's on twelve datasets.

Both are asked for much more than their defaults, so that what is compared is the optimum of the
same model; each estimator with and without an intercept, weights of samples, weights of classes.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
import sklearn.svm
from sklearn import datasets
from threadpoolctl import threadpool_limits

import thalweg as tw


def halves(y):
    return (y > np.median(y)).astype(int)


def iris():
    X, y = datasets.load_iris(return_X_y=True)
    return X, y, y.astype(float)


def wine():
    X, y = datasets.load_wine(return_X_y=True)
    return X, y, y.astype(float)


def breast_cancer():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return X, y, X[:, 0] * y


def digits():
    X, y = datasets.load_digits(n_class=5, return_X_y=True)
    return X[:150] / 16, y[:150], y[:150].astype(float)


def diabetes():
    X, y = datasets.load_diabetes(return_X_y=True)
    return X, np.digitize(y, [100, 180]), y


def linnerud():
    X, Y = datasets.load_linnerud(return_X_y=True)
    return X, halves(Y[:, 0]), Y


def overlapping():
    X, y = datasets.make_classification(200, 20, flip_y=0.1, random_state=0)
    return X, y, y + X[:, 0]


def wide():
    X, y = datasets.make_classification(50, 120, random_state=1)
    return X, y, y + X[:, 0]


def blobs():
    X, y = datasets.make_blobs(120, 5, centers=4, cluster_std=4.0, random_state=0)
    return X, y, y - 0.5 * X[:, 1]


def scales():
    X, y = datasets.make_regression(150, 12, noise=10, random_state=0)
    return X * np.logspace(-2, 2, 12), halves(y), y


def sparse():
    X, y = datasets.make_regression(100, 30, noise=5, random_state=2)
    X[np.abs(X) < 0.8] = 0
    return scipy.sparse.csr_array(X), halves(y), y


def single():
    X, Y = datasets.make_regression(120, 10, n_targets=3, noise=3, random_state=3)
    return X.astype(np.float32), np.digitize(Y[:, 0], [-50, 50]), Y


DATASETS = (
    iris, wine, breast_cancer, digits, diabetes, linnerud,
    overlapping, wide, blobs, scales, sparse, single,
)  # fmt: skip


def ridge(fit_intercept, X, y):
    solver = "sparse_cg" if scipy.sparse.issparse(X) else "svd"
    shared = {"alpha": 2.0, "fit_intercept": fit_intercept}
    return (
        tw.Ridge(tol=1e-12, method="cholesky", **shared),
        sklearn.linear_model.Ridge(tol=1e-13, solver=solver, **shared),
    )


def lasso(fit_intercept, X, y):
    return sparse_regressions("Lasso", X, y, fit_intercept=fit_intercept)


def elastic_net(fit_intercept, X, y):
    return sparse_regressions("ElasticNet", X, y, fit_intercept=fit_intercept, l1_ratio=0.7)


def sparse_regressions(name, X, y, **shared):
    """Ours and theirs, at a twentieth of the penalty that leaves no coefficient."""
    shared["alpha"] = 0.05 * float(np.max(np.abs(X.T @ (y - y.mean(axis=0))))) / len(y)
    tol, most = (1e-14, 10**6) if X.dtype == np.float64 else (1e-9, 2_000)
    theirs = getattr(sklearn.linear_model, name)
    return (
        getattr(tw, name)(tol=1e-12, method="cd", **shared),
        theirs(tol=tol, max_iter=most, **shared),
    )


def logistic_regression(fit_intercept, class_weight):
    shared = {"C": 0.5, "fit_intercept": fit_intercept, "class_weight": class_weight}
    return (
        tw.LogisticRegression(tol=1e-12, method="newton", **shared),
        sklearn.linear_model.LogisticRegression(tol=1e-11, solver="newton-cholesky", **shared),
    )


def linear_svc(fit_intercept, class_weight):
    shared = {"C": 0.5, "fit_intercept": fit_intercept, "class_weight": class_weight}
    return (
        tw.LinearSVC(tol=1e-12, method="newton", **shared),
        sklearn.svm.LinearSVC(tol=1e-12, dual=False, max_iter=10**5, **shared),
    )


with_intercept = pytest.mark.parametrize("fit_intercept", [True, False], ids=["b", "no b"])
with_weights = pytest.mark.parametrize("is_weighted", [False, True], ids=["", "weights"])
on_all = pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.__name__)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small matrices gain nothing by more, and lose much beside other tests."""
    with threadpool_limits(1):
        yield


def fit_both(ours, theirs, X, y, is_weighted):
    n = X.shape[0]
    weights = np.random.default_rng(0).integers(0, 4, n).astype(float) if is_weighted else None
    ours.fit(X, y, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs warns where its line search ends in rounding
        theirs.fit(X, y, sample_weight=weights)


def assert_close(ours, theirs):
    assert np.shape(ours) == np.shape(theirs)
    assert np.asarray(ours).dtype == np.asarray(theirs).dtype
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4 * np.max(np.abs(theirs)))


@on_all
@with_intercept
@with_weights
@pytest.mark.parametrize("pair", [ridge, lasso, elastic_net], ids=lambda pair: pair.__name__)
def test_regressors_equal_scikit_learns(dataset, pair, fit_intercept, is_weighted):
    X, _, y = dataset()
    ours, theirs = pair(fit_intercept, X, y)
    fit_both(ours, theirs, X, y, is_weighted)
    assert_close(ours.coef_, theirs.coef_)
    assert_close(ours.intercept_, theirs.intercept_)
    assert_close(ours.predict(X), theirs.predict(X))


@on_all
@with_intercept
@with_weights
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("pair", [logistic_regression, linear_svc], ids=lambda pair: pair.__name__)
def test_classifiers_equal_scikit_learns(dataset, pair, fit_intercept, is_weighted, class_weight):
    X, y, _ = dataset()
    ours, theirs = pair(fit_intercept, class_weight)
    fit_both(ours, theirs, X, y, is_weighted)
    assert_close(ours.coef_, theirs.coef_)
    assert_close(ours.intercept_, theirs.intercept_)
    assert_close(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(theirs, "predict_proba"):
        assert_close(ours.predict_proba(X), theirs.predict_proba(X))
        assert_close(ours.predict_log_proba(X), theirs.predict_log_proba(X))
