import numpy as np
import pytest

import thalweg as tw
from stepping import SLOPE, follow, times
from thalweg import rules
from thalweg.methods.schedule import scheduled

W0 = np.array([-1.5, 2.0])


def test_one_step_by_hand():
    # g = (3, 4·(−1)): s = g², so without ε every coordinate moves by lr, whatever its slope.
    surface = tw.surfaces.Quadratic((1.0, 4.0))
    after = follow(tw.AdaGrad(lr=0.5, eps=1e-300), surface, [3.0, -1.0], 1)[1]
    np.testing.assert_array_equal(after.w, [2.5, -0.5])
    np.testing.assert_array_equal(after.s, [9.0, 16.0])


@pytest.mark.parametrize("schedule", ["constant", "1/t", "1/√t"])
@pytest.mark.parametrize("inside", [False, True])
def test_equals_the_rule_step_for_step(inside, schedule):
    surface = tw.surfaces.Rosenbrock()
    method = tw.AdaGrad(lr=0.2, eps=0.1, eps_inside=inside, schedule=schedule)
    rule = rules.adagrad_inside if inside else rules.adagrad
    states = follow(method, surface, W0, 30)
    w, s = W0, np.zeros(2)
    for t in range(1, 31):
        w, s = rule(w, surface.gradient(w), s, scheduled(0.2, schedule, t), 0.1)
        np.testing.assert_allclose(states[t].w, w, rtol=1e-11)
        np.testing.assert_allclose(states[t].s, s, rtol=1e-11)


def test_along_a_constant_slope_the_step_shrinks_like_one_over_root_t():
    states = follow(tw.AdaGrad(lr=0.5, eps=1e-300), SLOPE, [0.0, 0.0], 50)
    lengths = np.abs(np.diff([state.w for state in states], axis=0))
    expected = 0.5 / np.sqrt(np.arange(1, 51))
    np.testing.assert_allclose(lengths, np.stack([expected, expected], axis=1), rtol=1e-9)


def test_the_scale_of_f_does_not_matter_without_eps():
    surface = tw.surfaces.Rosenbrock()
    plain, scaled = (
        follow(tw.AdaGrad(eps=1e-300), objective, W0, 100)[-1]
        for objective in (surface, times(1000.0, surface))
    )
    np.testing.assert_allclose(scaled.w, plain.w, rtol=1e-9)


def test_the_sum_never_falls():
    states = follow(tw.AdaGrad(), tw.surfaces.Rosenbrock(), W0, 100)
    assert np.all(np.diff([state.s for state in states], axis=0) >= 0)


def test_the_minimum_is_a_fixed_point():
    start, after = follow(tw.AdaGrad(), tw.surfaces.Rosenbrock(), [1.0, 1.0], 1)
    np.testing.assert_array_equal(after.w, start.w)


def test_converges_on_a_badly_scaled_bowl_as_fast_as_on_a_round_one():
    # With the identity as Q, the method sees each coordinate alone, in its own units.
    runs = [
        tw.minimize(tw.surfaces.Quadratic(curvatures), tw.AdaGrad(eps=1e-300), [1.0, 1.0], tol=1e-8)
        for curvatures in ((1.0, 1.0), (1.0, 1e6))
    ]
    assert all(run.outcome is tw.Outcome.CONVERGED for run in runs)
    assert runs[1].iterations <= runs[0].iterations
