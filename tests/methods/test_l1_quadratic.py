import numpy as np
import pytest

from thalweg.kernels import quadratic
from thalweg.methods import l1_quadratic
from thalweg.methods.l1_quadratic import minimise_quadratic


def descend_quadratic(H, s, thresholds, w, tight, most):
    """The kernel without bounds."""
    low, high = np.full(w.size, -np.inf), np.full(w.size, np.inf)
    return quadratic.descend_quadratic(H, s, thresholds, low, high, w, tight, most)


def distance(s, l1, w):
    """From optimality, coordinate by coordinate."""
    return np.where(w == 0, np.maximum(np.abs(s) - l1, 0.0), np.abs(s + l1 * np.sign(w)))


def hard(seed=0, size=30):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((40, size)) @ np.diag(10.0 ** rng.uniform(-1, 1, size))
    w = rng.standard_normal(size) * (np.arange(size) < 10)
    return A.T @ A, 30.0 * rng.standard_normal(size), w


def test_two_coordinates_by_hand():
    # ½(2w₁² + w₂²) − 5w₁ − ½w₂ + |w₁| + |w₂|: w₁ = (5 − 1)/2, w₂ = 0.
    H, s, w = np.diag([2.0, 1.0]), np.array([-5.0, -0.5]), np.zeros(2)
    minimise_quadratic(H, s, 1.0, w, 1e-12)
    np.testing.assert_allclose(w, [2.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(s, [-1.0, -0.5], atol=1e-15)


def value(H, g, start, w):
    d = w - start
    return g @ d + 0.5 * d @ H @ d + 20.0 * np.abs(w).sum()


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_is_reached(seed):
    H, g, start = hard(seed)
    w, s = start.copy(), g.copy()
    minimise_quadratic(H, s, 20.0, w, 1e-9)
    np.testing.assert_allclose(s, g + H @ (w - start), atol=1e-8)
    assert distance(s, 20.0, w).max() <= 1e-7
    assert 0 < np.count_nonzero(w) < 30


@pytest.mark.parametrize("seed", range(5))
def test_systems_lower_the_value_and_more_so_than_sweeps(seed, monkeypatch):
    H, g, start = hard(seed)
    best, s = start.copy(), g.copy()
    minimise_quadratic(H, s, 20.0, best, 1e-9)
    monkeypatch.setattr(l1_quadratic, "FEW_SWEEPS", 1)
    monkeypatch.setattr(l1_quadratic, "MOST_JOINS", 0)
    values = []
    for systems in range(6):
        monkeypatch.setattr(l1_quadratic, "MOST_SYSTEMS", systems)
        w, s = start.copy(), g.copy()
        minimise_quadratic(H, s, 20.0, w, 0.0)
        values.append(value(H, g, start, w))
    assert np.all(np.diff(values) <= 1e-10 * abs(values[0]))
    plain, s = start.copy(), g.copy()
    descend_quadratic(H, s, np.full(30, 20.0), plain, 0.0, 6)
    least = value(H, g, start, best)
    assert values[-1] - least < 0.1 * (value(H, g, start, plain) - least) + 1e-10 * abs(least)


def test_features_that_are_alike_are_left_to_sweeps():
    rng = np.random.default_rng(0)
    A = np.repeat(rng.standard_normal((40, 5)), 2, axis=1)
    H, w, s = A.T @ A, np.zeros(10), 3.0 * A.T @ rng.standard_normal(40)
    minimise_quadratic(H, s, 2.0, w, 1e-9)
    assert np.count_nonzero(w) > 0
    assert distance(s, 2.0, w).max() <= 1e-6


def test_the_optimum_stays():
    H, g, start = hard()
    w, s = start.copy(), g.copy()
    minimise_quadratic(H, s, 20.0, w, 1e-10)
    again = w.copy()
    minimise_quadratic(H, s.copy(), 20.0, again, 1e-6)
    np.testing.assert_allclose(again, w, atol=1e-6)
