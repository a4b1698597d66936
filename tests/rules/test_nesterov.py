import numpy as np
import pytest

from thalweg.rules import nesterov


def look_ahead_path(gradient, theta, lr, alpha, ahead, steps):
    """The slide's form: θ after each step, with the gradient taken at θ + ahead·v."""
    v, path = 0.0 * theta, []
    for _ in range(steps):
        v = alpha * v - lr * gradient(theta + ahead * v)
        theta = theta + v
        path.append(theta)
    return np.array(path)


def test_two_steps_by_hand():
    # m = 2, w = 1 − 0.1·(2 + 0.5·2) = 0.7; m = 0.5·2 + 1 = 2, w = 0.7 − 0.1·(1 + 0.5·2) = 0.5
    w, m = nesterov(1.0, 2.0, 0.0, 0.1, 0.5)
    assert (w, m) == pytest.approx((0.7, 2.0), rel=1e-15)
    assert nesterov(w, 1.0, m, 0.1, 0.5) == pytest.approx((0.5, 2.0), rel=1e-15)


def test_all_kinds_agree(agree):
    agree(nesterov, [(0.1, 0.9)] * 3)


def test_follows_torch(follow, torch_path):
    expected = torch_path("SGD", lr=0.03, momentum=0.9, nesterov=True)
    np.testing.assert_allclose(follow(nesterov, 0.03, 0.9, states=1), expected, rtol=1e-6)


def test_is_the_look_ahead_of_the_slides_code_shifted():
    def gradient(w):
        return w**3 + 2 * w

    lr, beta = 0.05, 0.8
    w, m, unshifted = 1.5, 0.0, []
    for _ in range(40):
        w, m = nesterov(w, gradient(w), m, lr, beta)
        unshifted.append(w + lr * beta * m)
    code = look_ahead_path(gradient, 1.5, lr, beta, ahead=beta, steps=40)
    text = look_ahead_path(gradient, 1.5, lr, beta, ahead=1.0, steps=40)
    np.testing.assert_allclose(unshifted, code, rtol=1e-12, atol=1e-14)
    assert np.abs(code - text).max() > 0.01


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("used", [0.99, 1.01])
def test_stable_steps_end_where_the_table_says(alpha, used):
    limits = {
        0.0: 2 * (1 + alpha),
        alpha: 2 * (1 + alpha) / (1 + 2 * alpha),
        1.0: 2 * (1 + alpha) / 3,
    }
    for ahead, limit in limits.items():
        path = look_ahead_path(lambda w: w, 1.0, used * limit, alpha, ahead, steps=3000)
        assert (abs(path[-1]) > 1) == (used > 1)


def test_text_damps_oscillations_more_than_the_code():
    # h = 0.1, α = 0.9: the iterates shrink by √(α − ch) per step.
    for ahead in (0.9, 1.0):
        path = np.abs(look_ahead_path(lambda w: w, 1.0, 0.1, 0.9, ahead, steps=2000))
        early, late = path[:200], path[1800:]
        shrunk = (late.max() / early.max()) ** (1 / (1800 + late.argmax() - early.argmax()))
        assert shrunk == pytest.approx(np.sqrt(0.9 - 0.1 * ahead), rel=1e-3)
