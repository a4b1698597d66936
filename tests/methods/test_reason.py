import re
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

import thalweg as tw
from thalweg.methods.method import Method


class SignsState(NamedTuple):
    w: np.ndarray
    value: float
    gradient: np.ndarray


@dataclass(frozen=True)
class Signs(Method):
    """Steps of a given length, and no schedule to shorten them."""

    name: ClassVar[str] = "signs"
    State: ClassVar[type] = SignsState
    lr: float = 0.1

    def init(self, problem, w0, rng):
        return SignsState(w0, *problem.value_and_gradient(w0))

    def advance(self, problem, state):
        w = state.w - self.lr * np.sign(state.gradient)
        return SignsState(w, *problem.value_and_gradient(w))


@pytest.mark.parametrize("max_iter", [100, 10_000])  # out of iterations, and stalled
def test_circling_is_told_of_a_method_without_a_schedule(max_iter):
    run = tw.minimize(tw.surfaces.Quadratic(), Signs(), [1.02, 1.0], max_iter=max_iter)
    assert (run.outcome is tw.Outcome.STALLED) == (max_iter > 100)
    assert "steps of about lr = 0.1 circle the minimum" in run.reason
    assert run.reason.endswith("Try method='lbfgs', or a smaller lr.")


@pytest.mark.parametrize("name", ["bfgs", "lbfgs", "newton", "newton-cg"])
def test_lbfgs_is_no_other_way_for_its_kin(name):
    run = tw.minimize(tw.surfaces.Rosenbrock(), name, max_iter=1)
    assert "lbfgs" not in run.reason
    assert "lbfgs" in tw.minimize(tw.surfaces.Rosenbrock(), "gd", max_iter=1).reason


def test_every_reason_has_the_outcome_the_distance_and_the_count():
    endings = [
        tw.minimize(tw.surfaces.Rosenbrock(), "lbfgs"),
        tw.minimize(tw.surfaces.Rosenbrock(), "gd", max_iter=50),
        tw.minimize(tw.surfaces.Rosenbrock(), "gd", time_limit=0.0),
        tw.minimize(tw.surfaces.Rosenbrock(), "gd", callback=lambda step: True),
        tw.minimize(tw.surfaces.Beale(), tw.RMSProp(lr=0.1), max_iter=20_000),
    ]
    outcomes = [run.outcome.name for run in endings]
    assert outcomes == ["CONVERGED", "ITERATION_LIMIT", "TIME_LIMIT", "INTERRUPTED", "STALLED"]
    for run in endings:
        assert run.reason.startswith(str(run.outcome))
        assert re.search(r"‖∇f\(w\)‖∞ = \S+ [≤>] \S+ after \d+ iterations?", run.reason), run.reason
        assert run.reason.endswith(".")


def test_an_adaptive_method_that_leaves_is_told_of_its_lr():
    run = tw.minimize(tw.surfaces.Rosenbrock(), tw.Adam(lr=1e6), [0.0, 0.0], max_iter=100)
    assert run.outcome is tw.Outcome.DIVERGED
    assert "Try a smaller lr (now 1e+06)" in run.reason


def test_a_gradient_that_stops_being_a_number_is_told_from_a_value_that_does():
    calls = []

    def gradient(w):
        calls.append(1)
        return w * (np.nan if len(calls) > 3 else 1.0)

    objective = tw.Objective(lambda w: 0.5 * w @ w, gradient, check_gradient=False)
    run = tw.minimize(objective, tw.GD(step=0.1), [1.0, 1.0])
    assert "the gradient is no number at step 3" in run.reason


def test_a_stall_far_above_the_start_is_no_circling():
    run = tw.minimize(tw.surfaces.Quadratic(), tw.RMSProp(lagged=True))
    assert run.outcome is tw.Outcome.STALLED
    assert "carried it away from the start" in run.reason
    assert "circle" not in run.reason


def test_a_schedule_that_is_set_is_not_advised_again():
    method = tw.RMSProp(lr=0.1, schedule="1/sqrt(t)")
    run = tw.minimize(tw.surfaces.Beale(), method, tol=1e-10)
    assert run.outcome is tw.Outcome.STALLED
    assert "schedule=" not in run.reason


