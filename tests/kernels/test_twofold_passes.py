from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from thalweg.kernels import twofold_passes as passes
from thalweg.kernels.losses import HUBER, SQUARED, SQUARED_HINGE, loss_conjugate, loss_value

RNG = np.random.default_rng(0)
TINY = Fraction(2) ** -99  # of the sizes of what is summed


def exact(high, low=0.0):
    return Fraction(float(high)) + Fraction(float(low))


def fractions(pair):
    return [[exact(h, e) for h, e in zip(*rows, strict=True)] for rows in zip(*pair, strict=True)]


def random_pair(*shape, size=1.0):
    high = size * RNG.standard_normal(shape)
    return high, high * 2.0**-54 * RNG.uniform(-1, 1, shape)


def empty(*shape):
    return np.empty(shape), np.empty(shape)


def far_features(n=7, p=4):
    """Features about their mean, as pairs, and in fractions."""
    X = RNG.standard_normal((n, p)) + np.array([0.0, 1e9, -2015.0, 1e-9])
    origin, scales = X.mean(axis=0), np.array([1.0, 1e-9, 0.1, 3.0])
    A = empty(n, p)
    passes.features_pass(X, origin, scales, *A)
    right = [
        [(exact(X[i, j]) - exact(origin[j])) * exact(scales[j]) for j in range(p)] for i in range(n)
    ]
    return A, right


def test_features_have_twice_the_digits():
    A, right = far_features()
    for row, found in zip(right, fractions(A), strict=True):
        assert all(abs(a - b) <= TINY * abs(b) for a, b in zip(found, row, strict=True))


def test_scores_have_twice_the_digits():
    A, rows = far_features()
    W, Z = random_pair(4, 3), empty(7, 3)
    passes.scores_pass(*A, *W, *Z)
    found, w = fractions(Z), fractions(W)
    for i, k in np.ndindex(7, 3):
        terms = [rows[i][j] * w[j][k] for j in range(4)]
        assert abs(found[i][k] - sum(terms)) <= TINY * sum(map(abs, terms))


def test_sums_over_samples_have_twice_the_digits():
    A, rows = far_features()
    T, V, c = random_pair(7, 3), empty(4, 3), RNG.uniform(0, 1, 7)
    passes.transpose_pass(*A, c, *T, *V)
    found, t = fractions(V), fractions(T)
    for j, k in np.ndindex(4, 3):
        terms = [exact(c[i]) * rows[i][j] * t[i][k] for i in range(7)]
        assert abs(found[j][k] - sum(terms)) <= TINY * sum(map(abs, terms))


def softmax(z):
    """In decimals."""
    powers = [(v - max(z)).exp() for v in z]
    return [e / sum(powers) for e in powers]


def some_scores(size):
    Z = random_pair(20, 4, size=size)
    labels = RNG.integers(4, size=20)
    Z[0][0, labels[0]] += 50.0 * size  # one that is sure, and one that is surely wrong
    Z[0][1, labels[1]] -= 50.0 * size
    return Z, labels, RNG.uniform(0, 1, 20)


def decimals(pair, i):
    return [Decimal(float(h)) + Decimal(float(e)) for h, e in zip(pair[0][i], pair[1][i])]  # noqa: B905


@pytest.mark.parametrize("size", [1e-9, 1.0, 10.0])
def test_probabilities_minus_labels_have_twice_the_digits(size):
    Z, labels, c = some_scores(size)
    T, P = empty(20, 4), np.empty((20, 4))
    losses = passes.softmax_pass(*Z, labels, c, *T, P)
    right_losses = Decimal(0)
    with localcontext(prec=80):
        for i in range(20):
            z, found = decimals(Z, i), decimals(T, i)
            p = softmax(z)
            allowed = Decimal("1e-31") * (1 + max(z) - min(z))  # a difference of scores is rounded
            right_losses -= Decimal(c[i]) * p[labels[i]].ln()
            p_others = sum(p[k] for k in range(4) if k != labels[i])
            for k in range(4):
                right = -p_others if k == labels[i] else p[k]
                assert abs(found[k] - right) <= allowed * abs(right)
                assert P[i, k] == pytest.approx(float(p[k]), rel=1e-15)
            assert abs(sum(found)) <= Decimal("1e-31") * p_others
    assert losses == pytest.approx(float(right_losses), rel=1e-15)


