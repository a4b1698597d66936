import numpy as np
import pytest

from thalweg.objectives.differences import (
    EPS,
    STEP,
    central,
    difference_gradient,
    double,
    moves,
    reach,
    scales,
)


def test_central_difference_by_hand():
    # w² at 3 with t = ½ along 1: (3.5² − 2.5²)/1 = 6, exact for a parabola.
    assert central(lambda w: float(w @ w), np.array([3.0]), np.array([1.0]), 0.5) == 6.0


def test_steps_are_measured_by_the_coordinate():
    w = np.array([0.0, -20.0])
    np.testing.assert_array_equal(scales(w), [1.0, 20.0])
    assert reach(w, np.array([3.0, 40.0])) == 3.0
    (up, down), _ = moves(w, 0.1 * scales(w))
    np.testing.assert_array_equal(up - w, [0.1, 0.0])
    np.testing.assert_array_equal(w - down, [0.1, 0.0])
    assert double(np.ones(1, dtype=np.float32)).dtype == np.float64


def test_gradient_is_exact_for_parabolas_and_errs_like_the_square_of_the_step():
    w = np.array([1.5, -0.5, 2.0])
    np.testing.assert_allclose(
        difference_gradient(lambda w: float(w @ w), w, STEP), 2 * w, rtol=100 * EPS / STEP
    )
    errors = [
        np.max(np.abs(difference_gradient(lambda w: float(np.sum(w**3)), w, h) - 3 * w**2))
        for h in (1e-2, 1e-3)
    ]
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.01)


def test_the_step_balances_truncation_and_rounding():
    def error(h):
        (slope,) = difference_gradient(lambda w: float(np.exp(w[0])), np.ones(1), h)
        return abs(float(slope) - np.e)

    assert error(STEP) < 1e-9
    assert error(STEP) < error(1e3 * STEP)
    assert error(STEP) < error(1e-4 * STEP)