def test_an_edge_of_the_domain_is_told_from_rounding():
    def log(w):
        return float(np.log(w[0])) if w[0] > 0 else np.nan

    run = tw.minimize(tw.Objective(log, lambda w: 1 / w), "lbfgs", [1.0], progress=False)
    assert run.outcome in (tw.Outcome.STALLED, tw.Outcome.DIVERGED)
    assert "an edge of its domain" in run.reason
    assert run.evaluations < 5000


def test_with_a_penalty_it_speaks_of_the_gradient_mapping():
    run = tw.minimize(tw.Regularized(tw.surfaces.Quadratic(), l1=0.1))
    assert "‖gradient mapping‖∞ =" in run.reason
    assert "classify" not in run.certificate.does_not_show


@pytest.mark.parametrize(
    ("method", "advice"),
    [
        ("heavy-ball", "Try another w0, or method='lbfgs'."),
        (tw.GD(step=0.01), "Try a smaller step (now 0.01), or method='lbfgs'."),
        ("adam", "Try a smaller lr (now 0.1), or method='lbfgs'."),
    ],
)
def test_falling_out_of_the_domain_is_dated_and_advised(method, advice):
    calls = []

    def value(w):
        calls.append(1)
        return w @ w if len(calls) < 60 else np.nan

    objective = tw.Objective(value, lambda w: 2 * w, check_gradient=False)
    run = tw.minimize(objective, method, [1e3, 1.0], tol=1e-12)
    last = run.iterations
    assert f"It left at step {last}: f is NaN at step {last}." in run.reason
    assert run.reason.endswith(advice)


def test_a_gradient_that_does_not_descend_is_told_from_rounding():
    uphill = tw.Objective(lambda w: w @ w, lambda w: -2 * w, check_gradient=False)
    run = tw.minimize(uphill, "lbfgs", [3.0, 0.7])
    assert run.outcome is tw.Outcome.STALLED
    assert "f does not fall along the gradient" in run.reason
    assert "rounding" not in run.reason


@pytest.mark.parametrize("scale", [1.0, 7.3, 1e5])
def test_the_tolerance_advised_at_rounding_is_reached(scale):
    surface = tw.surfaces.StyblinskiTang()
    objective = tw.Objective(
        lambda w: scale * surface.value(w), lambda w: scale * surface.gradient(w)
    )
    start = np.array([-2.0, -2.0], dtype=np.float32)
    run = tw.minimize(objective, "bfgs", start, tol=1e-14)
    assert run.outcome is tw.Outcome.STALLED
    suggested = float(re.search(r"tol=(\S+) or larger", run.reason)[1])
    assert suggested * max(1.0, run.trace["gradient_norm"][0]) >= run.gradient_norm
    assert suggested < 0.01


def test_a_function_scaled_too_small_for_the_tolerance_is_pointed_out():
    valley = tw.surfaces.Rosenbrock()
    tiny = tw.Objective(lambda w: 1e-10 * valley.value(w), lambda w: 1e-10 * valley.gradient(w))
    run = tw.minimize(tiny, "lbfgs", [-1.5, 2.0])
    assert (run.outcome, run.iterations) == (tw.Outcome.CONVERGED, 0)
    assert [finding.name for finding in run.findings] == ["stationary from the start"]
    assert "multiply the objective, or use a smaller tol" in run.reason
    assert tw.minimize(tiny, "lbfgs", [-1.5, 2.0], tol=1e-16).iterations > 0
    assert tw.minimize(valley, "lbfgs", [1.0, 1.0]).findings == ()


def test_a_target_that_a_constant_fits_exactly_is_judged_by_its_own_size():
    X = np.random.default_rng(0).standard_normal((1, 10))
    run = tw.minimize(tw.LinearProblem(X, [1.0], l2=0.1), "lbfgs")  # F(w = 0, best b) is 0
    assert run.certificate.limit == pytest.approx(1e-6 * 0.5 * (1e-9 * 1.0) ** 2)
    assert run.converged
