"""What every transformer of data promises: scikit-learn's contract, and ours beside it."""

import pickle

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils._testing import SkipTest
from sklearn.utils.estimator_checks import parametrize_with_checks

import thalweg as tw

ALL = [
    tw.scaling.MinMaxScaler(),
    tw.scaling.MinMaxScaler((-1, 0), clip=True),
    tw.scaling.MeanScaler(),
    tw.scaling.MeanScaler(center=False),
    tw.scaling.ZScore(),
    tw.scaling.ZScore(center=False),
    tw.scaling.LogScaler(),
    tw.scaling.Whitening("pca"),
    tw.scaling.Whitening("zca", eps=1e-3),
    tw.scaling.ImageScaler(),
    tw.scaling.ImageScaler(tw.scaling.MinMaxScaler()),
]
all_of_them = pytest.mark.parametrize("scaler", ALL, ids=repr)
COLUMNS = [scaler for scaler in ALL if not isinstance(scaler, tw.scaling.ImageScaler)]


@pytest.fixture
def dispatch(monkeypatch):
    """Without it scikit-learn skips its check of array API input."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.mark.usefixtures("dispatch")
@parametrize_with_checks(ALL)
def test_scikit_learns_checks_pass_and_none_is_skipped(estimator, check):
    try:
        check(estimator)
    except SkipTest as skipped:
        pytest.fail(f"skipped: {skipped}")


def data(dtype=np.float64):
    X = load_breast_cancer().data.astype(dtype)
    return X[::2], X[1::2]


@all_of_them
def test_later_data_does_not_change_what_was_learnt(scaler):
    train, test = data()
    fitted = clone(scaler).fit(train)
    before = pickle.dumps(fitted)
    fitted.transform(test)
    assert pickle.dumps(fitted) == before
    together = np.vstack([train, test])
    np.testing.assert_allclose(
        fitted.transform(together)[len(train) :], fitted.transform(test), rtol=1e-12, atol=1e-12
    )


@all_of_them
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_inverse_brings_training_data_back_in_its_type(scaler, dtype):
    train, _ = data(dtype)
    fitted = clone(scaler).fit(train)
    Z = fitted.transform(train)
    back = fitted.inverse_transform(Z)
    assert Z.dtype == back.dtype == dtype
    spread = train.std(axis=0)
    # Small directions of whitened data carry the rounding of large ones.
    limit = 1e-3 if dtype == np.float32 else 1e-8
    assert (np.abs(back - train) / spread).max() < limit


@all_of_them
def test_input_is_never_written_to_and_any_order_gives_the_same(scaler):
    train, _ = data()
    kept = train.copy()
    C = clone(scaler).fit_transform(train)
    train.flags.writeable = False
    F = clone(scaler).fit_transform(np.asfortranarray(train))
    doubled = np.repeat(train, 2, axis=1)[:, ::2]  # not contiguous
    np.testing.assert_allclose(clone(scaler).fit_transform(doubled), C, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(F, C, rtol=1e-9, atol=1e-9)
    assert np.array_equal(train, kept)


@all_of_them
def test_constant_columns_are_safe(scaler):
    X = np.random.default_rng(0).random((30, 3))
    X[:, 1] = 0.1  # its mean over 30 rows is not 0.1 in floating point
    Z = clone(scaler).fit_transform(X)
    assert np.isfinite(Z).all()
    if not isinstance(scaler, tw.scaling.Whitening):
        assert np.ptp(Z[:, 1]) == 0.0


@all_of_them
def test_what_is_not_finite_is_named_by_its_place(scaler):
    X = np.random.default_rng(0).random((5, 3))
    fitted = clone(scaler).fit(X)
    X[3, 2] = np.nan
    for call in (clone(scaler).fit, fitted.transform, fitted.inverse_transform):
        with pytest.raises(tw.InputError, match="got nan in row 3, column 2"):
            call(X)


@pytest.mark.parametrize("scaler", COLUMNS, ids=repr)
def test_names_of_features_go_through(scaler):
    X = pandas.DataFrame(np.random.default_rng(0).random((20, 2)), columns=["age", "height"])
    fitted = clone(scaler).set_output(transform="pandas").fit(X)
    names = list(fitted.get_feature_names_out())
    assert list(fitted.transform(X).columns) == names
    assert names == (["pca0", "pca1"] if getattr(scaler, "kind", "") == "pca" else list(X.columns))


@pytest.mark.parametrize(
    "scaler",
    [
        tw.scaling.MinMaxScaler(),
        tw.scaling.MeanScaler(center=False),
        tw.scaling.ZScore(center=False),
        tw.scaling.LogScaler(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csc_matrix])
def test_sparse_equals_dense(scaler, kind):
    X = scipy.sparse.random_array((200, 6), density=0.2, rng=0).toarray() ** 4
    dense = clone(scaler).fit(X)
    sparse = clone(scaler).fit(kind(X))
    Z = sparse.transform(kind(X))
    assert scipy.sparse.issparse(Z)
    assert Z.nnz == np.count_nonzero(X)
    np.testing.assert_allclose(Z.toarray(), dense.transform(X), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(sparse.inverse_transform(Z).toarray(), X, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "scaler",
    [
        tw.scaling.MinMaxScaler((-1, 1)),
        tw.scaling.MeanScaler(),
        tw.scaling.ZScore(),
        tw.scaling.Whitening(),
    ],
    ids=repr,
)
def test_what_would_fill_the_zeros_is_refused(scaler):
    X = scipy.sparse.random_array((20, 3), density=0.5, rng=0, format="csr")
    with pytest.raises(tw.InputError, match=r"X must be dense .* got a sparse matrix"):
        clone(scaler).fit(X)
    fitted = clone(scaler).fit(X.toarray())
    with pytest.raises(tw.InputError, match=r"X must be dense .* got a sparse matrix"):
        fitted.transform(X)


def test_scalers_stand_in_a_pipeline_before_an_estimator():
    X, y = load_breast_cancer(return_X_y=True)
    steps = tw.scaling.LogScaler(), tw.scaling.ZScore(), LogisticRegression()
    model = make_pipeline(*steps).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.95
