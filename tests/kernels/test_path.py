"""Sweeps along a path: one step by hand, the gap against its definition, a fixed point, the end."""

import numpy as np
import pytest
import scipy.optimize

from thalweg.kernels.path import descend_along, quadratic_gap, slopes_at


def quadratic(seed=0, n=30, p=6):
    """Data, and their H, q, s in variables in which H has ones on its diagonal, with d."""
    rng = np.random.default_rng(seed)
    A, y = rng.standard_normal((n, p)) / n**0.5, rng.standard_normal(n)
    lengths = np.sqrt(np.sum(A**2, axis=0))
    B = A / lengths
    return B, y, B.T @ B, B.T @ y, float(y @ y), 1.0 / lengths


def along(H, q, s, d, l1s, l2s, goal, low=-np.inf):
    """The rows that the kernel leaves, and where the points began."""
    x, g = np.zeros(q.size), -q
    X, starts = np.zeros((len(l1s), q.size)), np.full((len(l1s), 2), np.nan)
    came = descend_along(
        H, q, s, d, np.array(l1s), np.array(l2s), low, goal, 0, len(l1s), x, g, X, starts
    )
    return came, X, starts


def test_one_variable_by_hand():
    # ½x² − 3x + |x| + ¼x²: x = (3 − 1)/(1 + ½)
    came, X, starts = along(np.ones((1, 1)), np.array([3.0]), 9.0, np.ones(1), [1.0], [0.5], 1e-12)
    assert came == 1
    np.testing.assert_allclose(X, [[2.0 / 1.5]])
    np.testing.assert_allclose(starts[0, 0], 4.5)


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_the_gap_is_the_value_less_a_dual_value_of_the_residuals(l2):
    B, y, H, q, s, d = quadratic()
    rng = np.random.default_rng(1)
    x, l1 = 0.3 * rng.standard_normal(q.size), 0.05
    value, gap = quadratic_gap(q, s, d, l1, l2, -np.inf, x, H @ x - q)
    w = d * x
    residual, by_w = B @ x - y, (B / d).T @ (B @ x - y)
    np.testing.assert_allclose(
        value, 0.5 * residual @ residual + l1 * np.abs(w).sum() + 0.5 * l2 * w @ w
    )
    # Of all multiples of the residuals the kernel looks at one or two: none has a smaller gap.
    values = []
    for t in np.linspace(0.0, min(4.0, l1 / np.abs(by_w).max()) if l2 == 0.0 else 1.0, 20_001):
        theta = t * residual
        over = np.maximum(np.abs(t * by_w) - l1, 0.0)
        dual = -0.5 * theta @ theta - theta @ y - (over @ over / (2 * l2) if l2 else 0.0)
        values.append(dual)
    if l2 == 0.0:
        np.testing.assert_allclose(gap, value - max(values), rtol=1e-6)
    else:
        assert value - max(values) <= gap * (1 + 1e-9)


def test_positive_points_are_those_of_nnls():
    """½‖Bx − y‖² + l1·d·x over x ≥ 0 is a least-squares problem of its own, by Cholesky factors."""
    _, _, H, q, s, d = quadratic()
    l1s = [0.3, 0.1, 0.02]
    came, X, _ = along(H, q, s, d, l1s, [0.0] * 3, 1e-14, low=0.0)
    assert came == 3
    L = np.linalg.cholesky(H)
    for x, l1 in zip(X, l1s, strict=True):
        best, _ = scipy.optimize.nnls(L.T, np.linalg.solve(L, q - l1 * d))
        np.testing.assert_allclose(x, best, atol=1e-6)
        value, gap = quadratic_gap(q, s, d, l1, 0.0, 0.0, best, H @ best - q)
        assert abs(gap) <= 1e-12 * s
        assert value <= 0.5 * s


def test_slopes_are_computed_anew():
    _, _, H, q, _, _ = quadratic()
    x, g = np.arange(6.0), np.full(6, np.nan)
    slopes_at(H, q, x, g)
    np.testing.assert_allclose(g, H @ x - q)


def test_every_point_fulfils_its_conditions_and_a_second_look_changes_nothing():
    _, _, H, q, s, d = quadratic()
    l1s, l2s = [0.5, 0.1, 0.01, 0.01], [0.0, 0.2, 0.0, 0.0]
    came, X, starts = along(H, q, s, d, l1s, l2s, 1e-14)
    assert came == 4
    for x, l1, l2 in zip(X, l1s, l2s, strict=True):
        slopes = H @ x - q + l2 * d**2 * x
        at_zero = x == 0.0
        assert np.all(np.abs(slopes[at_zero]) <= l1 * d[at_zero] * (1 + 1e-6))
        np.testing.assert_allclose(slopes[~at_zero], -l1 * (d * np.sign(x))[~at_zero], rtol=1e-6)
    np.testing.assert_array_equal(X[3], X[2])
    assert starts[3, 1] <= 1e-14


def test_a_point_that_takes_longer_than_a_system_is_left_to_one():
    # Two features that are nearly alike: a sweep gains next to nothing.
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 1)) + 1e-5 * rng.standard_normal((5, 2))
    A /= np.sqrt(np.sum(A**2, axis=0))
    y = rng.standard_normal(5)
    came, _, _ = along(A.T @ A, A.T @ y, float(y @ y), np.ones(2), [1e-9], [0.0], 1e-6)
    assert came == 0
