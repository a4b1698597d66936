from fractions import Fraction

import numpy as np
import pytest

from thalweg.certificates.exact_step import exact_step
from thalweg.certificates.pair import Pair

BOTH = pytest.mark.parametrize("is_exact", [False, True])


def quadratic(seed=0, m=6, spread=0.0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2 * m, m)) * 10.0 ** (spread * rng.uniform(-1, 1, m))
    return A.T @ A, A.T @ rng.standard_normal(2 * m), rng.standard_normal(m)


def stepped(H, g, w, l1, is_exact):
    return exact_step(Pair.of(H), Pair.of(g), Pair.of(w), l1, is_exact)


@BOTH
def test_step_by_hand(is_exact):
    # 2x + ½·4x² + |x − …|: from w = 1 with slope 2, H = 4 and l1 = 1 to x = 1 − 3/4.
    x = stepped(np.array([[4.0]]), np.array([2.0]), np.ones(1), np.ones(1), is_exact)
    assert x.high == pytest.approx([0.25], rel=1e-12)
    # With l1 = 4 it would be at −½: it stays at zero. There s = 2 − 4 = −2 is within ±4.
    x = stepped(np.array([[4.0]]), np.array([2.0]), np.ones(1), np.full(1, 4.0), is_exact)
    assert x.high == [0.0]


@BOTH
@pytest.mark.parametrize("spread", [0.0, 3.0])
def test_without_l1_it_is_newtons_step(is_exact, spread):
    H, g, w = quadratic(spread=spread)
    x = stepped(H, g, w, np.zeros(6), is_exact)
    np.testing.assert_allclose(x.high, w - np.linalg.solve(H, g), rtol=1e-6)


@BOTH
@pytest.mark.parametrize("seed", range(10))
def test_the_least_of_the_quadratic_with_l1(is_exact, seed):
    H, g, w = quadratic(seed, spread=1.0)
    w[::2] = 0.0
    l1 = np.where(np.arange(6) == 5, 0.0, 0.3 * np.abs(g))
    x = stepped(H, g, w, l1, is_exact).high
    slopes = g + H @ (x - w)
    noise = 1e-10 * (np.abs(H) @ np.abs(x - w) + np.abs(g))
    assert np.all(np.abs(slopes + l1 * np.sign(x))[x != 0.0] <= noise[x != 0.0])
    assert np.all(np.abs(slopes) <= l1 + noise, where=x == 0.0)


def test_pairs_solve_what_float64_cannot():
    """Two columns of 10⁹ that are alike to eleven digits."""
    a, b = 2.0**30, 2.0**30 + 2.0**-7
    rows = [[Fraction(a), Fraction(b)], [Fraction(b), Fraction(a)]]
    right = [[sum(r[j] * r[k] for r in rows) for k in range(2)] for j in range(2)]
    H = Pair(*(np.empty((2, 2)) for _ in range(2)))
    for j, k in np.ndindex(2, 2):
        H.high[j, k] = float(right[j][k])
        H.low[j, k] = float(right[j][k] - Fraction(H.high[j, k]))
    g = Pair.of(np.array([1.0, 0.0]))
    determinant = right[0][0] * right[1][1] - right[0][1] ** 2
    best = [-float(right[1][1] / determinant), float(right[0][1] / determinant)]
    far = exact_step(H, g, Pair.of(np.zeros(2)), np.zeros(2), False)
    near = exact_step(H, g, Pair.of(np.zeros(2)), np.zeros(2), True)
    np.testing.assert_allclose(near.high, best, rtol=1e-4)
    assert not np.allclose(far.high, best, rtol=0.1)


def test_no_step_where_there_is_no_quadratic():
    H = np.array([[1.0, 2.0], [2.0, 1.0]])
    for is_exact in (False, True):
        assert stepped(H, np.ones(2), np.ones(2), np.zeros(2), is_exact) is None
        assert stepped(np.full((2, 2), np.nan), *np.ones((3, 2)), is_exact) is None
