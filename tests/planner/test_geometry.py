"""The numbers of a problem against their definitions, whole and from a sample."""

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.objectives import rows
from thalweg.planner import geometry as module
from thalweg.planner.geometry import geometry


def problem(n=60, p=7, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) * np.logspace(0, 2, p)
    options = {"loss": "logistic", "l2": 0.1, "fit_intercept": False, **options}
    return tw.LinearProblem(X, rng.random(n) > 0.5, **options)


@pytest.mark.parametrize("intercept", [False, True])
def test_small_problems_are_exact(intercept):
    data = problem(fit_intercept=intercept)
    X = data.matrix.rows
    bordered = np.column_stack([X, np.ones(60)]) if intercept else X
    shape = geometry(data)
    L = 0.25 * np.linalg.eigvalsh(bordered.T @ bordered / 60)[-1] + 0.1
    rows = 0.25 * np.sum(bordered**2, axis=1) + 0.1
    assert (pytest.approx(L), "exact") == shape.L
    assert shape.L_max == (pytest.approx(rows.max()), "exact")
    assert shape.L_mean == (pytest.approx(rows.mean()), "exact")
    assert shape.mu == ((0.0 if intercept else 0.1), "exact")
    assert shape.kappa.value == pytest.approx(L / 0.1)  # with an intercept, b at its best
    lengths, scales = np.linalg.norm(X, axis=1), np.linalg.norm(X, axis=0)
    assert shape.row_spread.value == pytest.approx(lengths.max() / lengths.min())
    assert shape.feature_spread.value == pytest.approx(scales.max() / scales.min())


def test_a_sample_comes_near_and_says_that_it_is_one(monkeypatch):
    monkeypatch.setattr(module, "MOST_ENTRIES", (7 + module.A_ROW) * 2_000)
    data = problem(n=20_000)
    shape = geometry(data)
    assert shape.rows_seen == 2_000
    assert {shape.L.how, shape.L_max.how, shape.row_spread.how} == {"estimated"}
    scales = np.linalg.norm(data.matrix.rows, axis=0)  # these are known, and not sampled
    assert shape.feature_spread == (pytest.approx(scales.max() / scales.min()), "exact")
    assert shape.L.value == pytest.approx(data.smoothness, rel=0.1)
    assert shape.L_mean.value == pytest.approx(data.row_smoothness.mean(), rel=0.1)


def test_the_power_method_is_used_where_all_eigenvalues_are_too_many(monkeypatch):
    monkeypatch.setattr(module, "MOST_WORK", 0)
    data = problem()
    L, how = geometry(data).L
    assert how == "estimated"
    assert 0.9 * data.smoothness < L <= data.smoothness * (1 + 1e-9)


def test_sparse_rows_and_zero_columns():
    X = scipy.sparse.random_array((50, 9), density=0.3, rng=np.random.default_rng(0), format="csr")
    X = scipy.sparse.csr_array(X @ scipy.sparse.diags_array([0.0, *np.ones(8)]))
    shape = geometry(tw.LinearProblem(X, np.arange(50.0), l2=1.0))
    assert 0 < shape.density < 0.4
    assert np.isfinite(shape.feature_spread.value)


def test_zero_data_have_no_curvature():
    data = tw.LinearProblem(np.zeros((5, 2)), np.arange(5.0), l2=0.5, fit_intercept=False)
    assert geometry(data).L.value == pytest.approx(0.5)


@pytest.mark.parametrize("options", [{"l2": 1e-3}, {"l1": 1e-3, "l2": 0.0}, {"standardize": True}])
def test_columns_are_measured_once_a_problem(options, monkeypatch):
    measured, entry = [], rows.column_moments_pass

    def counted(X, c, start, stop, *out):
        measured.append(stop - start)
        entry(X, c, start, stop, *out)

    monkeypatch.setattr(rows, "column_moments_pass", counted)
    monkeypatch.setattr(module, "MOST_ENTRIES", 1_000)  # a plan looks at a sample
    data = problem(n=2_000, fit_intercept=True, **options)
    run = tw.minimize(data, tw.plan(data), progress=False)
    assert tw.certify(data, run.w).holds
    assert sum(measured) == 2_000
