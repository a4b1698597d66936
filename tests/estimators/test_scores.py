import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from sklearn.exceptions import NotFittedError

import thalweg as tw
from thalweg.estimators.scores import checked_scores

X = np.array([[1.0, 2.0], [0.0, -1.0], [4.0, 0.5]])
FORMATS = ("csr", "csc", "coo")


def fitted(dtype=np.float64, outputs=1):
    model = tw.Ridge()
    model.coef_ = np.array([[3.0, 0.5], [1.0, -2.0]], dtype)[:outputs]
    model.intercept_ = np.array([10.0, 0.25], dtype)[:outputs]
    model.n_features_in_ = 2
    return model


def test_by_hand():
    assert checked_scores(fitted(), X, FORMATS).tolist() == [[14.0], [9.5], [22.25]]
    both = [[14.0, -2.75], [9.5, 2.25], [22.25, 3.25]]
    assert checked_scores(fitted(outputs=2), X, FORMATS).tolist() == both
    one = fitted()
    one.coef_ = one.coef_[0]
    assert checked_scores(one, X, FORMATS).tolist() == [14.0, 9.5, 22.25]


@pytest.mark.parametrize("kind", [*FORMATS, "lil", "dense"])
def test_any_storage_says_the_same(kind):
    rows = X if kind == "dense" else scipy.sparse.coo_array(X).asformat(kind)
    expected = checked_scores(fitted(outputs=2), X, FORMATS)
    assert checked_scores(fitted(outputs=2), rows, FORMATS).tolist() == expected.tolist()
    sparse = fitted(outputs=2)
    sparse.coef_ = scipy.sparse.csr_array(sparse.coef_)  # as sparsify() leaves it
    assert checked_scores(sparse, rows, FORMATS).tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("of_rows", [np.float16, np.float32, np.float64, np.int8, np.int64])
def test_the_precision_is_that_of_a_product(dtype, of_rows):
    model, rows = fitted(dtype), X.astype(of_rows)
    assert checked_scores(model, rows, FORMATS).dtype == (rows @ model.coef_.T).dtype


BAD = {
    "more features": np.ones((2, 3)),
    "a NaN": np.array([[1.0, np.nan]]),
    "an infinity": np.array([[np.inf, 1.0]]),
    "one row": np.ones(2),
    "text": np.array([["a", "b"]]),
    "no row": np.ones((0, 2)),
    "a sparse NaN": scipy.sparse.csr_array([[np.nan, 1.0]]),
    "complex": np.ones((2, 2), complex),
}


@pytest.mark.parametrize("rows", BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_in_scikit_learns_words(rows):
    ours = fitted()
    theirs = sklearn.linear_model.Ridge()
    theirs.coef_, theirs.intercept_, theirs.n_features_in_ = ours.coef_, ours.intercept_, 2
    with pytest.raises(ValueError) as expected:
        theirs.predict(rows)
    with pytest.raises(ValueError) as found:
        checked_scores(ours, rows, FORMATS)
    assert str(found.value) == str(expected.value)


def test_nothing_is_said_before_the_fit():
    with pytest.raises(NotFittedError):
        checked_scores(tw.Ridge(), X, FORMATS)


def test_plain_rows_are_refused_as_others_are():
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = tw.Ridge().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.where(X > 1.0, np.nan, X))
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
