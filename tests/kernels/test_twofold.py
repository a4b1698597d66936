from fractions import Fraction

import numpy as np

from thalweg.kernels import twofold

RNG = np.random.default_rng(0)


def exact(high, low=0.0):
    return Fraction(float(high)) + Fraction(float(low))


def test_a_sum_and_what_it_lost():
    for a, b in ((1.0, 1e-30), (1e16, 1.0), (-1e16, 1.5), (0.1, 0.2)):
        s, e = twofold.two_sum(a, b)
        assert s == a + b
        assert exact(s, e) == exact(a) + exact(b)


def test_a_product_and_what_it_lost():
    for a, b in RNG.standard_normal((20, 2)):
        p, e = twofold.two_product(a, b)
        assert p == a * b
        assert exact(p, e) == exact(a) * exact(b)


def test_a_product_that_cannot_be_split_is_left_as_it_is():
    assert twofold.two_product(1e305, 2.0) == (2e305, 0.0)


def far_data(n=7, p=4):
    X = RNG.standard_normal((n, p)) + np.array([0.0, 1e9, -2015.0, 1e-9])
    return X, X.mean(axis=0)


def test_scores_have_twice_the_digits():
    X, origin = far_data()
    w, low = RNG.standard_normal(4), 1e-18 * RNG.standard_normal(4)
    z, z_low = np.empty(7), np.empty(7)
    twofold.scores_pass(X, origin, w, low, 0.3, 1e-19, z, z_low)
    for i in range(7):
        right = exact(0.3, 1e-19)
        size = abs(right)
        for j in range(4):
            term = (exact(X[i, j]) - exact(origin[j])) * exact(w[j], low[j])
            right, size = right + term, size + abs(term)
        assert abs(exact(z[i], z_low[i]) - right) <= Fraction(2) ** -100 * size
        assert z[i] == float(right) or abs(z_low[i]) >= 2.0**-55 * abs(z[i])


def test_sums_over_samples_have_twice_the_digits():
    X, origin = far_data()
    c, theta = np.full(7, 1 / 7), RNG.standard_normal(7)
    low = 1e-18 * RNG.standard_normal(7)
    r, r_low, v, v_low = np.empty(7), np.empty(7), np.empty(4), np.empty(4)
    total = twofold.weighted_pass(c, theta, low, r, r_low)
    twofold.transpose_pass(X, origin, r, r_low, v, v_low)
    terms = [exact(c[i]) * exact(theta[i], low[i]) for i in range(7)]
    assert abs(exact(*total) - sum(terms)) <= Fraction(2) ** -100 * sum(map(abs, terms))
    for j in range(4):
        products = [(exact(X[i, j]) - exact(origin[j])) * terms[i] for i in range(7)]
        error = abs(exact(v[j], v_low[j]) - sum(products))
        assert error <= Fraction(2) ** -99 * sum(map(abs, products))
