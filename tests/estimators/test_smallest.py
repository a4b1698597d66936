"""The smallest of many minimizers: by hand, by a pseudo-inverse, and where it is looked for."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_regression

import thalweg as tw
from thalweg.estimators.smallest import at_smallest, is_open, smallest


def slow(X, y, s, fit_intercept):
    """The smallest weighted least squares solution, by an SVD of the centred rows."""
    x0, y0 = (s @ X / s.sum(), s @ y / s.sum()) if fit_intercept else (0.0, 0.0)
    roots = np.sqrt(s)
    w = np.linalg.pinv(roots[:, None] * (X - x0), rcond=1e-10) @ (roots * (y - y0))
    return w, y0 - x0 @ w if fit_intercept else 0.0


def wide():
    rng = np.random.default_rng(0)
    return rng.standard_normal((6, 20)) * np.linspace(0.3, 3.0, 20) + 1.0


def dependent():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 5)) * np.linspace(0.3, 3.0, 5) + 1.0
    return np.hstack([X, X[:, :3] @ rng.standard_normal((3, 2))])


def test_one_row_by_hand():
    # All w with 3w₁ + 4w₂ = 25 fit; (3, 4) is nearest to zero.
    problem = tw.LinearProblem([[3.0, 4.0]], [25.0], fit_intercept=False)
    np.testing.assert_allclose(smallest(problem, np.array([25 / 3, 0.0])), [3.0, 4.0], rtol=1e-14)


@pytest.mark.parametrize("method", ["newton-cg", "newton", "lbfgs", "cd", "sag", "saga", "fista"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("make", [wide, dependent])
def test_without_a_penalty_ridge_ends_there_by_any_method(make, is_sparse, fit_intercept, method):
    X, rng = make(), np.random.default_rng(2)
    y, s = 3.0 * rng.standard_normal(len(X)) + 5.0, rng.uniform(0.5, 2.0, len(X))
    model = tw.Ridge(0.0, fit_intercept=fit_intercept, tol=1e-14, max_iter=10**5, method=method)
    model.fit(scipy.sparse.csr_array(X) if is_sparse else X, y, sample_weight=s)
    w, b = slow(X, y, s, fit_intercept)
    np.testing.assert_allclose(model.coef_, w, atol=1e-5)
    assert model.intercept_ == pytest.approx(b, abs=1e-5)
    assert model.certificate_.holds
    np.testing.assert_array_equal(model.runs_[0].w[: X.shape[1]], model.coef_)


def test_every_target_ends_there():
    X = wide()
    Y = np.random.default_rng(3).standard_normal((6, 2))
    model = tw.Ridge([0.0, 1.0], solver="lsqr", tol=1e-15).fit(X, Y)
    np.testing.assert_allclose(model.coef_[0], slow(X, Y[:, 0], np.ones(6), True)[0], atol=1e-9)
    alone = tw.Ridge(1.0, solver="lsqr", tol=1e-15).fit(X, Y[:, 1])
    np.testing.assert_array_equal(model.coef_[1], alone.coef_)


def test_a_penalty_that_is_lost_in_rounding_is_none():
    X, y = wide(), np.arange(6.0)
    model = tw.Ridge(1e-16, solver="lsqr", tol=1e-14).fit(X, y)
    np.testing.assert_allclose(model.coef_, slow(X, y, np.ones(6), True)[0], atol=1e-6)
    assert model.certificate_.kind == "duality gap"
    assert model.certificate_.holds


def test_rows_without_weight_tell_nothing():
    X, y = np.vstack([wide(), dependent()[:30, :1] * np.ones(20)]), np.arange(36.0)
    s = np.repeat([1.0, 0.0], [6, 30])
    model = tw.Ridge(0.0, solver="sparse_cg", tol=1e-18).fit(X, y, sample_weight=s)
    np.testing.assert_allclose(model.coef_, slow(X, y, s, True)[0], atol=1e-8)


@pytest.mark.parametrize(
    ("make", "l2", "expected"),
    [(wide, 0.0, True), (wide, 1e-18, True), (wide, 1e-3, False), (dependent, 0.0, True)],
)
def test_it_is_looked_for_where_many_fit_and_no_penalty_decides(make, l2, expected):
    X = make()
    assert is_open(tw.LinearProblem(X, np.arange(float(len(X))), l2=l2)) == expected


@pytest.mark.parametrize("is_sparse", [False, True])
def test_columns_that_are_independent_in_a_few_rows_are_so_in_all(is_sparse):
    X = np.random.default_rng(4).standard_normal((400, 3)) * [1.0, 1e6, 1e-6] + [0.0, 1e7, 0.0]
    X = np.column_stack([X, np.ones(400)])  # a constant, which no method moves from zero
    problem = tw.LinearProblem(scipy.sparse.csr_array(X) if is_sparse else X, X[:, 0])
    assert not is_open(problem)


def test_what_is_not_found_leaves_the_fit_as_it_was(monkeypatch):
    X, y = wide(), np.arange(6.0)
    monkeypatch.setattr("thalweg.estimators.smallest_fit.MOST_VARIABLES", 0)  # for a closed form
    monkeypatch.setattr("thalweg.estimators.smallest.STEPS", 0)
    with pytest.warns(Warning, match="the smallest were not found from where newton-cg ended: use"):
        model = tw.Ridge(0.0, solver="lsqr").fit(X, y)
    F_constant = 0.5 * np.var(y)
    assert 0.5 * np.mean((model.predict(X) - y) ** 2) <= 1e-6 * F_constant


def test_a_run_that_proves_more_than_its_end_is_kept(monkeypatch):
    problem = tw.LinearProblem(wide(), np.arange(6.0))
    run = tw.minimize(problem, "newton-cg", tol=1e-10)
    monkeypatch.setattr("thalweg.estimators.smallest.SAME", np.inf)
    monkeypatch.setattr("thalweg.estimators.smallest.STEPS", 0)
    assert at_smallest(problem, run) is None


def test_a_proof_at_the_edge_of_rounding_stays_where_the_value_is_no_higher():
    X, y = make_regression(n_samples=50, n_features=100, bias=10, random_state=42)
    model = tw.Ridge(1e-16, solver="lsqr", tol=1e-18, max_iter=200).fit(X, y)
    np.testing.assert_allclose(model.coef_, slow(X, y, np.ones(50), True)[0], atol=1e-8)
