"""A plan names every candidate with a reason, ranks by seconds, and its choice does the work."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.planner.geometry import geometry
from thalweg.planner.plan import plan
from thalweg.planner.prediction import candidates, difficulty


def cancer(**options):
    X, y = load_breast_cancer(return_X_y=True)
    return tw.LinearProblem(X, y, **{"loss": "logistic", "standardize": True, **options})


def test_every_candidate_has_a_row_and_the_fastest_is_first():
    problem = cancer(l2=1e-3)
    found = plan(problem)
    hopes = candidates(problem, difficulty(problem, geometry(problem), 1e-6), is_short=False)
    assert {row.method for row in found.rows} == set(hopes)
    able = [row for row in found.rows if row.eligible]
    others = [row.predicted_seconds for row in able[1:]]
    assert others == sorted(others)
    assert able[0].method == "newton"  # small data: by order, not by a clock
    assert able[0].remark.startswith("CHOSEN")
    assert all(row.remark for row in found.rows if not row.eligible)


def test_what_a_penalty_rules_out_is_said():
    lasso = tw.LinearProblem(*load_diabetes(return_X_y=True), l1=0.1)
    found = plan(lasso)
    assert not found.row("lbfgs").eligible
    assert "l1" in found.row("lbfgs").remark
    assert "l2 > 0" in found.row("sdca").remark
    assert found.row("cd").eligible
    assert not plan(cancer(l2=1e-3)).row("cd").eligible


@pytest.mark.parametrize(
    "problem",
    [
        cancer(l2=1e-3),
        cancer(l1=1e-3),
        cancer(l2=1e-3, loss="squared-hinge"),
        tw.LinearProblem(*load_diabetes(return_X_y=True), l2=1e-3),
        tw.LinearProblem(*load_diabetes(return_X_y=True), l1=0.1, l2=0.1),
        tw.LinearProblem(*load_digits(n_class=4, return_X_y=True), "multinomial", l2=1e-2),
        tw.LinearProblem(
            *load_digits(n_class=4, return_X_y=True), "multinomial", l1=1e-2, standardize=True
        ),
    ],
    ids=lambda problem: problem.name,
)
def test_auto_does_what_was_planned_and_reports_both(problem):
    run = tw.minimize(problem, progress=False)
    assert run.converged
    assert run.plan is not None
    done = [row for row in run.plan.rows if row.actual_iterations is not None]
    assert run.method in [row.method for row in done]
    assert len(done) == 1 + len(run.plan.changes)
    assert sum(row.actual_iterations for row in done) == run.iterations
    assert sum(row.actual_seconds for row in done) <= run.seconds * (1 + 1e-9)
    assert "predicted" in repr(run)
    assert "took" in repr(run.plan)


def test_the_choice_on_small_data_does_not_change_with_the_clock():
    assert {plan(cancer(l2=1e-3)).best for _ in range(10)} == {"newton"}


def test_bad_scales_are_named_with_their_remedy():
    assert "standardize=True" in plan(cancer(l2=1e-3, standardize=False)).advice
    assert plan(cancer(l2=1e-3)).advice == ""


def test_without_a_penalty_there_is_still_a_plan():
    X = np.random.default_rng(0).standard_normal((80, 3))
    data = tw.LinearProblem(X, X @ [1.0, 2.0, 3.0] + 1.0)
    assert plan(data).row("cholesky").eligible
    assert tw.minimize(data, progress=False).converged


def test_bad_input():
    with pytest.raises(InputError, match="plan needs a LinearProblem"):
        plan(tw.surfaces.Rosenbrock())
    with pytest.raises(InputError, match="tol"):
        plan(cancer(l2=1e-3), tol=0.0)


def test_a_resumed_run_goes_on_by_the_method_that_it_was_left_with(tmp_path):
    problem = cancer(l2=1e-3)
    file = tmp_path / "run.ckpt"
    first = tw.minimize(problem, max_iter=2, checkpoint=file, progress=False)
    again = tw.minimize(problem, checkpoint=file, progress=False)
    assert again.method == first.method
    assert again.converged
    assert again.iterations > first.iterations


def test_a_plan_does_not_pay_for_what_a_fit_would(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 30))
    data = tw.LinearProblem(X, X[:, 0] > 0.0, "logistic", l2=1e-3)
    paid = []
    monkeypatch.setattr(
        "thalweg.objectives.features.spectrum_extent", lambda *_, **__: paid.append(1) or (0.0, 1.0)
    )
    assert tw.plan(data).best
    assert not paid  # a Lanczos process over all rows
