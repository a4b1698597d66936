import numpy as np
import pytest

from thalweg.core.vector import dot, spread


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


def test_zeros_do_not_count_in_a_spread():
    assert spread(np.array([0.0, 9.0, 1.0])) == 3.0
    assert spread(np.zeros(3)) == 1.0
