"""What the benchmarks compute from what they measure, and that every tool is told one problem."""

import math
import subprocess
import sys
import time

import numpy as np
import pytest
import toy
from growth import exponent
from path import drawn as drawn_path
from path import grid as path_grid
from path import ours as our_path
from path import theirs as their_path
from path import values as path_values
from peers import table, timing
from peers.problems import SPECS, Problem, largest_l1
from peers.timing import Fit, Sweep
from peers.tools import Tool, sklearn_coordinates, sklearn_logistic, sklearn_ridge, thalweg
from plan import Ended, Row
from scipy import sparse

import thalweg as tw


def fits(*pairs):
    return [Fit({"tol": 0.1**k}, seconds, value) for k, (seconds, value) in enumerate(pairs)]


def test_time_to_a_level_is_that_of_the_fastest_fit_that_reached_it():
    # F(0) = 2 and F* = 1, so suboptimality is F − 1.
    sweep = fits((0.1, 1.5), (0.4, 1.009), (0.3, 1.001), (0.9, 1.0))
    assert timing.time_to(1e-2, sweep, 2.0, 1.0) == 0.3
    assert timing.time_to(1e-4, sweep, 2.0, 1.0) == 0.9
    assert timing.time_to(1e-2, sweep[:1], 2.0, 1.0) is None


def test_limit_follows_the_fastest_within_its_ends():
    assert timing.limit(None, None) == timing.LONGEST == timing.limit(1000.0, 1000.0)
    assert timing.limit(0.001, None) == timing.SHORTEST
    assert timing.limit(2.0, 1.0) == 2.0 * timing.TIMES_FASTEST
    assert timing.limit(None, 1.0) == timing.TIMES_OWN


@pytest.mark.parametrize(("first", "count"), [(0.01, 5), (0.2, 3), (0.7, 1)])
def test_short_fits_are_repeated(first, count):
    assert timing.wanted([first]) == count
    assert timing.wanted([]) == 1


def test_timed_gives_the_median_and_a_result():
    # Five repeats of 1, 9, 2, 3 and 4 hundredths of a second.
    ticks = iter(np.cumsum([0, 1, 0, 9, 0, 2, 0, 3, 0, 4]) / 100)
    seconds, result = timing.timed(timing.Clock(lambda: next(ticks), 1.0), lambda: "w")
    assert seconds == pytest.approx(0.03)
    assert result == "w"


def test_the_least_time_counts_where_it_is_asked_for():
    # A first fit that reads kernels from disk, and a second.
    ticks = iter(np.cumsum([0, 90, 0, 4, 0, 5]) / 100)
    clock = timing.Clock(lambda: next(ticks), 1.0)
    assert timing.timed(clock, lambda: "w", timing.LEAST)[0] == pytest.approx(0.04)


def test_processor_seconds_count_children_and_not_sleep():
    start, began = timing.processor_seconds(), time.perf_counter()
    subprocess.run([sys.executable, "-c", "sum(range(10**7))"], check=True)
    used, passed = timing.processor_seconds() - start, time.perf_counter() - began
    assert 0.02 < used < 2 * passed
    start = timing.processor_seconds()
    time.sleep(0.2)
    assert timing.processor_seconds() - start < 0.1


class Scripted:
    """A worker that replies from a list: F(w) = w here."""

    def __init__(self, replies, obstacle=""):
        self.replies, self.asked, self.obstacle = list(replies), [], lambda cap: obstacle

    def __call__(self, tool, problem, clock, repeats):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ask(self, setting):
        self.asked.append(setting["tol"])

    def reply(self, timeout):
        return self.replies.pop(0)


class Scalar:
    at_zero = 2.0

    def value(self, w):
        return float(w)


def swept(monkeypatch, worker, best=1.0):
    monkeypatch.setattr(timing, "Worker", worker)
    tool = Tool("tool", [{"tol": 0.1**k} for k in range(6)], None, None)
    return timing.sweep(tool, Scalar(), best, timing.SHORTEST)


def test_a_sweep_ends_at_the_tightest_level(monkeypatch):
    found = swept(monkeypatch, Scripted([(0.1, 1.5), (0.2, 1.0 + 1e-9), (0.3, 1.0)]))
    assert [fit.seconds for fit in found.fits] == [0.1, 0.2]
    assert found.note == ""


def test_a_sweep_goes_on_below_the_best_that_was_known(monkeypatch):
    found = swept(monkeypatch, Scripted([(0.1, 1.5), (0.2, 0.9), (0.3, 0.8), (0.3, 0.8)] * 2))
    assert min(fit.value for fit in found.fits) == 0.8
    assert len(found.fits) > 3


