import math

import numpy as np
import pytest

from linear_data import BOUNDED
from thalweg.kernels.duality import (
    class_conjugates_pass,
    class_dual_sum_pass,
    class_shifted_slopes_pass,
    class_slopes_pass,
    conjugates_pass,
    dual_sum_pass,
    lengths_pass,
    shifted_slopes_pass,
    shrink_pass,
    sides_pass,
    slopes_pass,
)
from thalweg.kernels.losses import (
    HUBER,
    LOGISTIC,
    LOSSES,
    SQUARED,
    SQUARED_HINGE,
    loss_conjugate,
    loss_curvature,
    loss_value_and_slope,
)

N, K, DELTA = 11, 4, 0.8


ONE_SCORE = {name: LOSSES[name] for name in BOUNDED if name != "multinomial"}


def samples(code):
    rng = np.random.default_rng(code)
    z, y, c = 2 * rng.standard_normal(N), rng.standard_normal(N), rng.random(N)
    return z, np.sign(y) if code in (LOGISTIC, SQUARED_HINGE) else y, c


def test_slopes_and_conjugates_by_hand():
    z, y, c, theta = np.array([3.0, 1.0]), np.array([1.0, 2.0]), np.array([0.5, 0.25]), np.empty(2)
    assert slopes_pass(SQUARED, z, y, c, 1.0, theta) == 0.5 * 2 + 0.25 * 0.5
    assert theta.tolist() == [2.0, -1.0]
    # yθ + ½θ²: 2 + 2 = 4 and −2 + ½ = −3/2.
    assert conjugates_pass(SQUARED, theta, y, c, 1.0) == (0.5 * 4 - 0.25 * 1.5, 2 + 0.375)


@pytest.mark.parametrize("code", ONE_SCORE.values(), ids=ONE_SCORE)
def test_passes_are_the_sums_of_the_losses(code):
    z, y, c = samples(code)
    theta = np.full(N, np.nan)
    value = slopes_pass(code, z, y, c, DELTA, theta)
    pairs = [loss_value_and_slope(code, z[i], y[i], DELTA) for i in range(N)]
    assert value == pytest.approx(math.fsum(c[i] * pairs[i][0] for i in range(N)), rel=1e-14)
    assert theta.tolist() == [slope for _, slope in pairs]
    terms = [c[i] * loss_conjugate(code, theta[i], y[i], DELTA) for i in range(N)]
    total, size = conjugates_pass(code, theta, y, c, DELTA)
    assert total == pytest.approx(math.fsum(terms), rel=1e-13)
    assert size == pytest.approx(math.fsum(map(abs, terms)), rel=1e-13)


def test_sides_by_hand():
    assert sides_pass(np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.25, 0.25])) == (1.25, 0.5)


def test_one_side_is_shrunk_and_the_other_left():
    theta = np.array([1.0, -2.0, 0.0, 3.0])
    shrink_pass(theta, 0.5, 1.0)
    assert theta.tolist() == [0.5, -2.0, 0.0, 1.5]
    shrink_pass(theta, 0.0, -1.0)
    assert theta.tolist() == [0.5, 0.0, 0.0, 1.5]


def test_dual_sums_are_those_of_the_rows():
    rng = np.random.default_rng(2)
    X, c, theta = rng.standard_normal((N, 3)), rng.random(N), rng.standard_normal((N, K))
    X.flags.writeable = False
    g, G, total = np.ones(3), np.ones((3, K)), np.ones(K)
    found = dual_sum_pass(X, c, theta[:, 0].copy(), 2, 9, g)
    class_dual_sum_pass(X, c, theta, 2, 9, G, total)
    part = slice(2, 9)
    expected = X[part].T @ (c[part, None] * theta[part])
    np.testing.assert_allclose(g, 1 + expected[:, 0], rtol=1e-13)
    np.testing.assert_allclose(G, 1 + expected, rtol=1e-13)
    np.testing.assert_allclose(total, 1 + c[part] @ theta[part], rtol=1e-13)
    assert found == pytest.approx(total[0] - 1, rel=1e-13)


def test_lengths_by_hand():
    out = np.array([10.0, 0.0])
    lengths_pass(np.array([4.0, 9.0]), np.array([[1.0, -2.0], [-3.0, 0.0]]), out)
    assert out.tolist() == [10.0 + 2 * 1 + 3 * 3, 2 * 2.0]


@pytest.mark.parametrize("code", ONE_SCORE.values(), ids=ONE_SCORE)
def test_shifted_slopes_are_those_of_shifted_scores(code):
    z, y, c = samples(code)
    theta = np.empty(N)
    slopes_pass(code, z + 0.7, y, c, DELTA, theta)
    h = np.array([loss_curvature(code, z[i] + 0.7, y[i], DELTA) for i in range(N)])
    found = shifted_slopes_pass(code, z, 0.7, y, c, DELTA)
    assert found == pytest.approx((c @ theta, c @ np.abs(theta), c @ h), rel=1e-13)


