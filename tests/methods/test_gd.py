import itertools

import numpy as np
import pytest

import thalweg as tw
from stepping import follow
from thalweg.theory.gradient_descent import value_bound

W0 = np.array([-1.5, 2.0])


def without_constants(surface):
    """The same function, stating neither L nor μ."""
    return tw.Objective(
        surface.value, surface.gradient, surface.hessian_vector, dim=surface.dim,
        check_gradient=False,
    )  # fmt: skip


def test_one_step_by_hand():
    # ∇f = (1·3, 10·(−1)) at (3, −1)
    surface = tw.surfaces.Quadratic((1.0, 10.0))
    after = follow(tw.GD(step=0.01), surface, [3.0, -1.0], 1)[1]
    np.testing.assert_allclose(after.w, [3.0 - 0.03, -1.0 + 0.1], rtol=1e-15)
    assert after.value == surface.value(after.w)
    np.testing.assert_array_equal(after.gradient, surface.gradient(after.w))


def test_the_step_is_one_over_l_where_it_is_known():
    surface = tw.surfaces.Quadratic((1.0, 10.0))
    after = follow(tw.GD(), surface, [3.0, -1.0], 1)[1]
    assert after.step == 0.1
    np.testing.assert_allclose(after.w, [2.7, 0.0], atol=1e-15)


@pytest.mark.parametrize(
    ("schedule", "step_at"),
    [("constant", lambda t: 1e-3), ("1/t", lambda t: 1e-3 / t), ("1/√t", lambda t: 1e-3 / t**0.5)],
)
def test_schedules_give_the_steps_they_say(schedule, step_at):
    states = follow(tw.GD(step=1e-3, schedule=schedule), tw.surfaces.Rosenbrock(), W0, 20)
    for t in range(1, 21):
        before, after = states[t - 1], states[t]
        np.testing.assert_array_equal(after.w, before.w - step_at(t) * before.gradient)


@pytest.mark.parametrize(
    "objective",
    [
        tw.surfaces.Quadratic.conditioned(100.0, dim=5, rotation="random"),
        without_constants(tw.surfaces.Quadratic.conditioned(100.0, dim=5, rotation="random")),
        tw.surfaces.Rosenbrock(dim=5),
        tw.surfaces.StyblinskiTang(dim=5),
    ],
)
def test_the_descent_lemma_holds_at_every_step(objective):
    states = follow(tw.GD(), objective, np.array([-1.5, 2.0, 0.5, -0.5, 1.0]), 300)
    for before, after in itertools.pairwise(states):
        squared = before.gradient @ before.gradient
        rounding = 1e-14 * abs(before.value)
        assert after.value <= before.value - 0.5 * after.step * squared + rounding


def test_the_value_bound_holds_at_every_step():
    # 1/κ so small that the bound, not strong convexity, is what is left.
    surface = tw.surfaces.Quadratic.conditioned(1e6, dim=8, rotation="random")
    states = follow(tw.GD(), surface, surface.start, 500)
    distance = float(np.linalg.norm(surface.start))
    T = np.arange(1, 501)
    gaps = np.array([state.value for state in states[1:]])
    assert np.all(gaps <= value_bound(distance, step=1.0, iterations=T))


def test_search_descends_monotonically_in_a_curved_valley():
    run = tw.minimize(tw.surfaces.Rosenbrock(), "gd", W0, max_iter=2000)
    assert np.all(np.diff(run.trace["value"]) < 0)
    assert run.value < 1e-2


def test_the_searched_step_grows_where_the_surface_is_flat():
    # f = Σw⁴: curvature falls as w → 0, and 1/L at the start would be far too short at the end.
    objective = tw.Objective(lambda w: np.sum(w**4), lambda w: 4 * w**3, dim=2)
    states = follow(tw.GD(), objective, [1.0, 2.0], 15)
    assert states[-1].step > 100 * states[1].step


@pytest.mark.parametrize("used", [0.99, 1.01])
def test_the_stability_limit_is_where_descent_diverges(used):
    surface = tw.surfaces.Quadratic((1.0, 10.0))
    method = tw.GD(step=used * 0.2)
    states = follow(method, surface, [1.0, 1.0], 1000)
    formula, limit, step = method.stability(states[-1], surface.smoothness)
    assert (formula, limit, step) == ("2/L", 0.2, used * 0.2)
    assert (states[-1].value > states[0].value) == (step > limit)


def test_a_step_beyond_the_limit_is_named_as_the_cause():
    run = tw.minimize(tw.surfaces.Quadratic((1.0, 10.0)), tw.GD(step=0.3), [1.0, 1.0])
    assert run.outcome is tw.Outcome.DIVERGED
    assert "The step 0.3 is above the stability limit 2/L = 0.2" in run.reason


@pytest.mark.parametrize("method", [tw.GD(), tw.GD(step=0.1)])
def test_the_minimum_is_a_fixed_point(method):
    surface = tw.surfaces.Quadratic((1.0, 10.0), center=(3.0, 4.0))
    for objective in (surface, without_constants(surface)):
        start, after = follow(method, objective, [3.0, 4.0], 1)
        np.testing.assert_array_equal(after.w, start.w)


@pytest.mark.parametrize("f_scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("w_scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_search_works_in_any_units(f_scale, w_scale, dtype):
    # f(w) = a·q(w/b): the search must not depend on what a and b are.
    surface = tw.surfaces.Quadratic((1.0, 10.0))
    objective = tw.Objective(
        lambda w: f_scale * surface.value(w / w_scale),
        lambda w: f_scale / w_scale * surface.gradient(w / w_scale),
        dim=2, check_gradient=False,
    )  # fmt: skip
    w0 = (w_scale * np.array([1.0, 1.0])).astype(dtype)
    states = follow(tw.GD(), objective, w0, 150)
    assert states[-1].value < 1e-6 * states[0].value
