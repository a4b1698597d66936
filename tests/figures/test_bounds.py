import numpy as np
import pytest

from drawings import plan_of, run_of
from thalweg.figures.bounds import theory
from thalweg.methods.fista import FISTA
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.surfaces import Quadratic, Rosenbrock
from thalweg.planner.minimize import minimize
from thalweg.planner.plan import plan

QUADRATIC = Quadratic()
L, MU = QUADRATIC.smoothness, QUADRATIC.strong_convexity


class Convex:
    """L-smooth, convex and no more, with a known minimizer."""

    smoothness, strong_convexity, minimizer = 4.0, 0.0, np.zeros(2)


def test_gradient_descent_by_hand():
    found = theory(run_of(values=[1.0, 0.5, 0.2]), 1.0, QUADRATIC)
    rho = 1 - MU / L
    assert found.values == pytest.approx([1.0, rho**2, rho**4])
    assert found.formula == "ρ²ᵗ(f(w₀) − f*)"


def test_convex_bounds_by_hand():
    # ‖w₀ − w*‖² = 2 and η = ¼.
    gd = theory(run_of("gd", [1.0] * 4), None, Convex())
    assert gd.values[1:] == pytest.approx([4.0, 2.0, 4.0 / 3.0])
    assert np.isnan(gd.values[0])
    for method in ("fista", "nesterov"):
        found = theory(run_of(method, [1.0] * 3), None, Convex())
        assert found.values[1:] == pytest.approx([16.0 / 4.0, 16.0 / 9.0])


@pytest.mark.parametrize("method", ["gd", "nesterov"])
def test_the_library_keeps_below_its_line(method):
    run = minimize(QUADRATIC, method, tol=1e-9, progress=False)
    gap = run.trace["value"] - QUADRATIC.minimum
    line = theory(run, gap[0], QUADRATIC).values
    assert len(gap) > 5
    assert np.all(gap <= line * (1 + 1e-9) + 1e-14)


def test_a_plan_knows_the_curvatures_unless_they_are_estimates():
    exact = plan_of(L=(4.0, "bounded"), μ=(1.0, "exact"))
    found = theory(run_of("gd", [1.0, 0.5], plan=exact), 1.0)
    assert found.values == pytest.approx([1.0, 0.75**2])
    guessed = plan_of(L=(4.0, "estimated"), μ=(1.0, "exact"))
    assert theory(run_of("gd", [1.0, 0.5], plan=guessed), 1.0) is None


def test_where_the_run_ended_stands_for_an_unknown_minimizer_by_hand():
    # ‖w₀ − u‖² = 2, f(u) − f* ≤ 0.1: f fell by 0.8 of at most 0.9.
    convex = plan_of(L=(4.0, "bounded"), μ=(0.0, "exact"))
    gd = theory(run_of("gd", [1.0, 0.5, 0.2], plan=convex), 0.9)
    assert gd.values[1:] == pytest.approx([4.0 + 0.1, 2.0 + 0.1])
    assert gd.formula == "‖w₀ − u‖²/2ηt + f(u) − f*"
    fista = theory(run_of("fista", [1.0, 0.5, 0.2]), 0.9, geometry=convex.geometry)
    assert fista.values[1:] == pytest.approx([16.0 / 4.0 + 0.1, 16.0 / 9.0 + 0.1])
    assert theory(run_of("gd", [1.0, 0.5], plan=convex), None) is None


@pytest.mark.parametrize("method", ["gd", FISTA(restart=False)])
def test_a_model_with_an_intercept_keeps_below_the_line_of_its_plan(method):
    X = np.random.default_rng(0).normal(size=(40, 3))
    problem = LinearProblem(X, X @ [1.0, -2.0, 0.5] + 3.0, l2=0.01)  # μ = 0: b is free
    run = minimize(problem, method, tol=1e-6, progress=False)
    gap = run.trace["value"] - (run.value - run.certificate.gap)
    line = theory(run, gap[0], geometry=plan(problem).geometry).values
    assert len(gap) > 5
    assert np.all(gap[1:] <= line[1:])


@pytest.mark.parametrize(
    ("run", "objective"),
    [
        (run_of("gd"), None),
        (run_of("lbfgs"), QUADRATIC),
        (run_of("gd"), Rosenbrock()),  # not convex
        (run_of("gd", options={"step": 3.0 / L}), QUADRATIC),  # beyond 2/L
        (run_of("gd", options={"step": None, "search": "backtracking"}), QUADRATIC),
        (run_of("gd", options={"step": 0.1 / L, "schedule": "1/t"}), QUADRATIC),
        (run_of("nesterov", options={"momentum": 0.5}), QUADRATIC),
        (run_of("nesterov", options={"step": 0.1}), QUADRATIC),
        (run_of("fista", options={"momentum": True, "restart": True}), Convex()),
        (run_of("gd", options={"step": 0.3}), Convex()),  # above 1/L
    ],
)
def test_no_line_where_no_theorem_is_known_to_hold(run, objective):
    assert theory(run, 1.0, objective) is None
