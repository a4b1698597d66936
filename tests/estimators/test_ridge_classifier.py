"""Ridge regression of labels, against its definition and scikit-learn."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from sklearn.datasets import load_iris

import thalweg as tw


def data(classes=3):
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[np.minimum(y, classes - 1)]


def test_two_classes_are_targets_of_plus_and_minus_one():
    X, y = data(2)
    model = tw.RidgeClassifier(alpha=0.3, tol=1e-12).fit(X, y)
    ridge = tw.Ridge(alpha=0.3, tol=1e-12).fit(X, np.where(y == "versicolor", 1.0, -1.0))
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X) == "versicolor", ridge.predict(X) > 0.0)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"setosa": 3.0, "versicolor": 0.5}])
@pytest.mark.parametrize("solver", ["auto", "svd", "sparse_cg"])
def test_coefficients_are_scikit_learns(classes, fit_intercept, class_weight, solver):
    X, y = data(classes)
    s = np.random.default_rng(0).uniform(0.1, 2.0, len(y))
    options = {"alpha": 0.7, "fit_intercept": fit_intercept, "class_weight": class_weight}
    mine = tw.RidgeClassifier(**options, solver=solver, tol=1e-10).fit(X, y, s)
    theirs = sklearn.linear_model.RidgeClassifier(**options, solver="cholesky").fit(X, y, s)
    assert mine.coef_.shape == theirs.coef_.shape
    assert np.shape(mine.intercept_) == np.shape(theirs.intercept_)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(mine.predict(X), theirs.predict(X))


def test_several_labels_at_once_are_a_problem_each():
    X, _ = data()
    labels = np.column_stack([X[:, 0] > 5.8, X[:, 2] > 4.0, X[:, 1] > 3.0]).astype(int)
    model = tw.RidgeClassifier(tol=1e-12).fit(X, labels)
    for k in range(3):
        alone = tw.Ridge(tol=1e-12).fit(X, 2.0 * labels[:, k] - 1.0)
        np.testing.assert_allclose(model.coef_[k], alone.coef_, rtol=1e-6)
        np.testing.assert_array_equal(model.predict(X)[:, k], alone.predict(X) > 0.0)


def test_sparse_rows_fit_alike():
    X, y = data()
    X = np.where(X < 1.0, 0.0, X)
    dense = tw.RidgeClassifier(tol=1e-12).fit(X, y).coef_
    sparse = tw.RidgeClassifier(tol=1e-12).fit(scipy.sparse.csr_array(X), y).coef_
    np.testing.assert_allclose(sparse, dense, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"positive": True, "solver": "svd"}, "does not support positive fitting"),
        ({"solver": "lbfgs"}, "solver must not be 'lbfgs' here: it is for positive=True"),
    ],
)
def test_what_cannot_be_honoured_is_refused(options, says):
    with pytest.raises(tw.InputError, match=says):
        tw.RidgeClassifier(**options).fit(*data())
