import itertools
import math

import numpy as np
import pytest

import thalweg as tw
from thalweg.core.clock import COMPILING


def test_gradient_descent_by_hand():
    # f = ½·2w² from w = 1 with step ¼: w = 1, ½, ¼; f = 1, ¼, 1/16; ∇f = 2, 1, ½.
    run = tw.minimize(tw.surfaces.Quadratic((2.0,)), tw.GD(step=0.25), [1.0], max_iter=2)
    np.testing.assert_array_equal(run.trace["iteration"], [0, 1, 2])
    np.testing.assert_array_equal(run.trace["value"], [1.0, 0.25, 0.0625])
    np.testing.assert_array_equal(run.trace["gradient_norm"], [2.0, 1.0, 0.5])
    np.testing.assert_array_equal(run.trace["gap"], [1.0, 0.25, 0.0625])
    np.testing.assert_array_equal(run.trace["evaluations"], [1, 2, 3])
    np.testing.assert_array_equal(run.trace["passes"], [1, 2, 3])
    assert (np.diff(run.trace["seconds"]) >= 0).all()
    assert run.w == 0.25
    assert run.outcome is tw.Outcome.ITERATION_LIMIT


def test_it_stops_at_the_first_iterate_within_the_tolerance():
    # The gradient halves at every step, from 2: 2·2⁻ᵗ ≤ 1e-3·2 first at t = 10.
    run = tw.minimize(tw.surfaces.Quadratic((2.0,)), tw.GD(step=0.25), [1.0], tol=1e-3)
    assert run.outcome is tw.Outcome.CONVERGED
    assert run.iterations == 10
    assert run.certificate.limit == 2e-3


def test_the_tolerance_is_absolute_where_the_first_gradient_is_small():
    run = tw.minimize(tw.surfaces.Quadratic((2.0,)), tw.GD(step=0.25), [0.01], tol=1e-3)
    assert run.certificate.limit == 1e-3


def test_a_start_at_the_minimum_needs_no_iteration():
    run = tw.minimize(tw.surfaces.Rosenbrock(), "lbfgs", [1.0, 1.0])
    assert (run.outcome, run.iterations, run.evaluations) == (tw.Outcome.CONVERGED, 0, 1)


def test_max_iter_zero_evaluates_the_start():
    run = tw.minimize(tw.surfaces.Rosenbrock(), "gd", max_iter=0)
    assert (run.outcome, run.iterations, len(run.trace)) == (tw.Outcome.ITERATION_LIMIT, 0, 1)


def test_the_time_limit_ends_a_run():
    run = tw.minimize(
        tw.surfaces.Rosenbrock(), "gd", tol=1e-300, max_iter=10**9, time_limit=0.05, progress=False
    )
    assert run.outcome is tw.Outcome.TIME_LIMIT
    assert 0.04 <= run.seconds < 2.0


def test_compiling_is_no_part_of_a_run(wait):
    def compile_and_work(step):
        with COMPILING:
            wait(100.0)
        wait(1.0)

    run = tw.minimize(
        tw.surfaces.Rosenbrock(), "gd", callback=compile_and_work, time_limit=5.0, progress=False
    )
    assert run.outcome is tw.Outcome.TIME_LIMIT
    assert run.iterations == 5
    assert run.trace["seconds"].tolist() == pytest.approx([0.0, 0.0, 1.0, 2.0, 3.0, 4.0])
    assert run.compiled == pytest.approx(500.0)


@pytest.mark.parametrize(
    ("method", "factor", "formula"),
    [
        (tw.GD, 2.0, "2/L"),
        (lambda step: tw.HeavyBall(step=step, momentum=0.5), 3.0, "2(1+β)/L"),
        (lambda step: tw.Nesterov(step=step, momentum=0.5), 1.5, "2(1+β)/((1+2β)L)"),
    ],
)
def test_beyond_the_stability_limit_a_run_diverges_and_names_it(method, factor, formula):
    surface = tw.surfaces.Quadratic((1.0, 10.0))
    limit = factor / 10.0
    stable = tw.minimize(surface, method(0.98 * limit), [1.0, 1.0], max_iter=2000)
    assert stable.outcome is tw.Outcome.CONVERGED
    run = tw.minimize(surface, method(1.02 * limit), [1.0, 1.0], max_iter=5000)
    assert run.outcome is tw.Outcome.DIVERGED
    (finding,) = run.findings
    assert finding.limit == pytest.approx(limit)
    assert finding.measured == pytest.approx(1.02 * limit)
    assert f"stability limit {formula} = {limit:.4g}" in run.reason
    assert "It left at step 1" in run.reason