@pytest.mark.parametrize("scale", [1.0, 1.0 - 2.0**-50, 0.3, 0.0])
@pytest.mark.parametrize("size", [1e-9, 1.0, 30.0])
def test_entropies_are_right_to_the_last_digits_of_each(size, scale):
    Z, labels, c = some_scores(size)
    for i in range(20):
        with localcontext(prec=80):
            s = Decimal(scale)
            q = [s * p for p in softmax(decimals(Z, i))]
            q[labels[i]] += 1 - s
            right = -sum(v * v.ln() for v in q if v > 0)
        one = slice(i, i + 1)
        found = passes.entropies_pass(Z[0][one], Z[1][one], labels[one], np.ones(1), scale)
        assert found == pytest.approx(float(right), rel=4e-15, abs=1e-300)
    whole = passes.entropies_pass(*Z, labels, c, scale)
    each = [
        passes.entropies_pass(
            Z[0][i : i + 1], Z[1][i : i + 1], labels[i : i + 1], c[i : i + 1], scale
        )
        for i in range(20)
    ]
    assert whole == pytest.approx(sum(each), rel=1e-14)


@pytest.mark.parametrize("code", [SQUARED, SQUARED_HINGE, HUBER])
def test_residuals_are_slopes_with_twice_the_digits(code):
    y = np.sign(RNG.standard_normal(30))
    z, low = random_pair(30)
    z[:2], low[:2] = y[:2] + np.array([0.5, -0.5]), np.array([1e-20, -1e-20])  # at Huber's edge
    c, delta = RNG.uniform(0, 1, 30), 0.5
    theta, theta_low, bends = np.empty(30), np.empty(30), np.empty(30)
    losses = passes.residuals_pass(code, z, low, y, c, delta, theta, theta_low, bends)
    for i in range(30):
        right = exact(z[i], low[i]) - exact(y[i])
        is_inside = True
        if code == SQUARED_HINGE:
            is_inside = int(y[i]) * right < 0
            right = right if is_inside else Fraction(0)
        elif code == HUBER:
            is_inside = abs(right) <= exact(delta)
            right = max(min(right, exact(delta)), -exact(delta))
        assert abs(exact(theta[i], theta_low[i]) - right) <= TINY * abs(right)
        assert bends[i] == (c[i] if is_inside else 0.0)
    values = [loss_value(code, z[i], y[i], delta) for i in range(30)]
    assert losses == pytest.approx(c @ np.array(values), rel=1e-14)
    found, size = passes.conjugates_pass(theta, theta_low, y, c, 0.5)
    values = [loss_conjugate(code, 0.5 * theta[i], y[i], delta) for i in range(30)]
    assert found == pytest.approx(c @ np.array(values), rel=1e-14)
    assert size >= abs(found)


def test_conjugates_that_cancel_keep_their_digits():
    y, c = np.array([1e9, 1e9]), np.full(2, 0.5)
    theta = np.array([-2e9 + 1.0, 3.0])
    found, _ = passes.conjugates_pass(theta, np.zeros(2), y, c, 1.0)
    terms = [exact(t) * (exact(v) + exact(t) / 2) / 2 for t, v in zip(theta, y, strict=True)]
    assert found == float(sum(terms))


def test_a_matrix_of_columns_that_are_nearly_alike_is_solved():
    t = 1e9 + 1e6 * RNG.standard_normal(9)
    A = np.column_stack([t, t + 60.0 * RNG.standard_normal(9), np.ones(9)]), np.zeros((9, 3))
    h, x = RNG.uniform(0, 1, 9), [Fraction(1), Fraction(-2), Fraction(3, 4)]
    G, g = empty(3, 3), empty(3)
    passes.gram_pass(*A, h, *G)
    rows = [[exact(a) for a in row] for row in A[0]]
    right = [
        [sum(exact(c) * r[j] * r[k] for c, r in zip(h, rows, strict=True)) for k in range(3)]
        for j in range(3)
    ]
    found = fractions(G)
    for j, k in np.ndindex(3, 3):
        assert abs(found[j][k] - right[j][k]) <= TINY * right[j][k]
    for j in range(3):
        total = sum(a * v for a, v in zip(right[j], x, strict=True))
        g[0][j] = float(total)
        g[1][j] = float(total - Fraction(g[0][j]))
    assert passes.factor_pass(*G)
    passes.solve_pass(*G, *g)
    np.testing.assert_allclose(g[0], [float(v) for v in x], rtol=1e-9)


def test_a_matrix_that_is_not_positive_has_no_factor():
    assert not passes.factor_pass(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros((2, 2)))
    assert not passes.factor_pass(np.full((1, 1), np.nan), np.zeros((1, 1)))
