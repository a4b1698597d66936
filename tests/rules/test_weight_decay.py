import numpy as np
import pytest

from thalweg.rules import adam, plain_step, weight_decay


def test_two_steps_by_hand():
    # 1 − 0.1·0.5·1 = 0.95; 0.95·0.95 = 0.9025
    w = weight_decay(1.0, 0.1, 0.5)
    assert w == pytest.approx(0.95, rel=1e-15)
    assert weight_decay(w, 0.1, 0.5) == pytest.approx(0.9025, rel=1e-15)


def test_all_kinds_agree(agree):
    agree(weight_decay, [(0.1, 0.5)] * 3)


def test_with_the_plain_step_it_is_the_lectures_penalty(gradients, start):
    # Lecture A: w − η(∇L + 2λw), the gradient step on L + λ‖w‖².
    lr, penalty, g = 0.1, 0.3, gradients[0]
    decoupled = plain_step(weight_decay(start, lr, 2 * penalty), g, lr)
    np.testing.assert_allclose(decoupled, start - lr * (g + 2 * penalty * start), rtol=1e-14)


def decayed_adam(gradients, w, lr, decay):
    m = v = np.zeros_like(w)
    path = []
    for t, g in enumerate(gradients, 1):
        w = weight_decay(w, lr, decay)
        w, m, v = adam(w, g, m, v, t, lr, 0.9, 0.999, 1e-3)
        path.append(w)
    return np.array(path)


def test_with_adam_it_is_adamw(gradients, start, torch_path):
    expected = torch_path("AdamW", lr=0.01, eps=1e-3, weight_decay=0.1)
    got = decayed_adam(gradients, start, 0.01, 0.1)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_with_adam_it_is_not_the_penalty_in_the_gradient(gradients, start, torch_path):
    coupled = torch_path("Adam", lr=0.01, eps=1e-3, weight_decay=0.1)
    assert np.abs(decayed_adam(gradients, start, 0.01, 0.1) - coupled).max() > 0.1
