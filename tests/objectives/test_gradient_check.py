import math
from unittest.mock import Mock

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.objectives.function import Objective
from thalweg.objectives.surfaces import SURFACES, Rosenbrock

ROSENBROCK = Rosenbrock()
W = np.array([0.3, -0.7])


def test_check_runs_once_and_at_the_first_point():
    value = Mock(wraps=ROSENBROCK.value)
    f = Objective(value, ROSENBROCK.gradient)
    f.value(W)
    assert value.call_count == 1
    f.gradient(W)
    spent = value.call_count
    assert spent > 1 + 2 * 2
    points = [call.args[0] for call in value.call_args_list]
    np.testing.assert_allclose(points, np.tile(W, (spent, 1)), atol=1e-4)
    f.gradient(W + 1)
    f.value_and_gradient(W - 1)
    assert value.call_count == spent + 1


def test_check_waits_for_a_point_with_a_value():
    f = Objective(lambda w: np.nan if w[0] > 5 else float(w @ w), lambda w: 3 * w)
    f.gradient(np.array([6.0, 0.0]))
    with pytest.raises(InputError, match="gradient must be the gradient of value"):
        f.gradient(np.array([4.0, 0.0]))


def test_check_can_be_skipped():
    value = Mock(wraps=ROSENBROCK.value)
    f = Objective(value, lambda w: w, check_gradient=False)
    np.testing.assert_array_equal(f.gradient(W), W)
    value.assert_not_called()


def test_wrong_gradient_is_named_with_both_numbers():
    def gradient(w):
        g = ROSENBROCK.gradient(w)
        g[1] *= -1
        return g

    with pytest.raises(InputError) as caught:
        Objective(ROSENBROCK.value, gradient).gradient(np.array([0.5, 0.5]))
    message = str(caught.value)
    assert "got -50 in coordinate 1 at w[1] = 0.5, where differences of value give 50" in message
    assert "correct it, leave it out to have it approximated, or pass check_gradient=Fa" in message


@pytest.mark.parametrize("factor", [-1.0, 0.0, 0.5, 0.99, 1.01, 2.0])
def test_wrong_by_a_factor(factor):
    for name in ("beale", "himmelblau", "rosenbrock", "quadratic"):
        surface = SURFACES[name]()
        f = Objective(surface.value, lambda w, surface=surface: factor * surface.gradient(w))
        with pytest.raises(InputError, match="gradient must be the gradient of value"):
            f.gradient(surface.bounds.mean(axis=1) + 0.7)


def test_pair_is_checked_too():
    f = Objective(ROSENBROCK.value, value_and_gradient=lambda w: (ROSENBROCK.value(w), w))
    with pytest.raises(InputError, match="gradient must be the gradient of value"):
        f.value_and_gradient(W)


def test_one_wrong_coordinate_among_many_is_found():
    def gradient(w):
        g = 2 * w
        g[777] = -50.0
        return g

    f = Objective(lambda w: float(w @ w), gradient)
    with pytest.raises(InputError, match="got -50 in coordinate 777"):
        f.gradient(np.linspace(-1, 1, 2000))


HONEST = {
    "badly scaled": (
        lambda w: 1e10 * w[0] ** 2 + 1e-6 * w[1] ** 2,
        lambda w: np.array([2e10 * w[0], 2e-6 * w[1]]),
        [0.3, 0.2],
    ),
    "large offset": (lambda w: 1e8 + w[0], lambda w: np.ones(1), [1.0]),
    "high power": (lambda w: w[0] ** 10, lambda w: 10 * w**9, [100.0]),
    "fast": (
        lambda w: math.sin(1e6 * w[0]),
        lambda w: np.array([1e6 * math.cos(1e6 * w[0])]),
        [0.3],
    ),
    "single precision inside": (
        lambda w: float(np.sum(w.astype(np.float32) ** 2)),
        lambda w: 2 * w.astype(np.float32),
        [1.234, 1e-3, -700.0],
    ),
    "near an edge": (lambda w: -math.log(w[0]), lambda w: -1 / w, [1e-9]),
    "kink, one side": (lambda w: max(0.0, w[0]), lambda w: np.zeros(1), [0.0]),
    "kink, between": (lambda w: abs(w[0]) + w[0], lambda w: np.array([0.3]), [0.0]),
    "rounding at a minimum": (
        lambda w: math.cosh(1e3 * w[0]),
        lambda w: np.array([1e3 * math.sinh(1e3 * w[0])]),
        [0.0],
    ),
}


@pytest.mark.parametrize("case", HONEST)
def test_honest_gradients_pass(case):
    value, gradient, w = HONEST[case]
    np.testing.assert_array_equal(
        Objective(value, gradient).gradient(np.array(w)), gradient(np.array(w))
    )


def test_a_slope_outside_a_kink_does_not_pass():
    with pytest.raises(InputError, match=r"got 3 in coordinate 0 .* give 0:"):
        Objective(lambda w: abs(w[0]), lambda w: np.array([3.0])).gradient(np.zeros(1))


def test_differences_of_one_s_own_pass():
    def forward(w):
        h = 1e-7
        return [(ROSENBROCK.value(w + h * e) - ROSENBROCK.value(w)) / h for e in np.eye(2)]

    assert Objective(ROSENBROCK.value, forward).gradient(W).shape == (2,)
