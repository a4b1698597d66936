"""Coordinate descent on a quadratic with l1, against its optimality conditions."""

import numpy as np
import pytest

from thalweg.kernels import quadratic


def descend_quadratic(H, s, thresholds, w, tight, most):
    """The kernel without bounds."""
    low, high = np.full(w.size, -np.inf), np.full(w.size, np.inf)
    return quadratic.descend_quadratic(H, s, thresholds, low, high, w, tight, most)


def problem(p=6, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2 * p, p))
    return A.T @ A / (2 * p), rng.standard_normal(p), rng.standard_normal(p)


def test_one_coordinate_by_hand():
    # ½·4d² − 3d + |1 + d|: at d ≥ −1 the minimum is where 4d − 3 + 1 = 0.
    w, s = np.array([1.0]), np.array([-3.0])
    sweeps = descend_quadratic(np.array([[4.0]]), s, np.array([1.0]), w, 1e-12, 10)
    assert w[0] == pytest.approx(1.5)
    assert s[0] == pytest.approx(-1.0), "the slope there is minus the threshold"
    assert sweeps <= 2


@pytest.mark.parametrize("seed", range(10))
def test_the_end_is_optimal(seed):
    H, g, w0 = problem(seed=seed)
    thresholds = np.array([0.3, 0.3, 0.3, 0.0, 5.0, 0.3])
    w, s = w0.copy(), g.copy()
    descend_quadratic(H, s, thresholds, w, 1e-13, 10_000)
    np.testing.assert_allclose(s, g + H @ (w - w0), atol=1e-10)
    zero = w == 0.0
    assert zero[4]
    assert (np.abs(s[zero]) <= thresholds[zero] + 1e-10).all()
    np.testing.assert_allclose(s[~zero], -thresholds[~zero] * np.sign(w[~zero]), atol=1e-10)


def test_without_thresholds_it_solves_the_equations():
    H, g, w0 = problem()
    w, s = w0.copy(), g.copy()
    descend_quadratic(H, s, np.zeros(6), w, 1e-14, 100_000)
    np.testing.assert_allclose(w, w0 - np.linalg.solve(H, g), rtol=1e-8)


def test_a_direction_without_curvature_is_left_alone():
    w, s = np.array([1.0, 1.0]), np.array([2.0, 2.0])
    descend_quadratic(np.diag([0.0, 1.0]), s, np.zeros(2), w, 1e-12, 5)
    assert w.tolist() == [1.0, -1.0]


def test_it_stops_after_the_sweeps_it_is_given():
    H, g, w = problem(p=30)
    assert descend_quadratic(H, g, np.full(30, 0.01), w, 0.0, 3) == 3
