import numpy as np
import pytest

from thalweg.rules import heavy_ball, heavy_ball_velocity


def test_two_steps_by_hand():
    # m = 2, w = 1 − 0.1·2 = 0.8; m = 0.5·2 + 1 = 2, w = 0.8 − 0.1·2 = 0.6
    w, m = heavy_ball(1.0, 2.0, 0.0, 0.1, 0.5)
    assert (w, m) == pytest.approx((0.8, 2.0), rel=1e-15)
    assert heavy_ball(w, 1.0, m, 0.1, 0.5) == pytest.approx((0.6, 2.0), rel=1e-15)


def test_two_steps_of_the_velocity_by_hand():
    # v = −0.1·2 = −0.2, w = 0.8; v = 0.5·(−0.2) − 0.1·1 = −0.2, w = 0.6
    w, v = heavy_ball_velocity(1.0, 2.0, 0.0, 0.1, 0.5)
    assert (w, v) == pytest.approx((0.8, -0.2), rel=1e-15)
    assert heavy_ball_velocity(w, 1.0, v, 0.1, 0.5) == pytest.approx((0.6, -0.2), rel=1e-15)


@pytest.mark.parametrize("rule", [heavy_ball, heavy_ball_velocity])
def test_all_kinds_agree(agree, rule):
    agree(rule, [(0.1, 0.9)] * 3)


@pytest.mark.parametrize("rule", [heavy_ball, heavy_ball_velocity])
def test_follows_torch_at_a_constant_rate(follow, torch_path, rule):
    expected = torch_path("SGD", lr=0.03, momentum=0.9)
    np.testing.assert_allclose(follow(rule, 0.03, 0.9, states=1), expected, rtol=1e-6)


def test_forms_part_once_the_rate_changes():
    # Gradient 1, momentum 0.5, rate 1 and then 0.1. After one step both are at −1. Then the sum
    # form moves by 0.1·(0.5 + 1) = 0.15, the velocity form by 0.5·1 + 0.1·1 = 0.6.
    by_sum, m = heavy_ball(0.0, 1.0, 0.0, 1.0, 0.5)
    by_velocity, v = heavy_ball_velocity(0.0, 1.0, 0.0, 1.0, 0.5)
    assert by_sum == by_velocity == -1.0
    assert heavy_ball(by_sum, 1.0, m, 0.1, 0.5)[0] == pytest.approx(-1.15)
    assert heavy_ball_velocity(by_velocity, 1.0, v, 0.1, 0.5)[0] == pytest.approx(-1.6)


def test_effective_rate_along_a_constant_gradient():
    w, m = 0.0, 0.0
    for _ in range(300):
        last, (w, m) = w, heavy_ball(w, 1.0, m, 0.1, 0.9)
    assert last - w == pytest.approx(0.1 / (1 - 0.9))
