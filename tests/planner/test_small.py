import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits

import thalweg as tw
from thalweg.planner import small
from thalweg.planner.small import small_plan


def problem(n=60, p=5, loss="squared", storage=np.asarray, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    z = X[:, 0] + rng.standard_normal(n)
    y = z if loss in ("squared", "huber") else np.digitize(z, [-0.5, 0.5])
    if loss in ("logistic", "squared-hinge"):
        y = z > 0
    return tw.LinearProblem(storage(X), y, loss, **options)


@pytest.mark.parametrize(
    ("data", "chosen"),
    [
        (problem(l2=0.1), "cholesky"),
        (problem(n=10, p=40, l2=0.1), "cholesky"),
        (problem(l1=0.1), "newton"),
        (problem(loss="logistic", l2=0.01), "newton"),
        (problem(loss="multinomial", l2=0.01, storage=scipy.sparse.csr_array), "newton"),
        (problem(n=300, p=100, loss="logistic", l1=0.01), "cd"),
        (problem(n=20, p=3_000, l1=0.1), "cd"),
    ],
)
def test_the_rule(data, chosen):
    plan = small_plan(data, 1e-6)
    assert plan.best == chosen
    assert plan.row(chosen).remark == small.REASON
    assert plan.seconds > 0.0
    run = tw.minimize(data, progress=False)
    assert run.converged
    assert run.method == run.plan.best == chosen
    assert run.plan.row(chosen).actual_iterations == run.iterations


@pytest.mark.parametrize("l2", [0.0, 1e-20])
@pytest.mark.parametrize("p", [5, 100])
def test_where_no_penalty_decides_the_closed_form_does(p, l2):
    # It ends at the smallest of many; by sums alone another method would be the faster.
    loose, held = problem(n=3_000, p=p, l2=l2), problem(n=3_000, p=p, l2=1e-3)
    assert loose.is_loose
    assert not held.is_loose
    assert small_plan(loose, 1e-6).best == "cholesky"


@pytest.mark.parametrize("limit", ["A_MOMENT", "MOST"])
def test_what_is_not_small_is_compared(limit, monkeypatch):
    data = problem(loss="logistic", l2=0.1)
    monkeypatch.setattr(small, limit, 1e-9)
    assert small_plan(data, 1e-6) is None
    assert len(tw.minimize(data, progress=False).plan.rows) > 5


def test_a_plan_that_is_asked_for_compares_all():
    assert len(tw.plan(problem(l2=0.1)).rows) > 5


def test_several_classes_of_the_size_of_digits_are_decided_and_proved():
    X, y = load_digits(return_X_y=True)
    run = tw.minimize(tw.LinearProblem(X, y, "multinomial", l2=1 / len(y)), progress=False)
    assert run.plan.is_by_rule
    assert run.iterations <= 20
    assert run.certificate.holds


def test_rows_are_looked_at_only_where_that_may_change_the_choice(monkeypatch):
    looked = []
    monkeypatch.setattr(small, "A_GLANCE", 0)
    monkeypatch.setattr(
        "thalweg.planner.prediction.l1_max", lambda data: looked.append("l1") or 1.0
    )
    monkeypatch.setattr(
        "thalweg.planner.prediction.crowding_of", lambda data: looked.append("rows") or 1.0
    )
    assert small_plan(problem(n=30_000, p=8, l1=0.1), 1e-6).best == "newton"  # sums ask nothing
    assert looked == []
    small_plan(problem(n=300, p=100, loss="logistic", l1=0.01), 1e-6)
    assert looked == ["l1"]
    # So few samples that a system of them is done before any could be visited one by one.
    assert small_plan(problem(n=20, p=300, loss="logistic", l2=0.1), 1e-6).best == "newton"
    assert looked == ["l1"]


def test_the_problem_about_the_mean_is_made_once():
    data = problem(l2=0.1)
    assert data.centred is data.centred is not data
    assert data.centred.centred is data.centred
    assert data.replaced(l2=0.2).centred.l2 == 0.2
