import numpy as np
import pytest

import thalweg as tw
from stepping import SLOPE, follow, times
from thalweg import rules
from thalweg.methods.schedule import scheduled

W0 = np.array([-1.5, 2.0])


def test_one_step_by_hand():
    # β = ¾: s = ¼g², √s = |g|/2, so every coordinate moves by 2·lr.
    surface = tw.surfaces.Quadratic((1.0, 4.0))
    after = follow(tw.RMSProp(lr=0.5, beta=0.75, eps=1e-300), surface, [3.0, -1.0], 1)[1]
    np.testing.assert_array_equal(after.w, [2.0, 0.0])
    np.testing.assert_array_equal(after.s, [2.25, 4.0])


@pytest.mark.parametrize("schedule", ["constant", "1/t", "1/√t"])
@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({}, rules.rmsprop),
        ({"eps_inside": True}, rules.rmsprop_inside),
        ({"lagged": True}, rules.rmsprop_lagged),
    ],
)
def test_equals_the_rule_step_for_step(options, rule, schedule):
    surface = tw.surfaces.Rosenbrock()
    method = tw.RMSProp(lr=0.01, beta=0.9, eps=0.1, schedule=schedule, **options)
    states = follow(method, surface, W0, 30)
    w, s = W0, np.zeros(2)
    for t in range(1, 31):
        w, s = rule(w, surface.gradient(w), s, scheduled(0.01, schedule, t), 0.9, 0.1)
        np.testing.assert_allclose(states[t].w, w, rtol=1e-9)
        np.testing.assert_allclose(states[t].s, s, rtol=1e-9)


def test_lagged_divides_the_first_step_by_the_root_of_eps_alone():
    after = follow(tw.RMSProp(lr=0.01, eps=1e-4, lagged=True), SLOPE, [0.0, 0.0], 1)[1]
    np.testing.assert_allclose(after.w, [-0.01 * 5.0 / 1e-2, 0.01 * 0.1 / 1e-2], rtol=1e-12)


def test_along_a_constant_slope_the_step_does_not_shrink_to_nothing():
    # s = (1 − βᵗ)g²: the step falls from lr/√(1 − β) to lr and stays.
    states = follow(tw.RMSProp(lr=0.01, beta=0.9, eps=1e-300), SLOPE, [0.0, 0.0], 300)
    lengths = np.abs(np.diff([state.w for state in states], axis=0))
    expected = 0.01 / np.sqrt(1 - 0.9 ** np.arange(1, 301))
    np.testing.assert_allclose(lengths, np.stack([expected, expected], axis=1), rtol=1e-8)
    np.testing.assert_allclose(lengths[-1], 0.01, rtol=1e-8)


def test_the_scale_of_f_does_not_matter_without_eps():
    surface = tw.surfaces.Rosenbrock()
    plain, scaled = (
        follow(tw.RMSProp(eps=1e-300), objective, W0, 100)[-1]
        for objective in (surface, times(1000.0, surface))
    )
    np.testing.assert_allclose(scaled.w, plain.w, rtol=1e-9)


def test_the_minimum_is_a_fixed_point():
    start, after = follow(tw.RMSProp(), tw.surfaces.Rosenbrock(), [1.0, 1.0], 1)
    np.testing.assert_array_equal(after.w, start.w)


def test_a_constant_rate_circles_the_minimum_and_a_schedule_reaches_it():
    surface = tw.surfaces.Quadratic((1.0, 100.0), rotation=0.7)
    circling, ending = (
        follow(tw.RMSProp(lr=0.1, beta=0.9, schedule=schedule), surface, W0, 3000)
        for schedule in ("constant", "1/√t")
    )
    assert min(np.linalg.norm(state.w) for state in circling[-100:]) > 1e-3
    assert max(np.linalg.norm(state.w) for state in ending[-100:]) < 1e-2
