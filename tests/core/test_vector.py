from fractions import Fraction

import numpy as np
import pytest

from thalweg.core.vector import dot, exact_dot, spread


def test_by_hand():
    assert dot(np.array([1.0, 2.0]), np.array([3.0, -1.0])) == 1.0
    assert dot(np.empty(0), np.empty(0)) == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_the_exact_sum(dtype):
    a, b = np.random.default_rng(0).standard_normal((2, 100_000)).astype(dtype)
    exact = np.sum(a.astype(np.longdouble) * b.astype(np.longdouble))
    assert dot(a, b) == pytest.approx(float(exact), rel=1e-11)


def test_a_product_beyond_float32_is_no_infinity():
    long = np.full(4, 1e30, dtype=np.float32)
    assert dot(long, long) == pytest.approx(4e60, rel=1e-6)


def fraction_dot(a, b, start=0.0):
    """By fractions, rounded once."""
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return float(Fraction(start) + sum(Fraction(x) * Fraction(y) for x, y in pairs))


def test_an_exact_dot_by_hand():
    assert exact_dot(np.array([1e16, 1.0, -1e16]), np.ones(3)) == 1.0
    assert exact_dot(np.empty(0), np.empty(0), 2.5) == 2.5
    # (1 + ε)² − (1 + 2ε) = ε², which no rounded product has.
    eps = 2.0**-52
    assert exact_dot(np.array([1.0 + eps]), np.array([1.0 + eps]), -(1.0 + 2.0 * eps)) == eps**2


@pytest.mark.parametrize("size", [1, 2, 17, 3000])
@pytest.mark.parametrize("exponents", [0, 8, 40])
def test_an_exact_dot_is_rounded_once(size, exponents):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, size)) * 10.0 ** rng.integers(-exponents, exponents + 1, size)
    for start in (0.0, -float(a @ b), 1e9):  # the second leaves rounding alone
        assert exact_dot(a, b, start) == fraction_dot(a, b, start)


@pytest.mark.parametrize("mean", [1e3, 1e9, 1e15])
def test_what_cancels_against_a_large_mean_is_kept(mean):
    rng = np.random.default_rng(2)
    m, w = mean + rng.standard_normal(50), rng.standard_normal(50)
    b = -float(m @ w)
    assert exact_dot(m, w, b) == fraction_dot(m, w, b)


@pytest.mark.parametrize(
    ("a", "expected"), [(1e300, 1e300), (1e308, 1e308), (np.inf, np.inf), (-np.inf, -np.inf)]
)
def test_what_overflows_in_the_split_is_summed_as_it_is(a, expected):
    with np.errstate(all="ignore"):
        assert exact_dot(np.array([a, 1.0]), np.array([1.0, 2.0]), 3.0) == expected
        assert np.isnan(exact_dot(np.array([a, np.nan]), np.ones(2)))


def test_zeros_do_not_count_in_a_spread():
    assert spread(np.array([0.0, 9.0, 1.0])) == 3.0
    assert spread(np.zeros(3)) == 1.0
