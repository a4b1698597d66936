import itertools

import numpy as np
import pytest

import thalweg as tw
from stepping import follow
from thalweg import rules
from thalweg.methods.schedule import scheduled
from thalweg.theory import heavy_ball as theory

W0 = np.array([-1.5, 2.0])


def test_two_steps_by_hand():
    # f = ½w², so g = w. m₁ = 8, w₁ = 8 − 4 = 4;  m₂ = ½·8 + 4 = 8, w₂ = 4 − 4 = 0.
    method = tw.HeavyBall(step=0.5, momentum=0.5)
    states = follow(method, tw.surfaces.Quadratic((1.0,)), [8.0], 2)
    assert [state.w[0] for state in states] == [8.0, 4.0, 0.0]
    assert [state.m[0] for state in states] == [0.0, 8.0, 8.0]


@pytest.mark.parametrize("schedule", ["constant", "1/t", "1/√t"])
def test_equals_the_rule_step_for_step(schedule):
    surface = tw.surfaces.Rosenbrock()
    states = follow(tw.HeavyBall(step=1e-4, momentum=0.9, schedule=schedule), surface, W0, 50)
    w, m = W0, np.zeros(2)
    for t in range(1, 51):
        w, m = rules.heavy_ball(w, surface.gradient(w), m, scheduled(1e-4, schedule, t), 0.9)
        np.testing.assert_allclose(states[t].w, w, rtol=1e-12)
        np.testing.assert_allclose(states[t].m, m, rtol=1e-12)


def test_no_momentum_is_gradient_descent():
    surface = tw.surfaces.Rosenbrock()
    ball = follow(tw.HeavyBall(step=1e-3, momentum=0.0), surface, W0, 30)[-1]
    plain = follow(tw.GD(step=1e-3), surface, W0, 30)[-1]
    np.testing.assert_allclose(ball.w, plain.w, rtol=1e-13)


def test_the_best_pair_gives_the_predicted_rate():
    surface = tw.surfaces.Quadratic.conditioned(100.0, dim=6, rotation="random")
    curvatures = {"smoothness": 1.0, "strong_convexity": 0.01}
    states = follow(tw.HeavyBall(), surface, surface.start, 400)
    assert states[-1].step == theory.optimal_step(**curvatures)
    assert states[-1].beta == theory.optimal_momentum(**curvatures)
    half, whole = (float(np.linalg.norm(states[t].w)) for t in (200, 400))
    # The factor that grows like T adds 2^(1/200) = 1.0035 here.
    assert (whole / half) ** (1 / 200) == pytest.approx(theory.rate(**curvatures), rel=0.005)


def test_what_is_not_known_is_chosen_by_habit():
    surface = tw.surfaces.Quadratic((1.0, 4.0))
    assert follow(tw.HeavyBall(momentum=0.5), surface, [1.0, 1.0], 1)[-1].step == 0.25
    flat = tw.surfaces.Quadratic((0.0, 4.0))  # μ = 0: no best pair
    last = follow(tw.HeavyBall(), flat, [1.0, 1.0], 1)[-1]
    assert (last.step, last.beta) == (0.25, 0.9)


def test_much_faster_than_gradient_descent_when_ill_conditioned():
    surface = tw.surfaces.Quadratic.conditioned(1e3, dim=5, rotation="random")
    ball, plain = (tw.minimize(surface, name, max_iter=50_000) for name in ("heavy-ball", "gd"))
    assert ball.outcome is plain.outcome is tw.Outcome.CONVERGED
    assert 10 * ball.iterations < plain.iterations  # √κ against κ


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("used", [0.99, 1.01])
def test_the_stability_limit_is_where_the_ball_leaves(momentum, used):
    surface = tw.surfaces.Quadratic((1.0, 10.0))
    step = used * 2 * (1 + momentum) / 10.0
    method = tw.HeavyBall(step=step, momentum=momentum)
    states = follow(method, surface, [1.0, 1.0], 3000)
    formula, limit, in_use = method.stability(states[-1], surface.smoothness)
    assert formula == "2(1+β)/L"
    assert in_use == step
    assert (states[-1].value > states[0].value) == (in_use > limit)


def test_the_best_pair_is_inside_its_own_limit():
    surface = tw.surfaces.Quadratic.conditioned(1e6)
    _, limit, in_use = tw.HeavyBall().stability(
        follow(tw.HeavyBall(), surface, surface.start, 1)[-1], surface.smoothness
    )
    assert 0.999 * limit < in_use < limit


def test_the_searched_step_satisfies_the_lemma_where_it_was_searched():
    surface = tw.surfaces.Rosenbrock()
    states = follow(tw.HeavyBall(), surface, W0, 200)
    for before, after in itertools.pairwise(states):
        g, step = before.gradient, after.step
        assert surface.value(before.w - step * g) <= before.value - 0.5 * step * (g @ g)


def test_a_step_that_grows_leaves_the_velocity_alone():
    # On Σw⁴ the searched step grows without limit. A memory multiplied by the newest step diverges.
    objective = tw.Objective(lambda w: np.sum(w**4), lambda w: 4 * w**3, dim=2)
    states = follow(tw.HeavyBall(), objective, [1.0, 2.0], 100)
    for before, now, after in zip(states, states[1:], states[2:], strict=False):
        velocity = 0.9 * (now.w - before.w) - after.step * now.gradient
        np.testing.assert_allclose(after.w - now.w, velocity, rtol=1e-9, atol=1e-12)
    run = tw.minimize(objective, "heavy-ball", [1.0, 2.0])
    assert run.outcome is tw.Outcome.CONVERGED


def test_a_ball_at_rest_in_the_minimum_stays():
    surface = tw.surfaces.Quadratic((1.0, 10.0), center=(3.0, 4.0))
    start, after = follow(tw.HeavyBall(), surface, [3.0, 4.0], 1)
    np.testing.assert_array_equal(after.w, start.w)


def test_reaches_the_end_of_a_curved_valley():
    run = tw.minimize(tw.surfaces.Rosenbrock(), "heavy-ball", W0)
    assert run.outcome is tw.Outcome.CONVERGED
    np.testing.assert_allclose(run.w, [1.0, 1.0], atol=0.01)


@pytest.mark.parametrize("start", [[30.0, -1.0], [0.1, 500.0]])
def test_a_searched_step_settles_where_curvature_varies(start):
    # log cosh: straight far out, curved at 0. A step that grows on the slope is too long there.
    objective = tw.Objective(lambda w: np.sum(np.logaddexp(w, -w)), np.tanh, dim=2)
    run = tw.minimize(objective, "heavy-ball", start)
    assert run.outcome is tw.Outcome.CONVERGED
    assert run.iterations < 500


def test_a_searched_step_does_not_throw_the_ball_out_of_both_wells():
    run = tw.minimize(tw.surfaces.DoubleWell(), "heavy-ball")
    assert run.outcome is tw.Outcome.CONVERGED
    assert run.trace["value"].max() == run.trace["value"][0]