def test_shifted_class_slopes_equal_a_slow_definition():
    rng = np.random.default_rng(1)
    Z, c, shift = 3 * rng.standard_normal((N, K)), rng.random(N), rng.standard_normal(K)
    before = Z.copy()
    predicted, H = np.full(K, np.nan), np.full((K, K), np.nan)
    class_shifted_slopes_pass(Z, shift, c, predicted, H)
    q = np.exp(Z + shift) / np.exp(Z + shift).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predicted, c @ q, rtol=1e-13)
    slow = sum(c[i] * (np.diag(q[i]) - np.outer(q[i], q[i])) for i in range(N))
    np.testing.assert_allclose(H, slow, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(Z, before)


@pytest.mark.parametrize("code", ONE_SCORE.values(), ids=ONE_SCORE)
def test_at_its_own_slopes_fenchels_inequality_is_an_equality(code):
    z, y, c = samples(code)
    theta = np.empty(N)
    value = slopes_pass(code, z, y, c, DELTA, theta)
    total, _ = conjugates_pass(code, theta, y, c, DELTA)
    assert value + total == pytest.approx(c @ (theta * z), rel=1e-12)


@pytest.mark.parametrize(
    ("code", "theta", "y"),
    [(LOGISTIC, 0.1, 1.0), (LOGISTIC, -1.1, 1.0), (SQUARED_HINGE, 0.1, 1.0), (HUBER, -0.9, 0.0)],
)
def test_outside_the_domain_is_infinite_unless_the_weight_is_zero(code, theta, y):
    theta, y = np.array([theta, 0.0]), np.array([y, 1.0])
    assert conjugates_pass(code, theta, y, np.array([0.5, 0.5]), DELTA)[0] == math.inf
    assert conjugates_pass(code, theta, y, np.array([0.0, 1.0]), DELTA) == (0.0, 0.0)


def test_sums_over_many_samples_keep_their_digits():
    # Equal terms, whose rounding errors all have one sign in a plain running sum.
    n = 300_000
    c, y, theta = np.full(n, 1 / n), np.full(n, 0.3), np.empty(n)
    exact = math.fsum(c * (0.5 * 0.3 * 0.3))
    assert slopes_pass(SQUARED, np.zeros(n), y, c, 1.0, theta) == pytest.approx(
        exact, rel=4e-16, abs=0
    )
    assert conjugates_pass(SQUARED, theta, y, c, 1.0)[0] == pytest.approx(-exact, rel=4e-16, abs=0)
    labels, Z = np.zeros(n, dtype=np.int64), np.zeros((n, 2))
    exact = math.fsum(c * math.log(2))
    assert class_slopes_pass(Z, labels, c) == pytest.approx(exact, rel=4e-16, abs=0)
    assert class_conjugates_pass(Z, labels, c)[0] == pytest.approx(-exact, rel=4e-16, abs=0)


def test_an_infinite_loss_stays_infinite():
    theta = np.empty(2)
    value = slopes_pass(SQUARED, np.array([1e200, 0.0]), np.zeros(2), np.ones(2), 1.0, theta)
    assert value == math.inf


def test_classes_by_hand():
    # Equal scores of two classes: p = (½, ½), loss log 2, conjugate Σ q log q = −log 2.
    Z, labels, c = np.zeros((1, 2)), np.array([1]), np.array([0.5])
    assert class_slopes_pass(Z, labels, c) == pytest.approx(0.5 * math.log(2), rel=1e-15)
    assert Z.tolist() == [[0.5, -0.5]]
    total, size = class_conjugates_pass(Z, labels, c)
    assert (total, size) == pytest.approx((-0.5 * math.log(2), 0.5 * math.log(2)), rel=1e-15)


def test_class_passes_equal_a_slow_definition():
    rng = np.random.default_rng(0)
    Z, labels, c = 3 * rng.standard_normal((N, K)), np.arange(N) % K, rng.random(N)
    q = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    theta = Z.copy()
    value = class_slopes_pass(theta, labels, c)
    assert value == pytest.approx(-c @ np.log(q[np.arange(N), labels]), rel=1e-13)
    np.testing.assert_allclose(theta, q - np.eye(K)[labels], rtol=1e-12, atol=1e-15)
    total, size = class_conjugates_pass(theta, labels, c)
    terms = c * (q * np.log(q)).sum(axis=1)
    assert total == pytest.approx(terms.sum(), rel=1e-12)
    assert size == pytest.approx(np.abs(terms).sum(), rel=1e-12)
    assert value + total == pytest.approx(c @ (theta * Z).sum(axis=1), rel=1e-12)


def test_outside_the_simplex_is_infinite_unless_the_weight_is_zero():
    theta, labels = np.array([[0.5, -0.4], [0.0, 0.0]]), np.array([1, 0])
    assert class_conjugates_pass(theta, labels, np.array([0.5, 0.5]))[0] == math.inf
    assert class_conjugates_pass(theta, labels, np.array([0.0, 1.0])) == (0.0, 0.0)
