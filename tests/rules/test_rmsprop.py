import numpy as np
import pytest

from thalweg.rules import rmsprop, rmsprop_inside, rmsprop_lagged


def test_two_steps_by_hand():
    # s = 0.25·4 = 1,          w = 1 − 0.1·2/(1 + 1)   = 0.9
    # s = 0.75·1 + 0.25·1 = 1, w = 0.9 − 0.1·1/(1 + 1) = 0.85
    w, s = rmsprop(1.0, 2.0, 0.0, 0.1, 0.75, 1.0)
    assert (w, s) == pytest.approx((0.9, 1.0), rel=1e-15)
    assert rmsprop(w, 1.0, s, 0.1, 0.75, 1.0) == pytest.approx((0.85, 1.0), rel=1e-15)


def test_two_steps_inside_the_root_by_hand():
    # s = 1, w = 1 − 0.1·2/√(1 + 3) = 0.9; s = 1, w = 0.9 − 0.1·1/√(1 + 3) = 0.85
    w, s = rmsprop_inside(1.0, 2.0, 0.0, 0.1, 0.75, 3.0)
    assert (w, s) == pytest.approx((0.9, 1.0), rel=1e-15)
    assert rmsprop_inside(w, 1.0, s, 0.1, 0.75, 3.0) == pytest.approx((0.85, 1.0), rel=1e-15)


def test_two_lagged_steps_by_hand():
    # √(0 + 0.5625) = 0.75: w = 1 − 0.1·2/0.75         = 0.733333…, s = 0.25·4 = 1
    # √(1 + 0.5625) = 1.25: w = 0.733333 − 0.1·1/1.25 = 0.653333…, s = 0.75 + 0.25 = 1
    w, s = rmsprop_lagged(1.0, 2.0, 0.0, 0.1, 0.75, 0.5625)
    assert (w, s) == pytest.approx((0.7333333333333333, 1.0), rel=1e-15)
    second = rmsprop_lagged(w, 1.0, s, 0.1, 0.75, 0.5625)
    assert second == pytest.approx((0.6533333333333333, 1.0), rel=1e-15)


@pytest.mark.parametrize("rule", [rmsprop, rmsprop_inside, rmsprop_lagged])
def test_all_kinds_agree(agree, rule):
    agree(rule, [(0.1, 0.9, 1e-2)] * 3)


def test_follows_torch(follow, torch_path):
    expected = torch_path("RMSprop", lr=0.01, alpha=0.99, eps=1e-3)
    np.testing.assert_allclose(follow(rmsprop, 0.01, 0.99, 1e-3, states=1), expected, rtol=1e-6)


def test_inside_the_root_the_same_eps_damps_more(follow, start):
    outside = follow(rmsprop, 0.01, 0.99, 1e-3, states=1)
    inside = follow(rmsprop_inside, 0.01, 0.99, 1e-3, states=1)
    first = np.abs(inside[0] - start) / np.abs(outside[0] - start)
    assert first[0] < 0.05
    assert first[-1] == pytest.approx(1, abs=1e-2)


def test_lagged_is_the_slide_literally(gradients, start, follow):
    # Lecture A: s_t from g_{t−1}, then the step with g_t; there is no gradient before the first.
    beta, lr, eps = 0.9, 0.01, 0.5
    w, s, before, path = start, 0.0, 0.0, []
    for g in gradients:
        s = beta * s + (1 - beta) * before**2
        w = w - lr * g / np.sqrt(s + eps)
        before = g
        path.append(w)
    np.testing.assert_allclose(follow(rmsprop_lagged, lr, beta, eps, states=1), path, rtol=1e-12)


def test_first_lagged_step_is_unbounded():
    g, lr, beta, eps = 5.0, 0.1, 0.99, 1e-8
    bound = lr / np.sqrt(1 - beta)
    for rule in (rmsprop, rmsprop_inside):
        assert abs(rule(0.0, g, 0.0, lr, beta, eps)[0]) <= bound
    lagged, _ = rmsprop_lagged(0.0, g, 0.0, lr, beta, eps)
    assert lagged == pytest.approx(-lr * g * 1e4)
