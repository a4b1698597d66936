from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from thalweg.kernels import twofold

RNG = np.random.default_rng(0)


def exact(high, low=0.0):
    return Fraction(float(high)) + Fraction(float(low))


def pairs(count, size=1.0):
    high = size * RNG.standard_normal(count)
    return list(zip(high, high * 2.0**-54 * RNG.uniform(-1, 1, count), strict=True))


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


def test_sums_products_and_quotients_of_pairs():
    for a, b in zip(pairs(50), pairs(50, 1e3), strict=True):
        x, y = exact(*a), exact(*b)
        for found, right, size in (
            (twofold.pair_sum(*a, *b), x + y, abs(x) + abs(y)),
            (twofold.pair_product(*a, *b), x * y, abs(x * y)),
            (twofold.pair_quotient(*a, *b), x / y, abs(x / y)),
        ):
            assert abs(exact(*found) - right) <= Fraction(2) ** -103 * size


def test_the_square_of_a_root_is_what_it_was():
    for a, low in pairs(50):
        a, low = (a, low) if a > 0 else (-a, -low)
        right = exact(a, low)
        assert abs(exact(*twofold.pair_root(a, low)) ** 2 - right) <= Fraction(2) ** -102 * right


def error_of_exp(x, low):
    with localcontext(prec=60):
        right = (Decimal(x) + Decimal(low)).exp()
        high, rest = twofold.pair_exp(x, low)
        return float(abs((Decimal(high) + Decimal(rest)) / right - 1))


@pytest.mark.parametrize(("low", "high"), [(-670.0, 709.0), (-2.0, 2.0), (-1e-3, 1e-3)])
def test_the_exponential_is_right_to_twice_the_digits(low, high):
    x = RNG.uniform(low, high, 300)
    for high, low in zip(x, x * 2.0**-54 * RNG.uniform(-1, 1, 300), strict=True):
        assert error_of_exp(float(high), float(low)) <= 1e-31


def test_the_exponential_of_what_is_next_to_nothing():
    for x in 10.0 ** -np.arange(5.0, 300.0, 7.0):
        assert error_of_exp(float(x), 0.0) <= 1e-31
    assert twofold.pair_exp(0.0, 0.0) == (1.0, 0.0)
    assert twofold.pair_exp(1e-20, 0.0) == (1.0, 1e-20)


def test_the_exponential_at_the_ends_of_float64():
    for x in (709.79, 710.0, 1e308, np.inf):
        assert twofold.pair_exp(x, 0.0) == (np.inf, 0.0)
    for x in (-745.3, -1e4, -1e308, -np.inf):
        assert twofold.pair_exp(x, 0.0) == (0.0, 0.0)
    assert np.isnan(twofold.pair_exp(np.nan, 0.0)[0])
    assert twofold.pair_exp(709.78, 0.0)[0] == pytest.approx(np.exp(709.78), rel=1e-13)
    assert twofold.pair_exp(-745.0, 0.0)[0] == 5e-324


def fraction_dot(a, b, start=0.0):
    """By fractions, rounded once."""
    terms = zip(a.tolist(), b.tolist(), strict=True)
    return float(Fraction(start) + sum(Fraction(x) * Fraction(y) for x, y in terms))


def test_an_exact_dot_by_hand():
    assert twofold.exact_dot(np.array([1e16, 1.0, -1e16]), np.ones(3), 0.0, 0.0) == 1.0
    assert twofold.exact_dot(np.empty(0), np.empty(0), 2.5, 0.5) == 3.0
    # (1 + ε)² − (1 + 2ε) = ε², which no rounded product has.
    eps = 2.0**-52
    a = np.array([1.0 + eps])
    assert twofold.exact_dot(a, a, -(1.0 + 2.0 * eps), 0.0) == eps**2


@pytest.mark.parametrize("size", [1, 2, 17, 3000])
@pytest.mark.parametrize("exponents", [0, 8])
def test_an_exact_dot_has_twice_the_digits(size, exponents):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, size)) * 10.0 ** rng.integers(-exponents, exponents + 1, size)
    lost = 1e-32 * size * float(np.abs(a) @ np.abs(b))
    for start in (0.0, -float(a @ b), 1e9):  # the second leaves rounding alone
        right = fraction_dot(a, b, start)
        found = twofold.exact_dot(a, b, start, 0.0)
        assert found == pytest.approx(right, rel=2.0**-52, abs=lost)


@pytest.mark.parametrize("mean", [1e3, 1e9, 1e15])
def test_what_cancels_against_a_large_mean_is_kept(mean):
    rng = np.random.default_rng(2)
    m, w = mean + rng.standard_normal(50), rng.standard_normal(50)
    b = -float(m @ w)
    found = twofold.exact_dot(m, w, b, 0.0)
    assert found == pytest.approx(fraction_dot(m, w, b), rel=2.0**-50)


@pytest.mark.parametrize(
    ("a", "expected"), [(1e300, 1e300), (1e308, 1e308), (np.inf, np.inf), (-np.inf, -np.inf)]
)
def test_what_overflows_in_the_split_is_summed_as_it_is(a, expected):
    pair, ones = np.array([a, 1.0]), np.array([1.0, 2.0])
    assert twofold.exact_dot(pair, ones, 3.0, 0.0) == expected
    assert np.isnan(twofold.exact_dot(np.array([a, np.nan]), ones, 0.0, 0.0))
