"""Estimators on data as people have it: years, timestamps, cents, tiny units, copies, few rows.

An offset of a column, where the intercept is free, changes the intercept and nothing else; a unit
divides a coefficient, where nothing is penalised; a penalised fit is a stationary point of its own
objective, whatever the columns are. Each is checked by its definition, on all five estimators.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning

import thalweg as tw

OFFSETS = {
    "years": (2000.0, 10.0),
    "timestamps": (1.7e9, 1e6),
    "cents": (250_000.0, 4e4),
    "thousand": (1000.0, 1.0),
    "billion": (1e9, 50.0),
}
FREE = {  # whose intercept no penalty holds
    "ridge": lambda: tw.Ridge(alpha=1.0),
    "lasso": lambda: tw.Lasso(alpha=0.05),
    "elastic net": lambda: tw.ElasticNet(alpha=0.05),
    "logistic": lambda: tw.LogisticRegression(C=0.7),
    "logistic l1": lambda: tw.LogisticRegression(C=0.7, l1_ratio=1.0),
    "logistic, 3 classes": lambda: tw.LogisticRegression(C=0.7),
}


@pytest.fixture(autouse=True)
def nothing_to_warn_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        yield


def table(kind, storage, dtype, n=120, p=6, seed=0):
    """X with two columns far from zero, and the same X with the offset taken off exactly."""
    rng = np.random.default_rng(seed)
    offset, spread = OFFSETS[kind]
    near = rng.standard_normal((n, p))
    far = near.copy()
    far[:, :2] = (offset + spread * near[:, :2]).astype(dtype)
    near[:, :2] = far[:, :2] - offset
    near[:, 2:] = far[:, 2:] = near[:, 2:].astype(dtype)
    z = near[:, 0] / spread + near[:, 2] + 0.5 * rng.standard_normal(n)
    return storage(far.astype(dtype)), near, z


def labelled(name, z):
    if not name.startswith("logistic"):
        return z
    return np.digitize(z, [-0.6, 0.6] if "3" in name else [0.0])


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("kind", OFFSETS)
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_offset_changes_the_intercept_alone(name, kind, storage, dtype):
    far, near, z = table(kind, storage, dtype)
    y = labelled(name, z)
    one, two = FREE[name]().fit(far, y), FREE[name]().fit(near, y)
    scale = np.abs(two.coef_).max() + 1e-12
    tight = 3e-7 if dtype == np.float32 else 3e-8
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-5, atol=tight * scale)
    offset = OFFSETS[kind][0]
    moved = np.ravel(two.intercept_) - offset * np.atleast_2d(two.coef_)[:, :2].sum(axis=1)
    size = np.abs(moved).max() + 1.0
    np.testing.assert_allclose(np.ravel(one.intercept_), moved, rtol=0.0, atol=1e-5 * size)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e6])
@pytest.mark.parametrize("name", ["ridge", "logistic", "logistic, 3 classes"])
def test_without_a_penalty_a_unit_divides_a_coefficient(name, unit):
    _, near, z = table("thousand", np.asarray, np.float64)
    y = labelled(name, z)
    make = (lambda: tw.Ridge(alpha=0.0)) if name == "ridge" else (
        lambda: tw.LogisticRegression(C=np.inf)
    )  # fmt: skip
    units = np.where(np.arange(6) % 2, unit, 1.0)
    one, two = make().fit(near, y), make().fit(near * units, y)
    np.testing.assert_allclose(two.coef_ * units, one.coef_, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("C", [1e-10, 1e-4, 1.0, 1e4, 1e10])
@pytest.mark.parametrize("kind", OFFSETS)
def test_logistic_regression_is_stationary_for_any_C(C, kind):
    far, near, z = table(kind, np.asarray, np.float64, n=200)
    y = z > 0
    model = tw.LogisticRegression(C=C).fit(far, y)
    w, offset = model.coef_[0], OFFSETS[kind][0]
    scores = near @ w + (model.intercept_[0] + offset * w[:2].sum())
    r = 1.0 / (1.0 + np.exp(-scores)) - y
    centred = near - near.mean(axis=0)
    # In units of its own curvature: λ² = gᵀH⁻¹g bounds what is left to gain.
    g = centred.T @ r + w / C
    H = (centred.T * (0.25 * np.ones(len(y)))) @ centred + np.eye(6) / C
    assert 0.5 * g @ np.linalg.solve(H, g) <= 2e-6 * len(y) * np.log(2)
    assert model.certificate_.holds


def test_a_lasso_with_a_column_at_a_thousand():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 60))
    Z[:, 0] += 1000
    y = Z[:, 1:6].sum(1) + rng.normal(size=50)
    model = tw.Lasso(alpha=0.01).fit(Z, y)
    centred = Z - Z.mean(axis=0)
    s = centred.T @ (centred @ model.coef_ - (y - y.mean())) / 50
    on = model.coef_ != 0
    np.testing.assert_allclose(s[on], -0.01 * np.sign(model.coef_[on]), atol=1e-9)
    assert np.abs(s[~on]).max(initial=0.0) <= 0.01 * (1 + 1e-6)
    assert max(run.iterations for run in model.runs_) <= 30


def test_ridge_with_forty_times_as_many_columns_as_rows():
    X, y = make_regression(100, 4000, noise=5, random_state=0)
    model = tw.Ridge().fit(X, y)
    centred = X - X.mean(axis=0)
    exact = centred.T @ np.linalg.solve(centred @ centred.T + np.eye(100), y - y.mean())
    np.testing.assert_allclose(model.coef_, exact, rtol=0.0, atol=1e-10 * np.abs(exact).max())
    assert model.method_ == "cholesky"


@pytest.mark.parametrize("factor", [1e7, 1e8])
def test_ridge_on_huge_columns(factor):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 50)), rng.standard_normal(20)
    model = tw.Ridge().fit(factor * X, y)
    centred = X - X.mean(axis=0)
    U, s, Vt = np.linalg.svd(centred, full_matrices=False)
    keep = s > 1e-12 * s[0]
    shares = s[keep] / (s[keep] ** 2 + factor**-2)
    exact = Vt[keep].T @ (shares * (U.T @ (y - y.mean()))[keep])
    np.testing.assert_allclose(
        factor * model.coef_, exact, rtol=0.0, atol=1e-8 * np.abs(exact).max()
    )
    assert model.certificate_.holds


def test_no_penalty_and_columns_at_a_million():
    X, y = make_classification(300, 4, n_informative=4, n_redundant=0, random_state=0)
    one, two = (
        tw.LogisticRegression(C=np.inf).fit(X + offset, y).predict_proba(X + offset)
        for offset in (0.0, 1e6)
    )
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_classes_that_a_plane_separates_have_no_minimum_without_a_penalty():
    X = np.array([[-2.0, 1.0], [-1.0, 0.0], [1.0, 0.5], [2.0, -1.0]])
    with pytest.warns(ConvergenceWarning, match="no minimum"):
        model = tw.LogisticRegression(C=np.inf).fit(X, [0, 0, 1, 1])
    evidence = model.certificate_.evidence
    side = X @ np.ravel(evidence["coefficients"]) + np.ravel(evidence["intercepts"])
    assert np.all(side[:2] < 0.0)
    assert np.all(side[2:] > 0.0)


@pytest.mark.parametrize(("targets", "model"), [(100, tw.Ridge()), (20, tw.Lasso(alpha=0.05))])
def test_many_targets_are_what_each_is_alone(targets, model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12)) + 50.0
    Y = X[:, :5] @ rng.standard_normal((5, targets)) + rng.standard_normal((300, targets))
    together = model.fit(X, Y).coef_
    for k in (0, targets // 2, targets - 1):
        alone = tw.Ridge() if targets == 100 else tw.Lasso(alpha=0.05)
        np.testing.assert_allclose(together[k], alone.fit(X, Y[:, k]).coef_, atol=1e-8)


@pytest.mark.parametrize("shape", [(100, 2000, 2), (600, 30, 20)])
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_linear_svc_is_stationary_in_every_class(shape, storage):
    n, p, K = shape
    X, y = make_classification(n, p, n_informative=20, n_classes=K, random_state=0)
    model = tw.LinearSVC().fit(storage(X), y)
    A = np.column_stack([X, np.ones(n)])
    for k, (w, b) in enumerate(zip(model.coef_, model.intercept_, strict=True)):
        sign = np.where(y == (1 if K == 2 else k), 1.0, -1.0)
        v = np.append(w, b)
        left = np.maximum(0.0, 1.0 - sign * (A @ v))
        g = v - 2.0 * A.T @ (sign * left)  # of ½‖v‖² + Σ max(0, 1 − yz)², strongly convex by 1
        assert np.linalg.norm(g) <= 1e-5 * np.linalg.norm(v)


@pytest.mark.parametrize("name", FREE)
def test_constant_and_repeated_columns_do_no_harm(name):
    _, near, z = table("thousand", np.asarray, np.float64)
    y = labelled(name, z)
    alone = FREE[name]().fit(near, y)
    X = np.column_stack([near, np.full(len(y), 3.5), np.zeros(len(y))])
    more = FREE[name]().fit(X, y)
    wide = np.atleast_2d(more.coef_)
    np.testing.assert_allclose(wide[:, :6], np.atleast_2d(alone.coef_), atol=1e-6)
    np.testing.assert_array_equal(wide[:, 6:], 0.0)
    copied = FREE[name]().fit(np.column_stack([near, near[:, 2]]), y)
    assert all(run.certificate.holds for run in copied.runs_)
