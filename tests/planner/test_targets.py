from functools import cached_property

import numpy as np
import pytest
import scipy.sparse

import thalweg as tw
from thalweg.objectives.features import Features
from thalweg.planner import targets
from thalweg.planner.targets import minimize_targets

OPTIONS = {"tol": 1e-9, "max_iter": 1_000, "seed": 0, "progress": False}


def data(n=80, p=6, T=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 2015.0
    return X, X @ rng.standard_normal((p, T)) + rng.standard_normal((n, T)) + 1e3


def fitted(X, Y, penalties, method="auto"):
    problem = tw.LinearProblem(X, Y[:, 0], l1=penalties[0][0], l2=penalties[0][1])
    return minimize_targets(problem, Y, penalties, method, [None] * Y.shape[1], **OPTIONS)


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("penalty", [(0.0, 0.1), (0.05, 0.0), (0.05, 0.1), (0.0, 0.0)])
def test_each_run_is_as_if_it_had_been_alone(penalty, storage):
    X, Y = data()
    for k, run in enumerate(fitted(storage(X), Y, [penalty] * 4)):
        problem = tw.LinearProblem(storage(X), Y[:, k], l1=penalty[0], l2=penalty[1])
        alone = tw.minimize(problem, tol=1e-9, progress=False)
        assert run.outcome is alone.outcome is tw.Outcome.CONVERGED
        np.testing.assert_allclose(run.w, alone.w, rtol=1e-5)
        assert run.value == pytest.approx(alone.value, rel=1e-8)
        assert run.method == alone.method
        if any(penalty):
            assert tw.certify(problem, run.w, tol=1e-9).holds


def test_one_factor_serves_all_targets_of_a_penalty(monkeypatch):
    made = []
    real = targets.factorised
    monkeypatch.setattr(targets, "factorised", lambda data: made.append(data.l2) or real(data))
    X, Y = data(T=7)
    fitted(X, Y, [(0.0, 0.1)] * 4 + [(0.0, 2.0)] * 3, "cholesky")
    assert made == [0.1, 2.0]


@pytest.mark.parametrize("n", [2_000, 60_000])
def test_where_newton_would_be_planned_for_one_all_share_the_closed_form(n):
    X, Y = data(n=n, p=100, T=3)
    problem = tw.LinearProblem(X, Y[:, 0], l2=0.1)
    alone = tw.minimize(problem, tol=1e-9, progress=False)
    assert alone.method == "newton"
    for run in fitted(X, Y, [(0.0, 0.1)] * 3):
        assert run.method == run.plan.best == "cholesky"
        assert run.converged
        assert run.plan.rows[0].actual_iterations == 1


def test_one_plan_and_one_gram_matrix_serve_all_targets(monkeypatch):
    plans = []
    real = targets.small_plan
    monkeypatch.setattr(targets, "small_plan", lambda *given: plans.append(1) or real(*given))
    sums = []
    monkeypatch.setattr(
        "thalweg.objectives.linear.least_squares",
        lambda *given, real=tw.objectives.linear.least_squares: sums.append(1) or real(*given),
    )
    X, Y = data(T=5)
    runs = fitted(X, Y, [(0.05, 0.0)] * 5)
    assert len(plans) == 1
    assert {run.method for run in runs} == {"newton"}
    assert len(sums) == 1


def test_the_run_of_a_closed_form_is_whole(tmp_path):
    X, Y = data()
    run = fitted(X, Y, [(0.0, 0.1)] * 4)[1]
    run.save(tmp_path / "run")
    again = tw.Run.load(tmp_path / "run")
    np.testing.assert_array_equal(again.w, run.w)
    assert again.certificate.gap == run.certificate.gap
    assert run.iterations == 1
    assert "duality gap" in run.reason


@pytest.mark.parametrize("penalty", [(0.0, 0.1), (0.05, 0.0)])
def test_the_order_of_targets_in_memory_changes_no_bit(penalty):
    X, Y = data(n=300, T=30)
    by_rows, by_columns = (
        fitted(X, laid(Y), [penalty] * 30) for laid in (np.ascontiguousarray, np.asfortranarray)
    )
    for one, other in zip(by_rows, by_columns, strict=True):
        np.testing.assert_array_equal(one.w, other.w)
        assert one.value == other.value
        assert one.certificate.gap == other.certificate.gap


def test_the_features_of_all_targets_are_copied_once(monkeypatch):
    made = []
    real = Features.__dict__["dense"].func
    spied = cached_property(lambda these: made.append(1) or real(these))
    spied.__set_name__(Features, "dense")
    monkeypatch.setattr(Features, "dense", spied)
    X, Y = data(T=5)
    assert all(run.converged for run in fitted(X, Y, [(0.05, 0.0)] * 5))
    assert len(made) == 1


def test_no_run_keeps_the_variables_of_others():
    X, Y = data()
    for run in fitted(X, Y, [(0.0, 0.1)] * 4):
        assert run.w.base is None
