import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from drawings import run_of
from thalweg.core.certificate import NONE, Certificate
from thalweg.core.outcome import Outcome
from thalweg.core.ranking import Contender, held_out_loss, ranked
from thalweg.core.trace import COLUMNS, Trace

OPEN = Certificate("duality gap", False, 1.0, 1e-5, "a gap", "little", gap=1.0)
FLAT = Certificate("stationarity", True, 0.0, 1e-5, "flat", "stationary", "more")
TRAINED = Certificate(NONE, False, 1.0, math.nan, "none", "losses")
SADDLE = SimpleNamespace(kind="saddle", explanation="curvatures of both signs")


def stopped(name, value, **changes):
    return run_of(name, [3.0, value], certificate=OPEN, outcome=Outcome.TIME_LIMIT, **changes)


def training(name, value=1.0, losses=(), recall=None, outcome="FINISHED", rows="held out", **more):
    run = run_of(name, [3.0, value], certificate=TRAINED, outcome=Outcome[outcome])
    if losses:
        table = np.column_stack([np.zeros((len(losses), len(COLUMNS))), losses])
        run = replace(run, trace=Trace(table, extra=["validation_loss"]))
    scores = {} if recall is None else {rows: {"accuracy": 1.0 - recall, "mean recall": recall}}
    return Contender(run, scores=scores, **more)


def order(*contenders):
    return [each.run.method for each in ranked(contenders)]


def test_linear_runs_by_proof_then_seconds_then_how_far():
    slow, fast = Contender(run_of("gd", [3, 2, 1, 1])), Contender(run_of("newton", [3, 1]))
    flat = Contender(run_of("cd", [1.0], certificate=FLAT))
    near, far = Contender(stopped("sgd", 1.5)), Contender(stopped("adam", 2.5))
    left = Contender(run_of("svrg", [3, math.nan], certificate=OPEN, outcome=Outcome.DIVERGED))
    lost = Contender(stopped("sag", math.nan))
    assert order(left, lost, far, flat, slow, near, fast) == [
        "newton", "gd", "cd", "sgd", "adam", "sag", "svrg",
    ]  # fmt: skip


def test_the_lowest_value_counts_and_not_the_bound_on_its_distance():
    loose = stopped("loose", 1.0)
    tight = run_of(
        "tight", [3, 2], outcome=Outcome.TIME_LIMIT,
        certificate=Certificate("duality gap", False, 0.5, 1e-5, "a gap", "little", gap=0.5),
    )  # fmt: skip
    assert order(Contender(tight), Contender(loose)) == ["loose", "tight"]


def test_a_gap_of_zero_that_was_not_reached_is_no_value():
    nearest = run_of(
        "nearest", [3, -1], outcome=Outcome.STALLED,
        certificate=Certificate("duality gap", False, 1.0, 1e-5, "a gap", "little", gap=0.0),
    )  # fmt: skip
    assert order(Contender(stopped("far", 0.5)), Contender(nearest)) == ["nearest", "far"]


def test_trainings_by_held_out_score_then_held_out_loss():
    best = training("best", losses=(9.0,), recall=0.9)
    tied = training("tied", losses=(1.0, math.nan), recall=0.8)
    then = training("then", losses=(0.5, 2.0), recall=0.8)
    assert order(then, tied, best) == ["best", "tied", "then"]
    assert held_out_loss(tied.run) == 1.0
    assert held_out_loss(training("adam").run) is None


def test_a_training_cut_short_or_at_a_saddle_may_win_one_that_diverged_never():
    cut = training("cut", recall=0.9, outcome="TIME_LIMIT")
    flat = training("flat", recall=0.95, point=SADDLE)
    done, left = training("done", recall=0.8), training("left", recall=0.99, outcome="DIVERGED")
    assert order(left, done, cut, flat) == ["flat", "cut", "done", "left"]


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_a_score_that_is_no_number_comes_last(value):
    lost, poor = training("lost", recall=value), training("poor", recall=0.0)
    unknown = training("unknown", losses=(0.1,))
    assert order(lost, poor)[0] == "poor"
    assert order(unknown, poor)[0] == "poor"


def test_training_rows_count_where_none_are_held_out():
    one, two = training("one", recall=0.5, rows="training"), training("two", recall=0.6)
    assert one.score == ("training", "mean recall", 0.5)
    assert two.score == ("held out", "mean recall", 0.6)
    number = Contender(one.run, scores={"training": {"R²": 0.25}, "held out": {}})
    assert number.score == ("training", "R²", 0.25)
    assert Contender(one.run).score is None


def test_equals_keep_their_order():
    assert order(*(training(name, recall=0.5) for name in "cab")) == ["c", "a", "b"]


def test_a_saddle_is_behind_what_merely_stopped_and_ranked_by_its_value():
    high = Contender(run_of("high", [3, 2], certificate=FLAT), SADDLE)
    low = Contender(run_of("low", [3, 2, 2, 1], certificate=FLAT), SADDLE)
    assert order(high, low, Contender(stopped("far", 9.0))) == ["far", "low", "high"]
