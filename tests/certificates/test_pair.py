from fractions import Fraction

import numpy as np

from thalweg.certificates.pair import Pair

RNG = np.random.default_rng(0)


def exact(pair):
    return [Fraction(float(h)) + Fraction(float(e)) for h, e in zip(*pair, strict=True)]


def test_sums_keep_twice_the_digits():
    a = Pair(np.array([1.0, 1e16, -3.0]), np.array([1e-20, 0.5, 1e-17]))
    b = Pair(np.array([1e-9, -1e16, 3.0]), np.array([1e-26, 0.25, 1e-17]))
    right = [x + y for x, y in zip(exact(a), exact(b), strict=True)]
    sizes = [abs(x) + abs(y) for x, y in zip(exact(a), exact(b), strict=True)]
    for found, sum_, size in zip(exact(a.plus(b)), right, sizes, strict=True):
        assert abs(found - sum_) <= Fraction(2) ** -104 * size
    np.testing.assert_array_equal(a.plus(b).high, [1.0 + 1e-9, 0.75, 2e-17])


def test_powers_of_two_are_exact_factors():
    a = Pair(RNG.standard_normal(5), 1e-17 * RNG.standard_normal(5))
    assert exact(a.times(0.25)) == [x / 4 for x in exact(a)]


def test_a_part_is_put_where_it_was():
    a = Pair.of(np.arange(6.0)).reshape(2, 3)
    a.put(np.s_[:, 1], Pair(np.array([7.0, 8.0]), np.array([1e-17, 2e-17])))
    np.testing.assert_array_equal(a.high, [[0, 7, 2], [3, 8, 5]])
    np.testing.assert_array_equal(a.at(np.s_[:, 1]).low, [1e-17, 2e-17])
    np.testing.assert_array_equal(a.at(0).low, [0.0, 1e-17, 0.0])