def test_a_sweep_ends_when_a_fit_hangs_fails_or_takes_too_long(monkeypatch):
    hangs = swept(monkeypatch, Scripted([(0.1, 1.5), None]))
    assert (len(hangs.fits), hangs.note) == (1, "cut after 0.5 s at tol=0.1")
    assert hangs.cut == 0.5
    fails = swept(monkeypatch, Scripted(["ValueError: no"]))
    assert (fails.fits, fails.note, fails.cut) == ([], "ValueError: no", None)
    slow = swept(monkeypatch, Scripted([(1.5, 1.5), (9.0, 1.0)]))
    assert (len(slow.fits), slow.note, slow.cut) == (1, "cut after 1.5 s at tol=1", 1.5)
    absent = swept(monkeypatch, Scripted([], obstacle="ImportError: no module"))
    assert (absent.fits, absent.note) == ([], "ImportError: no module")


def test_a_sweep_goes_on_where_settings_give_the_same_or_no_number(monkeypatch):
    # Newton's method reaches the next tolerances in one step, and loose ones may all give w = 0.
    same = swept(monkeypatch, Scripted([(0.1, 2.0)] * 2 + [(0.1, 1.1)] * 3 + [(0.1, 1.0)]))
    assert len(same.fits) == 6
    diverged = swept(monkeypatch, Scripted([(0.1, np.nan), (0.1, 1.0)]))
    assert [fit.value for fit in diverged.fits] == [math.inf, 1.0]


def test_a_sweep_of_every_kind_of_setting_goes_on_with_the_next(monkeypatch):
    worker = Scripted([(0.3, 1.0), (0.1, 1.5), (0.1, 1.0), (0.2, 1.0)])
    worker.ask = worker.asked.append
    monkeypatch.setattr(timing, "Worker", worker)
    settings = [{"max_iter": 1}, {"max_iter": 2}, {"tol": 0.1}, {"tol": 0.01}, {"tol": 0.001}]
    tool = Tool("tool", settings, None, None)
    found = timing.sweep(tool, Scalar(), 1.0, timing.SHORTEST, every_kind=True)
    assert worker.asked == [{"max_iter": 1}, {"tol": 0.1}, {"tol": 0.01}]
    assert timing.time_to(1e-6, found.fits, 2.0, 1.0) == 0.1


def test_geometric_mean_of_what_is_known():
    assert table.geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert table.geometric_mean([2.0, None, 0.5]) == pytest.approx(1.0)
    assert table.geometric_mean([None]) is None


def test_fastest_names_the_tool_at_each_level():
    slow = Sweep("precise", fits((5.0, 1.0)))
    quick = Sweep("loose", fits((1.0, 1.005)))
    winners = table.fastest([slow, quick], 2.0, 1.0)
    assert winners[0] == (1.0, "loose")
    assert winners[1:] == [(5.0, "precise")] * 3


@pytest.mark.parametrize(
    ("peer", "own", "is_ridge", "ok"),
    [
        (0.100, 0.099, False, True),
        (0.100, 0.101, False, False),
        (0.100, 0.104, True, True),
        (0.100, 0.107, True, False),
        (0.010, 0.024, False, True),
        (0.010, 0.026, False, False),
        (None, 5.0, False, True),
        (0.010, None, False, False),
    ],
)
def test_a_row_holds(peer, own, is_ridge, ok):
    assert table.holds(peer, own, is_ridge=is_ridge) is ok


def test_exponent_of_a_power_law():
    sizes = [10, 100, 1000, 10_000]
    assert exponent(sizes, [3.0 * s**1.5 for s in sizes]) == pytest.approx(1.5)
    assert exponent(sizes, [1.0, 2.0]) is None


def test_the_plan_is_judged_by_the_chosen_method_and_its_prediction():
    row = Row("p", 0.5, Ended("lbfgs", True, 0.4, 0.1), {"lbfgs": 0.3, "newton": 0.2})
    assert row.fastest == "newton"
    assert row.ratio == pytest.approx(1.5)
    assert row.error == pytest.approx(4.0)
    unknown = Row("p", None, None, {})
    assert (unknown.fastest, unknown.ratio, unknown.error) == ("-", None, None)


def test_there_are_sixteen_problems_with_names_of_their_own():
    assert len({spec.name for spec in SPECS}) == len(SPECS) == 16


