"""The elastic net: soft thresholds by hand, optimality of the definition, warm starts, refusals."""

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.datasets import load_diabetes

import thalweg as tw


def orthonormal():
    """XᵀX/n = I, so that every coefficient is on its own."""
    n = 8
    X = np.sqrt(n) * np.linalg.qr(np.random.default_rng(0).standard_normal((n, 3)))[0]
    return X, X @ [2.0, -0.5, 0.1]


def test_orthonormal_features_are_thresholded_one_by_one():
    # w = sign(g)·max(|g| − l1, 0)/(1 + l2) with g = Xᵀy/n, l1 = alpha·r, l2 = alpha·(1 − r).
    X, y = orthonormal()
    model = tw.ElasticNet(alpha=0.4, l1_ratio=0.5, fit_intercept=False, method="cd").fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.8 / 1.2, -0.3 / 1.2, 0.0], atol=1e-6)


def test_subgradients_of_the_definition_vanish():
    X, y = load_diabetes(return_X_y=True)
    s = np.random.default_rng(0).random(len(y))
    alpha, r = 0.3, 0.6
    model = tw.ElasticNet(alpha=alpha, l1_ratio=r, tol=1e-13, method="cd")
    model.fit(X, y, sample_weight=s)
    residual = s * (X @ model.coef_ + model.intercept_ - y) / s.sum()
    slope = X.T @ residual + alpha * (1 - r) * model.coef_
    active = model.coef_ != 0
    assert residual.sum() == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(slope[active], -alpha * r * np.sign(model.coef_[active]), rtol=1e-5)
    assert np.all(np.abs(slope[~active]) <= alpha * r)


def test_targets_are_fitted_one_by_one():
    X, y = load_diabetes(return_X_y=True)
    both = tw.ElasticNet(alpha=0.01, method="cd").fit(X, np.column_stack([y, -2 * y]))
    for k, target in enumerate((y, -2 * y)):
        alone = tw.ElasticNet(alpha=0.01, method="cd").fit(X, target)
        np.testing.assert_array_equal(both.coef_[k], alone.coef_)
        assert both.dual_gap_[k] == alone.dual_gap_ == alone.certificate_.gap
        assert both.n_iter_[k] == alone.n_iter_
    assert both.sparse_coef_.shape == (2, 10)


@pytest.mark.parametrize("targets", [1, 2])
def test_a_warm_start_begins_where_the_last_fit_ended(targets):
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y, -y])[:, :targets]
    model = tw.ElasticNet(alpha=0.01, warm_start=True, method="cd").fit(X, Y)
    solution = np.atleast_2d(model.coef_)
    model.fit(X, Y)
    for run, w in zip(model.runs_, solution, strict=True):
        np.testing.assert_array_equal(run.w0[:-1], w)
        assert run.iterations == 0


def test_without_a_penalty_it_is_least_squares():
    X, y = load_diabetes(return_X_y=True)
    model = tw.ElasticNet(alpha=0.0, method="cholesky").fit(X, y)
    slow = np.linalg.lstsq(np.column_stack([X, np.ones(len(y))]), y)[0]
    np.testing.assert_allclose(model.coef_, slow[:-1], rtol=1e-6)
    assert np.isnan(model.dual_gap_)


@pytest.mark.parametrize(
    ("interface", "kind"),
    [("spmatrix", scipy.sparse.csr_matrix), ("sparray", scipy.sparse.csr_array)],
)
def test_sparse_coefficients_are_of_the_kind_that_scikit_learn_is_set_to(interface, kind):
    model = tw.Lasso(alpha=1.0).fit(*load_diabetes(return_X_y=True))
    with sklearn.config_context(sparse_interface=interface):
        sparse = model.sparse_coef_
    assert isinstance(sparse, kind)
    assert 0 < sparse.nnz < 10
    np.testing.assert_array_equal(sparse.toarray(), [model.coef_])


REFUSED = {
    "selection": ({"selection": "random"}, "selection must not be 'random' here: leave it at"),
    "precompute": ({"precompute": np.eye(3)}, "precompute must not be 'a Gram matrix' here"),
    "l1_ratio": ({"l1_ratio": 1.5}, "The 'l1_ratio' parameter of ElasticNet must be"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_honoured_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        tw.ElasticNet(**options).fit(*orthonormal())
