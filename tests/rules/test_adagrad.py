import numpy as np
import pytest

from thalweg.rules import adagrad, adagrad_inside


def test_two_steps_by_hand():
    # s = 9,  w = 1 − 0.1·3/(3 + 0.5)          = 0.914285714…
    # s = 25, w = 0.914285714 − 0.1·4/(5 + 0.5) = 0.841558441…
    w, s = adagrad(1.0, 3.0, 0.0, 0.1, 0.5)
    assert (w, s) == pytest.approx((0.9142857142857143, 9.0), rel=1e-15)
    assert adagrad(w, 4.0, s, 0.1, 0.5) == pytest.approx((0.8415584415584415, 25.0), rel=1e-15)


def test_two_steps_inside_the_root_by_hand():
    # s = 9,   w = 1 − 0.1·3/√(9 + 16)       = 0.94
    # s = 153, w = 0.94 − 0.1·12/√(153 + 16) = 0.94 − 1.2/13 = 0.847692307…
    w, s = adagrad_inside(1.0, 3.0, 0.0, 0.1, 16.0)
    assert (w, s) == pytest.approx((0.94, 9.0), rel=1e-15)
    second = adagrad_inside(w, 12.0, s, 0.1, 16.0)
    assert second == pytest.approx((0.8476923076923077, 153.0), rel=1e-15)


@pytest.mark.parametrize("rule", [adagrad, adagrad_inside])
def test_all_kinds_agree(agree, rule):
    agree(rule, [(0.1, 1e-8)] * 3)


def test_follows_torch(follow, torch_path):
    expected = torch_path("Adagrad", lr=0.1, eps=1e-3)
    np.testing.assert_allclose(follow(adagrad, 0.1, 1e-3, states=1), expected, rtol=1e-6)


def test_inside_the_root_the_same_eps_damps_more(follow, start):
    outside = follow(adagrad, 0.1, 1e-3, states=1)
    inside = follow(adagrad_inside, 0.1, 1e-3, states=1)
    # First gradients of 10⁻⁴: ε = 0.001 outside is a tenth of them away, √ε = 0.03 far more.
    first = np.abs(inside[0] - start) / np.abs(outside[0] - start)
    assert first[0] < 0.05
    assert first[-1] == pytest.approx(1, abs=1e-4)
    assert np.abs(inside - outside).max() > 0.1


def test_without_eps_every_first_step_has_the_length_of_the_rate(gradients, start):
    w, _ = adagrad(start, gradients[0], 0.0, 0.1, 0.0)
    np.testing.assert_allclose(np.abs(w - start), 0.1, rtol=1e-12)