def test_a_diverged_run_gives_the_best_point_it_saw():
    run = tw.minimize(tw.surfaces.Rosenbrock(), tw.GD(step=0.008), [0.0, 0.0])
    lowest = np.nanmin(run.trace["value"])
    assert run.outcome is tw.Outcome.DIVERGED
    assert run.value == lowest < run.trace["value"][0]
    assert tw.surfaces.Rosenbrock().value(run.w) == run.value
    left_at = int(run.trace["iteration"][np.nanargmin(run.trace["value"])]) + 1
    assert left_at > 1
    assert f"It left at step {left_at}" in run.reason
    assert "the Hessian's largest eigenvalue at the best point seen" in run.reason


@pytest.mark.parametrize("max_iter", [301, 20_000])
def test_a_run_that_does_not_converge_gives_the_lowest_point_it_saw(max_iter):
    surface = tw.surfaces.Beale()
    run = tw.minimize(surface, tw.RMSProp(lr=0.1), max_iter=max_iter)
    assert run.outcome in (tw.Outcome.ITERATION_LIMIT, tw.Outcome.STALLED)
    assert run.value == np.min(run.trace["value"]) < run.trace.last["value"]
    assert surface.value(run.w) == run.value
    assert run.certificate.measured == np.max(np.abs(surface.gradient(run.w)))


def test_an_objective_without_a_minimum_is_said_to_have_none():
    run = tw.minimize(tw.surfaces.Saddle(), "gd", [1.0, 0.1])
    assert run.outcome is tw.Outcome.DIVERGED
    assert "seems to have no minimum" in run.reason


def falls_out_of_its_domain(after):
    """½‖w‖², until the given evaluation: from then on NaN."""
    calls = itertools.count(1)

    def value_and_gradient(w):
        return (math.nan if next(calls) > after else 0.5 * w @ w), w

    return tw.Objective(
        lambda w: 0.5 * w @ w, value_and_gradient=value_and_gradient, check_gradient=False
    )


SEARCHING = ("bfgs", "lbfgs", "newton")  # a NaN is a trial that failed


@pytest.mark.parametrize(
    "name", sorted(name for name, method in tw.METHODS.items() if not method.only_linear)
)
def test_a_value_that_becomes_nan_half_way_ends_the_run_with_a_sentence(name):
    valley, calls = tw.surfaces.Rosenbrock(), itertools.count(1)

    def value(w):
        return valley.value(w) if next(calls) <= 9 else math.nan

    objective = tw.Objective(
        value,
        value_and_gradient=lambda w: (value(w), valley.gradient(w)),
        hessian_vector=valley.hessian_vector,
        check_gradient=False,
    )
    options = {"step": 1e-4} if "step" in tw.METHODS[name]().options else {}
    run = tw.minimize(objective, tw.METHODS[name](**options), [-1.5, 2.0], tol=1e-12)
    stopped = tw.Outcome.STALLED if name in SEARCHING else tw.Outcome.DIVERGED
    assert run.outcome is stopped, run
    assert np.isfinite(run.w).all()
    assert valley.value(run.w) == run.value <= valley.value(np.array([-1.5, 2.0]))
    says = "f is NaN at step" if stopped is tw.Outcome.DIVERGED else "f is no number here"
    assert says in run.reason


def test_nan_from_a_plain_method_is_divergence_at_that_step():
    run = tw.minimize(falls_out_of_its_domain(4), tw.GD(step=0.01), [3.0, 4.0])
    assert run.outcome is tw.Outcome.DIVERGED
    assert "f is NaN at step 4" in run.reason


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_start_without_a_value_is_bad_input(bad):
    with pytest.raises(tw.InputError, match="the value at w0 must be finite"):
        tw.minimize(tw.Objective(lambda w: bad, lambda w: w), "gd", [1.0])


def test_a_start_without_a_gradient_is_bad_input():
    objective = tw.Objective(lambda w: 0.0, lambda w: np.array([0.0, np.nan]))
    with pytest.raises(tw.InputError, match="the gradient at w0 must be finite, got nan at posi"):
        tw.minimize(objective, "gd", [1.0, 1.0])


def test_steps_that_circle_the_minimum_are_a_stall_with_a_cure():
    run = tw.minimize(tw.surfaces.Beale(), tw.RMSProp(lr=0.1), max_iter=20_000)
    assert run.outcome is tw.Outcome.STALLED
    assert "schedule='1/sqrt(t)'" in run.reason
    cured = tw.minimize(
        tw.surfaces.Beale(), tw.RMSProp(lr=0.1, schedule="1/sqrt(t)"), max_iter=20_000, tol=1e-3
    )
    assert cured.value < run.trace.last["value"] / 10


