"""A method that another would overtake is replaced, from where it is, and the plan says so."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import thalweg as tw
from thalweg.core.plan import Plan, PlanRow
from thalweg.methods.loop import Limits, drive
from thalweg.methods.registry import resolve
from thalweg.planner.hedge import Hedge, rung, steps_by_gains, steps_by_gaps


def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 40)) * np.logspace(0, 2, 40)
    return tw.LinearProblem(X, X[:, 0] > 0, "logistic", l2=1e-4, fit_intercept=False)


def plan(*rows):
    return Plan("test", 1e-6, 1e-6, {}, rows, 0.0)


def go(data, hedge):
    return drive(
        data, resolve(hedge.plan.best), data.start, Limits(1e-6, 5_000), seed=0, overseer=hedge
    )


SLOW, FAST = (
    PlanRow(
        name, eligible=True, remark="", predicted_iterations=count, seconds_per_iteration=each,
        predicted_seconds=count * each,
    )
    for name, count, each in (("gd", 5, 2e-4), ("newton", 8, 0.06))
)  # fmt: skip


def test_the_next_method_takes_over_where_the_first_one_is():
    hedge = Hedge(plan(SLOW, FAST))
    run = go(problem(), hedge)
    assert run.converged
    assert run.method == "newton"
    done = hedge.finished(run.method, run.iterations, run.seconds)
    assert len(done.changes) == 1
    assert done.changes[0].startswith("gd had about ")
    gd, newton = done.row("gd"), done.row("newton")
    assert gd.actual_iterations + newton.actual_iterations == run.iterations
    values = run.trace["value"]
    assert values[gd.actual_iterations + 1] <= values[gd.actual_iterations] * (1 + 1e-9)


def test_it_stays_where_nothing_better_is_known():
    hedge = Hedge(plan(FAST, replace(SLOW, predicted_seconds=100.0)))
    run = go(problem(), hedge)
    assert run.method == "newton"
    assert hedge.finished("newton", run.iterations, run.seconds).changes == ()


def test_each_method_gets_one_chance():
    slow = replace(SLOW, predicted_seconds=0.001)
    other = replace(SLOW, method="lbfgs", predicted_seconds=0.002)
    hedge = Hedge(plan(slow, other))
    data = problem()
    run = drive(data, resolve("gd"), data.start, Limits(1e-6, 300), seed=0, overseer=hedge)
    assert len(hedge.finished(run.method, run.iterations, run.seconds).changes) <= 1


def named(method, seconds, count=5):
    return replace(
        SLOW, method=method, predicted_iterations=count, seconds_per_iteration=seconds / count,
        predicted_seconds=seconds,
    )  # fmt: skip


def test_nothing_that_uses_less_curvature_takes_over():
    hedge = Hedge(plan(named("newton-cg", 1e-5), named("lbfgs", 1e-5)))
    assert go(problem(), hedge).method == "newton-cg"
    assert hedge.plan.changes == ()
    assert [rung(resolve(name)) for name in ("newton", "newton-cg", "lbfgs")] == [2, 1, 0]


def test_what_the_condition_made_late_is_expected_of_all_that_do_not_factorise():
    rows = named("gd", 1e-3), named("newton-cg", 0.01), named("newton", 0.012, 8)
    hedge = Hedge(plan(*rows))
    run = go(problem(), hedge)
    assert run.method == "newton"  # though products alone were predicted to be done sooner
    assert hedge.plan.changes[0].startswith("gd had ")


@pytest.mark.parametrize(
    ("stalled", "others"), [("newton", {"lbfgs"}), ("lbfgs", {"newton", "cholesky"})]
)
def test_after_a_stall_another_kind_of_step_is_tried(stalled, others):
    hedge = Hedge(plan(*(named(name, 0.01) for name in (stalled, "cholesky", "newton", "lbfgs"))))
    hedge._tried = {stalled}
    journey = SimpleNamespace(method=resolve(stalled), iteration=3, seconds=0.1)
    assert hedge.after_stall(journey).name in others
    assert hedge.after_stall(journey) is None  # what two kinds cannot move, rounding holds


def test_a_change_of_method_is_kept_by_a_checkpoint(tmp_path):
    data, file = problem(), tmp_path / "run"
    made = replace(plan(SLOW, FAST), problem=data.name)

    def stop_after_the_change(step):
        return b"goes on" in file.read_bytes()

    often = tw.Checkpoint(file, every=10**6)  # so that only the change itself is put aside
    first = tw.minimize(data, made, checkpoint=often, callback=stop_after_the_change)
    assert (first.outcome.name, first.method) == ("INTERRUPTED", "newton")
    run = tw.minimize(data, made, checkpoint=often)
    assert run.converged
    assert run.plan.changes == first.plan.changes != ()
    assert run.plan.row("gd").actual_iterations == first.plan.row("gd").actual_iterations
    newton = run.plan.row("newton").actual_iterations
    assert newton + run.plan.row("gd").actual_iterations == run.iterations


def test_a_gap_that_falls_by_a_factor_a_step_is_foretold():
    gaps = 0.5 ** np.arange(9)
    assert steps_by_gaps(gaps, 0.5**20) == pytest.approx(12.0)
    assert steps_by_gaps(gaps, 0.5**8) == 0.0
    assert steps_by_gaps(np.ones(4), 0.1) == np.inf


def test_gains_that_fall_by_a_factor_are_summed_to_their_end():
    steps = np.arange(10.0)
    values = 3.0 + 0.5**steps  # of which 0.5⁹ is left at the end
    assert steps_by_gains(values, 0.5**15) == pytest.approx(6.0)
    assert steps_by_gains(values, 0.5**8) == 0.0
    assert steps_by_gains(-steps, 1e-3) == np.inf  # as fast as ever: no end in sight
    assert steps_by_gains(np.zeros(10), 1e-3) == 0.0  # at rest


def test_where_a_rule_chose_the_others_are_asked_when_it_was_wrong():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 400)) + 5.0 * rng.standard_normal(400)  # rows that are all alike
    data = tw.LinearProblem(X, X[:, 0] > X[:, 0].mean(), "logistic", l2=1e-9)
    ruled = replace(SLOW, remark="by rule")
    hedge = Hedge(replace(plan(ruled), problem=data.name))
    assert hedge.plan.is_by_rule
    limits = Limits(1e-6, 50_000, seconds=20.0)
    run = drive(data, resolve("gd"), data.start, limits, seed=0, overseer=hedge)
    assert run.method != "gd"
    assert len(hedge.plan.rows) > 5


def test_a_short_run_goes_the_same_way_whatever_the_clock_says(monkeypatch):
    data = tw.LinearProblem(*load_breast_cancer(return_X_y=True), "logistic", l2=1e-6)
    ways = set()
    for seconds_a_look in (0.0, 1e-6, 1e-3):
        ticks = itertools.count()
        monkeypatch.setattr(
            "thalweg.core.clock.perf_counter", lambda t=ticks, s=seconds_a_look: next(t) * s
        )
        hedge = Hedge(
            plan(replace(SLOW, seconds_per_iteration=1e-4), replace(FAST, predicted_seconds=0.01))
        )
        monkeypatch.setattr("thalweg.planner.hedge.BY_THE_CLOCK", np.inf)
        run = go(data, hedge)
        ways.add((run.method, run.iterations, run.w.tobytes()))
    assert len(ways) == 1
    assert run.method == "newton"


def test_where_a_method_stalls_the_next_one_goes_on(monkeypatch):
    # Twice the digits would find the minimum from wherever it stalls.
    monkeypatch.setattr("thalweg.certificates.duality.affordable", lambda problem: False)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    data = tw.LinearProblem(X, X[:, 0] > 0, "logistic", l2=1e-3)

    class Lame(tw.LBFGS):
        def advance(self, problem, state):
            return state if state.pairs >= 2 else super().advance(problem, state)

    hedge = Hedge(plan(replace(SLOW, method="lbfgs"), FAST))
    run = drive(data, Lame(), data.start, Limits(1e-6, 100), seed=0, overseer=hedge)
    assert run.converged
    assert run.method == "newton"
    assert hedge.plan.changes[0].startswith("lbfgs stalled after 2 iterations")


def test_a_stall_within_the_tolerance_is_an_end():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    data = tw.LinearProblem(X, X[:, 0], l2=0.1)
    hedge = Hedge(plan(FAST, replace(SLOW, method="lbfgs")))
    run = drive(data, resolve("newton"), data.start, Limits(1e-12, 100), seed=0, overseer=hedge)
    assert run.converged
    assert hedge.plan.changes == ()
