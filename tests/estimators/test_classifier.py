import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
import sklearn.svm
from sklearn.datasets import load_iris

import thalweg as tw

X, Y = load_iris(return_X_y=True)
PAIRS = [
    (tw.LogisticRegression, sklearn.linear_model.LogisticRegression),
    (tw.LinearSVC, sklearn.svm.LinearSVC),
]
both = pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=["logistic", "svc"])


@both
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_those_that_scikit_learn_makes_of_the_same_coefficients(ours, theirs, classes):
    rows = classes * 50 >= np.arange(1, 151)
    fitted = ours().fit(X[rows], Y[rows])
    same = theirs()
    for name in ("coef_", "intercept_", "classes_", "n_features_in_"):
        setattr(same, name, getattr(fitted, name))
    for data in (X, scipy.sparse.csr_array(X)):
        found, expected = fitted.decision_function(data), same.decision_function(data)
        assert found.shape == expected.shape == ((150,) if classes == 2 else (150, 3))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(X).max())
        assert fitted.predict(data).tolist() == same.predict(data).tolist()


@both
def test_a_sparse_model_says_the_same(ours, theirs):
    fitted = ours().fit(X, Y)
    dense = fitted.decision_function(X)
    assert fitted.sparsify().decision_function(X).tobytes() == dense.tobytes()
    assert fitted.densify().decision_function(X).tobytes() == dense.tobytes()


@both
def test_sparse_input_is_announced(ours, theirs):
    assert ours().__sklearn_tags__().input_tags.sparse
    assert ours().__sklearn_tags__().estimator_type == "classifier"