def test_bouncing_beyond_the_stability_limit_is_told_from_rounding():
    run = tw.minimize(tw.surfaces.Rosenbrock(), tw.GD(step=0.004), [0.5, 0.5])
    assert run.outcome is tw.Outcome.STALLED
    assert "It bounces: The step 0.004 is above the stability limit 2/L" in run.reason
    assert run.findings[0].limit < 0.004


def test_rounding_is_a_stall_with_a_reachable_tolerance():
    surface = tw.surfaces.StyblinskiTang()
    start = np.array([-2.0, -2.0], dtype=np.float32)
    run = tw.minimize(surface, "lbfgs", start, tol=1e-12)
    assert run.outcome is tw.Outcome.STALLED
    assert "float64 for w0" in run.reason
    suggested = float(run.reason.split("tol=")[1].split()[0])
    assert tw.minimize(surface, "lbfgs", start, tol=suggested).converged


@pytest.mark.parametrize("name", ["bfgs", "lbfgs", "newton", "newton-cg"])
def test_a_stall_at_rounding_costs_little(name):
    surface = tw.surfaces.StyblinskiTang()
    run = tw.minimize(surface, name, [-2.0, -2.0], tol=1e-18)
    assert run.outcome is tw.Outcome.STALLED
    assert run.gradient_norm < 1e-8
    assert run.counts["passes"] < 1000


def test_noise_is_never_called_a_stall():
    run = tw.minimize(
        tw.surfaces.Quadratic().noisy(1.0), tw.GD(step=0.1), [0.0, 0.0], max_iter=3000
    )
    assert run.outcome is tw.Outcome.ITERATION_LIMIT
    assert "noisy" in run.reason


def test_an_exception_in_the_callback_propagates():
    def fails(step):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        tw.minimize(tw.surfaces.Rosenbrock(), "gd", callback=fails)


def test_conditioning_is_named_as_the_cause_with_a_forecast():
    surface = tw.surfaces.Quadratic.conditioned(1e4, dim=20)
    run = tw.minimize(surface, "gd", max_iter=200)
    (finding,) = run.findings
    assert finding.name == "poor conditioning"
    assert finding.measured == pytest.approx(1e4, rel=1e-6)
    assert "Try method='lbfgs'" in run.reason
    worst = float(run.reason.split("κ allows about ")[1].split()[0].replace(",", ""))
    needed = tw.minimize(surface, "gd", max_iter=10**6).iterations - 200
    assert needed <= worst <= 10 * needed


def test_the_forecast_is_right_where_convergence_is_linear():
    surface = tw.surfaces.Quadratic((1.0, 50.0))
    run = tw.minimize(surface, "gd", [1.0, 1.0], max_iter=100, tol=1e-10)
    forecast = float(run.reason.split("needs about ")[1].split()[0].replace(",", ""))
    needed = tw.minimize(surface, "gd", [1.0, 1.0], tol=1e-10).iterations - 100
    assert forecast == pytest.approx(needed, rel=0.05)


def test_negative_curvature_is_named():
    run = tw.minimize(tw.surfaces.Saddle(), tw.GD(step=0.1), [1.0, 1e-9], max_iter=20)
    assert [finding.name for finding in run.findings] == ["negative curvature"]
    assert "newton-cg" in run.reason


def test_million_variables():
    surface = tw.surfaces.Quadratic(np.linspace(1.0, 10.0, 10**6))
    run = tw.minimize(surface, "nesterov", np.ones(10**6, dtype=np.float32), tol=1e-3)
    assert run.converged
    assert run.w.dtype == np.float32


def test_a_lucky_early_step_does_not_make_slow_progress_a_stall():
    # A pit at 1 that the second step jumps over; from there a slope that falls for ever, slowly.
    def value(w):
        return -10.0 if w[0] == 1.0 else -1e-3 * w[0]

    def gradient(w):
        return np.array([-1.0 if w[0] <= 1.0 else -1e-3])

    objective = tw.Objective(value, gradient, check_gradient=False)
    run = tw.minimize(objective, tw.GD(step=1.0), [0.0], max_iter=5000)
    assert np.nanargmin(run.trace["value"]) == 1
    assert run.outcome is tw.Outcome.ITERATION_LIMIT


@pytest.mark.parametrize("method", ["sag", "saga", "lbfgs"])
def test_a_value_that_is_lower_by_rounding_does_not_make_an_older_point_the_best(method):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 60)), rng.standard_normal(40)
    problem = tw.LinearProblem(X, y, l2=0.01, fit_intercept=False)
    exact = X.T @ np.linalg.solve(X @ X.T + 40 * 0.01 * np.eye(40), y)
    run = tw.minimize(problem, method, tol=1e-20, max_iter=20_000, progress=False)
    np.testing.assert_allclose(run.w, exact, rtol=0.0, atol=3e-11 * np.abs(exact).max())
