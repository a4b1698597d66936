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
from sklearn.utils import compute_class_weight
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
    if isinstance(theirs, sklearn.svm.LinearSVC):
        lead_to_optimum(theirs, X, y, np.ones(n) if weights is None else weights)


def lead_to_optimum(theirs, X, y, weights):
    """Newton steps from liblinear's answer on its objective, until they stop; in place.

        C Σᵢ sᵢ max(0, 1 − yᵢzᵢ)² + ½‖w‖²,    z = [X 1] w

    liblinear's line search ends in the rounding of this sum. Where features differ in size by 10⁵,
    its coefficients are then good to three digits or to six, by how BLAS adds on that CPU.
    """
    A = X.toarray() if scipy.sparse.issparse(X) else X.astype(np.float64)
    A = np.column_stack([A, np.ones(len(y))]) if theirs.fit_intercept else A
    of_class = compute_class_weight(
        theirs.class_weight, classes=theirs.classes_, y=y, sample_weight=weights
    )
    W = theirs.coef_.copy()
    W = np.column_stack([W, theirs.intercept_]) if theirs.fit_intercept else W
    are_two = len(W) == 1
    for k, w in enumerate(W):
        one = 1 if are_two else k
        is_one = y == theirs.classes_[one]
        of_rest = of_class[0] if are_two else 1.0  # as liblinear has it
        problem = (
            A,
            np.where(is_one, 1.0, -1.0),
            theirs.C * weights * np.where(is_one, of_class[one], of_rest),
        )
        given = svc_value(w, *problem)
        for _ in range(100):
            step = svc_newton_step(w, *problem)
            w -= step
            if np.max(np.abs(step)) <= 1e-9 * np.max(np.abs(w)):
                break
        else:
            pytest.fail("Newton's steps did not end")
        # What liblinear solved was this very objective.
        assert given - svc_value(w, *problem) <= 1e-9 * svc_value(np.zeros_like(w), *problem)
    theirs.coef_ = W[:, : X.shape[1]].copy()
    if theirs.fit_intercept:
        theirs.intercept_ = W[:, -1].copy()


def svc_value(w, A, signs, scale):
    lost = np.maximum(1.0 - signs * (A @ w), 0.0)
    return scale @ lost**2 + w @ w / 2


def svc_newton_step(w, A, signs, scale):
    lost = np.maximum(1.0 - signs * (A @ w), 0.0)
    gradient = w - 2 * A.T @ (scale * signs * lost)
    hessian = np.eye(len(w)) + 2 * A.T @ ((scale * (lost > 0))[:, None] * A)
    return np.linalg.solve(hessian, gradient)


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
    assert_close(ours.intercept_, np.float64(theirs.intercept_))
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
    assert_close(ours.intercept_, np.float64(theirs.intercept_))
    assert_close(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(theirs, "predict_proba"):
        assert_close(ours.predict_proba(X), theirs.predict_proba(X))
        assert_close(ours.predict_log_proba(X), theirs.predict_log_proba(X))
