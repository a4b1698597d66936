import math

import numpy as np
import pytest

from thalweg.kernels import small
from thalweg.kernels.losses import (
    HUBER,
    LOGISTIC,
    LOSSES,
    SQUARED,
    SQUARED_HINGE,
    loss_curvature,
    loss_slope,
    loss_value,
)

N, P, DELTA, L2 = 37, 4, 0.8, 0.02
ONE_SCORE = {name: code for name, code in LOSSES.items() if name != "multinomial"}


def data(code, n=N):
    rng = np.random.default_rng(code)
    A = np.column_stack([rng.standard_normal((n, P)) * [1.0, 30.0, 0.1, 1.0], np.ones(n)])
    y = A @ [1.0, 0.02, 5.0, 0.0, 0.3] + rng.standard_normal(n)
    c = rng.random(n)
    c[3] = 0.0
    return A, np.sign(y) if code in (LOGISTIC, SQUARED_HINGE) else y, c / c.sum()


def slowly(code, A, y, c, w):
    """F, ∇F and ∇²F, term by term."""
    z, held = A @ w, np.append(np.ones(P), 0.0)
    value = math.fsum(c[i] * loss_value(code, z[i], y[i], DELTA) for i in range(len(y)))
    g = sum(c[i] * loss_slope(code, z[i], y[i], DELTA) * A[i] for i in range(len(y)))
    H = sum(
        c[i] * loss_curvature(code, z[i], y[i], DELTA) * np.outer(A[i], A[i]) for i in range(len(y))
    )
    return value + 0.5 * L2 * held @ w**2, g + L2 * held * w, H + L2 * np.diag(held)


def begun(code, A, y, c, w):
    z, g = np.empty(len(y)), np.empty_like(w)
    return small.look(code, A, y, c, DELTA, L2, P, w, z, g), z, g


def test_a_step_by_hand():
    # F(w) = ½(w − 2)² + ½w², whose minimum is 1.
    A, y, c, w = np.ones((1, 1)), np.array([2.0]), np.ones(1), np.zeros(1)
    z, g = np.empty(1), np.empty(1)
    value = small.look(SQUARED, A, y, c, 1.0, 1.0, 1, w, z, g)
    assert (value, g[0]) == (2.0, -2.0)
    value, left, looks = small.newton_step(SQUARED, A, y, c, 1.0, 1.0, 1, 0.0, w, z, g, value)
    assert looks == 3.0
    assert (value, left, w[0], z[0], g[0]) == pytest.approx((1.0, 0.0, 1.0, 1.0, 0.0), abs=1e-15)


@pytest.mark.parametrize("code", ONE_SCORE.values(), ids=ONE_SCORE)
def test_a_look_is_the_sum_over_the_samples(code):
    A, y, c = data(code)
    w = np.array([0.5, 0.01, -1.0, 0.2, 0.1])
    value, z, g = begun(code, A, y, c, w)
    slow, slope, _ = slowly(code, A, y, c, w)
    assert value == pytest.approx(slow, rel=1e-13)
    np.testing.assert_allclose(g, slope, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(z, A @ w, rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 3, 4, 6, N])
def test_products_leave_out_rows_of_no_weight(rows):
    A, _, c = data(SQUARED, rows if rows > 3 else 4)
    A, c = A[:rows], c[:rows]
    H = np.full((5, 5), np.nan)
    small.weighted_gram(A, c, H)
    np.testing.assert_allclose(np.tril(H), np.tril((A.T * c) @ A), rtol=1e-13, atol=1e-15)


def test_a_factor_solves_the_system_in_any_units():
    A, _, c = data(SQUARED)
    units = np.array([1e-6, 1.0, 1e6, 1e3, 1.0])
    H = ((A * units).T * c) @ (A * units)
    g, d, L, scale = np.arange(1.0, 6.0), np.empty(5), H.copy(), np.empty(5)
    least = small.factorise(L, scale)
    assert 0.0 < least < 1.0
    decrement = small.solve(L, scale, g, d)
    exact = np.linalg.solve(H * np.outer(units, units) / np.outer(units, units), g)
    np.testing.assert_allclose(d, -exact, rtol=1e-9)
    assert decrement == pytest.approx(0.5 * g @ exact, rel=1e-9)


@pytest.mark.parametrize("H", [np.ones((2, 2)), np.diag([1.0, 0.0]), np.diag([1.0, np.nan])])
def test_a_singular_matrix_has_no_factor(H):
    assert not small.factorise(H.copy(), np.empty(2)) > small.SAFE


@pytest.mark.parametrize("code", ONE_SCORE.values(), ids=ONE_SCORE)
def test_steps_descend_to_where_the_slope_is_zero(code):
    A, y, c = data(code)
    w = np.zeros(5)
    value, z, g = begun(code, A, y, c, w)
    for _ in range(20):
        before = value
        value, left, _ = small.newton_step(code, A, y, c, DELTA, L2, P, 1e-9, w, z, g, value)
        assert value <= before + 1e-15
        if left <= 1e-20:
            break
    slow, slope, H = slowly(code, A, y, c, w)
    assert value == pytest.approx(slow, rel=1e-13)
    np.testing.assert_allclose(g, slope, atol=1e-13)
    assert slope @ np.linalg.solve(H, slope) <= 1e-18


def test_the_minimum_is_a_fixed_point():
    A, y, c = data(HUBER)
    w = np.zeros(5)
    value, z, g = begun(HUBER, A, y, c, w)
    for _ in range(12):
        value, _, _ = small.newton_step(HUBER, A, y, c, DELTA, L2, P, 1e-9, w, z, g, value)
    there = w.copy()
    small.newton_step(HUBER, A, y, c, DELTA, L2, P, 1e-9, w, z, g, value)
    np.testing.assert_allclose(w, there, rtol=1e-12)


def test_a_nearly_singular_hessian_is_told():
    A, y, c = data(SQUARED)
    A[:, 1] = A[:, 0]
    w = np.zeros(5)
    z, g = np.empty(N), np.empty(5)
    value = small.look(SQUARED, A, y, c, DELTA, 1e-14, P, w, z, g)
    _, left, _ = small.newton_step(SQUARED, A, y, c, DELTA, 1e-14, P, 0.0, w, z, g, value)
    assert math.isnan(left)
    assert not w.any()


def test_with_l1_the_distance_is_that_of_the_nearest_subgradient():
    A, y, c = data(SQUARED)
    z, g = np.empty(N), np.empty(5)
    for w in (np.zeros(5), np.array([0.5, 0.0, -1.0, 0.0, 0.1])):
        value, far = small.l1_look(SQUARED, A, y, c, DELTA, 0.3, L2, P, w, z, g)
        slow, slope, _ = slowly(SQUARED, A, y, c, w)
        held = np.append(np.full(P, 0.3), 0.0)
        at_zero = np.maximum(np.abs(slope) - held, 0.0)
        nearest = np.where(w == 0.0, at_zero, np.abs(slope + held * np.sign(w)))
        assert value == pytest.approx(slow + held @ np.abs(w), rel=1e-13)
        assert far == pytest.approx(nearest.max(), rel=1e-12)


def test_the_quadratic_of_the_squared_loss_is_whole():
    A, _, c = data(SQUARED)
    H = np.empty((5, 5))
    small.quadratic(A, c, L2, P, H)
    expected = (A.T * c) @ A + L2 * np.diag([1.0] * P + [0.0])
    np.testing.assert_allclose(H, expected, rtol=1e-13, atol=1e-15)