def tiny(loss, *, l1=0.0, l2=0.0, is_sparse=False):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 5)) * (rng.random((60, 5)) < 0.7)
    scores = X @ np.arange(-2.0, 3.0) + rng.standard_normal(60)
    y = {
        "squared": scores,
        "logistic": np.where(scores > 0, 1.0, -1.0),
        "multinomial": np.digitize(scores, [-1.0, 1.0]).astype(float),
    }[loss]
    return Problem(loss, sparse.csr_matrix(X) if is_sparse else X, y, loss, l1, l2)


def as_thalweg(problem):
    return tw.LinearProblem(
        problem.X, problem.y, problem.loss, l1=problem.l1, l2=problem.l2, fit_intercept=False
    )


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_the_objective_outside_the_tools_is_thalwegs(loss, is_sparse):
    problem = tiny(loss, l1=0.03, l2=0.2, is_sparse=is_sparse)
    w = np.random.default_rng(2).standard_normal((5, 3 if loss == "multinomial" else 1))
    assert problem.value(w) == pytest.approx(as_thalweg(problem).value(w.ravel()), rel=1e-13)
    assert problem.at_zero == pytest.approx(as_thalweg(problem).value(0 * w.ravel()), rel=1e-13)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_above_the_largest_l1_zero_is_optimal_and_below_it_is_not(loss):
    free = tiny(loss)
    largest = largest_l1(free.X, free.y, loss)
    for factor, optimal in ((1.001, True), (0.9, False)):
        problem = tiny(loss, l1=factor * largest)
        w = thalweg("cd").fit(None, problem, tol=1e-10)
        assert (not w.any()) is optimal


@pytest.mark.parametrize(
    ("tool", "loss", "penalty"),
    [
        (sklearn_logistic("lbfgs"), "logistic", {"l2": 0.03}),
        (sklearn_logistic("newton-cholesky"), "logistic", {"l2": 0.03}),
        (sklearn_logistic("liblinear"), "logistic", {"l1": 0.03}),
        (sklearn_logistic("newton-cg"), "multinomial", {"l2": 0.03}),
        (sklearn_ridge("lsqr"), "squared", {"l2": 0.03}),
        (sklearn_coordinates(), "squared", {"l1": 0.03}),
        (sklearn_coordinates(precompute=True), "squared", {"l1": 0.03, "l2": 0.1}),
        (thalweg("fista"), "squared", {"l1": 0.03, "l2": 0.1}),
    ],
    ids=lambda value: value.name if isinstance(value, Tool) else None,
)
def test_a_tool_minimises_the_objective_that_it_is_told(tool, loss, penalty):
    problem = tiny(loss, **penalty)
    w = tool.fit(tool.prepare(problem), problem, tol=1e-9)
    assert tw.certify(as_thalweg(problem), w.ravel()).gap <= 1e-7 * problem.at_zero


def test_a_drawn_toy_is_its_seed_and_small():
    for seed in range(12):
        case, again = toy.drawn(seed), toy.drawn(seed)
        assert case.name == again.name
        assert np.array_equal(case.X, again.X)
        assert np.array_equal(case.y, again.y)
        assert 20 <= len(case.X) <= 2000
        assert 2 <= case.X.shape[1] <= 60
        assert np.isfinite(case.X).all()


def test_toys_are_summed_up_by_their_geometric_mean_and_the_worst():
    rows = [toy.Row("a", "Ridge", 2.0, 1.0, True, ""), toy.Row("b", "Ridge", 1.0, 8.0, False, "")]
    assert toy.summary(rows) == "mean 0.50, worst 2.00; certified 1 of 2"


def test_both_sides_of_a_toy_are_timed_in_turn_and_a_first_time_is_not(monkeypatch):
    monkeypatch.setattr(toy, "SECONDS", 0.0)
    called = []
    toy.in_turn(lambda: called.append("ours"), lambda: called.append("theirs"))
    assert called == ["ours", "theirs"] * (toy.LEAST + 1)


@pytest.mark.parametrize("seed", [0, 10, 14, 32])
def test_both_are_told_one_path(seed):
    case = drawn_path(seed)
    case = case._replace(points=4, ratio=0.2)
    l1s = path_grid(case)
    W = np.column_stack([run.w[: case.X.shape[1]] for run in our_path(case, l1s, 1e-6)])
    ours, theirs = (path_values(case, V, l1s) for V in (W, their_path(case, l1s, 1e-8)))
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    assert np.count_nonzero(W[:, 0]) == 0
