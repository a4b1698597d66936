import re
import time

import numpy as np
import pytest

import thalweg as tw


def test_explaining_does_not_cost_more_than_it_may():
    # 0.1 s a product: 40 of them would take longer than the run itself.
    def slow_hessian(w, v):
        time.sleep(0.1)
        return v

    objective = tw.Objective(lambda w: 0.5 * w @ w, lambda w: w, slow_hessian)
    tw.minimize(objective, "gd", [0.0, 0.0])  # what it imports is not its cost
    started = time.perf_counter()
    run = tw.minimize(objective, tw.GD(step=1e-3), [1.0, 1.0], max_iter=10)
    assert time.perf_counter() - started < 1.0
    assert run.findings == ()
    assert "needs about" in run.reason


def test_a_product_that_is_slow_the_first_time_alone_is_affordable(monkeypatch):
    # A kernel is read from disk, or compiled, when it is first called: forty such are too dear, and
    # forty others are not, however busy the machine is.
    monkeypatch.setattr("thalweg.methods.cause.LEAST_BUDGET", 2.0)
    calls = []

    def hessian(w, v):
        calls.append(1)
        if len(calls) == 1:
            time.sleep(0.1)
        return np.array([1e6, 1.0]) * v

    quadratic = np.array([1e6, 1.0])
    objective = tw.Objective(
        lambda w: 0.5 * w @ (quadratic * w), lambda w: quadratic * w, hessian, check_gradient=False
    )
    run = tw.minimize(objective, tw.GD(step=1e-6), [1.0, 1.0], tol=1e-9, max_iter=10)
    assert "Cause: κ = 1e+06" in run.reason


def test_explaining_works_without_a_hessian():
    class NoHessian:
        dim = 2
        name = "bowl"

        def value(self, w):
            return 0.5 * float(w @ w)

        def gradient(self, w):
            return w

        def value_and_gradient(self, w):
            return self.value(w), w

        def hessian_vector(self, w, v):
            return np.full(2, np.nan)

    run = tw.minimize(NoHessian(), tw.GD(step=1e-3), [1.0, 1.0], max_iter=10)
    assert run.findings == ()
    run = tw.minimize(NoHessian(), tw.GD(step=3.0), [1.0, 1.0])
    assert run.outcome is tw.Outcome.DIVERGED
    assert "Try a smaller" in run.reason


def test_a_step_far_below_the_limit_is_named_with_one_that_works():
    surface = tw.surfaces.Quadratic((1.0, 10.0))
    run = tw.minimize(surface, tw.GD(step=1e-4), [1.0, 1.0], max_iter=500)
    (finding,) = run.findings
    assert finding.name == "step far below the stability limit"
    assert finding.limit == pytest.approx(0.2)
    suggested = float(re.search(r"Try step=(\S+?),", run.reason)[1])
    assert tw.minimize(surface, tw.GD(step=suggested), [1.0, 1.0], max_iter=500).converged


def test_a_step_exactly_at_the_limit_is_told_from_rounding():
    run = tw.minimize(tw.surfaces.Quadratic((1.0,)), tw.GD(step=2.0), [1.0])
    assert run.outcome is tw.Outcome.STALLED
    assert "The step 2 is at the stability limit 2/L = 2" in run.reason


def test_a_step_for_the_steepest_place_is_named_on_the_gentle_slope():
    cliff = tw.surfaces.Cliff()
    run = tw.minimize(cliff, "gd")
    (finding,) = run.findings
    assert finding.name == "step far below the stability limit"
    assert "needs about" not in run.reason  # the gradient is constant: there is no rate
    assert "Try method='lbfgs'" in run.reason
    assert tw.minimize(cliff, "lbfgs").converged


def test_falling_ever_faster_is_no_saddle_nearby():
    run = tw.minimize(tw.surfaces.Saddle(), "adam", max_iter=2000)
    assert run.outcome is tw.Outcome.ITERATION_LIMIT
    assert "may have no minimum this way" in run.reason
    assert "no minimum" in tw.minimize(tw.surfaces.Saddle(), "newton-cg").reason
