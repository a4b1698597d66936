import numpy as np
import pytest
from sklearn.decomposition import PCA

import thalweg as tw

rng = np.random.default_rng(0)
MIX = np.array([[3.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 0.1]])
X = rng.normal(size=(400, 3)) @ MIX.T + [5.0, -2.0, 100.0]
kinds = pytest.mark.parametrize("kind", ["pca", "zca"])


def test_by_hand():
    # Axes (1, 1)/√2 with λ = 4 and (1, −1)/√2 with λ = 1.
    A = np.array([[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]])
    fitted = tw.scaling.Whitening().fit(A)
    np.testing.assert_allclose(fitted.spread_**2, [4.0, 1.0])
    np.testing.assert_allclose(fitted.transform([[2.0, 2.0]]), [[np.sqrt(2.0), 0.0]], atol=1e-15)
    zca = tw.scaling.Whitening("zca").fit(A)
    np.testing.assert_allclose(zca.transform([[2.0, 2.0]]), [[1.0, 1.0]])


@kinds
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_covariance_becomes_the_identity(kind, dtype):
    Z = tw.scaling.Whitening(kind).fit_transform(X.astype(dtype)).astype(np.float64)
    tolerance = 1e-10 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(np.cov(Z.T, bias=True), np.eye(3), atol=tolerance)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=tolerance)


def test_pca_equals_scikit_learns_up_to_signs_and_the_divisor():
    theirs = PCA(whiten=True).fit_transform(X) * np.sqrt(400 / 399)
    ours = tw.scaling.Whitening("pca").fit_transform(X)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-8, atol=1e-10)


def test_zca_is_the_symmetric_root():
    root = np.linalg.inv(np.cov(X.T, bias=True))
    values, vectors = np.linalg.eigh(root)
    definition = (X - X.mean(axis=0)) @ (vectors * np.sqrt(values)) @ vectors.T
    np.testing.assert_allclose(tw.scaling.Whitening("zca").fit_transform(X), definition, atol=1e-8)


@kinds
def test_directions_without_variance_become_zero(kind):
    A = np.column_stack([X, X[:, 0] * 2.0, np.full(400, 3.0)])
    fitted = tw.scaling.Whitening(kind).fit(A)
    Z = fitted.transform(A)
    assert fitted.rank_ == 3
    values = np.linalg.eigvalsh(np.cov(Z.T, bias=True))
    np.testing.assert_allclose(values, [0, 0, 1, 1, 1], atol=1e-9)
    np.testing.assert_allclose(fitted.inverse_transform(Z), A, rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sum_of_columns_adds_no_axis_but_a_small_column_does(dtype):
    A = X.astype(dtype)
    A = np.column_stack([A, A.sum(axis=1), A[:, 0] / 3, 1e-4 * rng.normal(size=400).astype(dtype)])
    assert tw.scaling.Whitening().fit(A.astype(dtype)).rank_ == 4


@kinds
def test_fewer_rows_than_columns(kind):
    A = rng.normal(size=(4, 10))
    fitted = tw.scaling.Whitening(kind).fit(A)
    assert fitted.rank_ == 3
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(A)), A, atol=1e-10)


def test_condition_numbers_are_not_squared():
    A = np.column_stack([X[:, 0], 1e-10 * rng.normal(size=400)])
    Z = tw.scaling.Whitening().fit_transform(A - A.mean(axis=0))
    np.testing.assert_allclose(np.cov(Z.T, bias=True), np.eye(2), atol=1e-3)


def test_eps_holds_small_directions_back():
    fitted = tw.scaling.Whitening(eps=1.0).fit(X)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    Z = fitted.transform(X)
    np.testing.assert_allclose(np.diag(np.cov(Z.T, bias=True)), values / (values + 1), rtol=1e-8)
    np.testing.assert_allclose(fitted.inverse_transform(Z), X, rtol=1e-9)


def test_bad_options():
    with pytest.raises(tw.InputError, match="kind must be a known name, got 'zac': did you mean"):
        tw.scaling.Whitening("zac").fit(X)
    with pytest.raises(tw.InputError, match="eps must be at least 0, got -1"):
        tw.scaling.Whitening(eps=-1).fit(X)
