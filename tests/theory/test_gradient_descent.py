"""Gradient descent obeys its bounds at every step, and reaches them where they are tight."""

import itertools
import math

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.theory import gradient_descent as gd

L, MU = 10.0, 0.1
CURVATURES = np.array([MU, 0.5, 2.0, 7.0, L])


class Quadratic:
    """½ Σ λᵢ wᵢ², minimum 0 at 0."""

    start = np.array([1.0, -2.0, 0.5, 1.0, 0.3])

    def value(self, w):
        return 0.5 * np.sum(CURVATURES * w**2)

    def gradient(self, w):
        return CURVATURES * w


class SmoothValley:
    """Σ (L − μ) log cosh wᵢ + (μ/2)wᵢ²: curvature from L at 0 down to μ far away."""

    start = np.array([4.0, -0.5, 10.0])

    def value(self, w):
        return np.sum((L - MU) * np.log1p(2 * np.sinh(w / 2) ** 2) + 0.5 * MU * w**2)

    def gradient(self, w):
        return (L - MU) * np.tanh(w) + MU * w


FUNCTIONS = [Quadratic(), SmoothValley()]


def descend(f, step, count, start=None):
    w = (f.start if start is None else start).copy()
    for _ in range(count + 1):
        yield w
        w = w - step * f.gradient(w)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("step", [0.01 / L, 0.5 / L, 1.0 / L])
def test_every_step_obeys_the_descent_lemma_and_its_telescope(f, step):
    path = list(descend(f, step, 200))
    for w, after in itertools.pairwise(path):
        slack = 1e-12 * f.value(w)
        lemma = gd.descent_bound(f.value(w), np.linalg.norm(f.gradient(w)), step=step, smoothness=L)
        assert f.value(after) <= lemma + slack
        telescope = gd.step_bound(np.linalg.norm(w), np.linalg.norm(after), step=step)
        assert f.value(after) <= telescope + slack


def test_descent_lemma_is_tight_along_the_top_eigenvector_and_refused_beyond_one_over_L():
    w = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    f = Quadratic()
    after = w - f.gradient(w) / L
    bound = gd.descent_bound(f.value(w), np.linalg.norm(f.gradient(w)), step=1 / L, smoothness=L)
    assert f.value(after) == pytest.approx(bound, abs=1e-12)
    with pytest.raises(InputError, match=r"step must be at most 1/smoothness = 0.1, got 0.2"):
        gd.descent_bound(1.0, 1.0, step=0.2, smoothness=L)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("step", [0.1 / L, 1.0 / L])
def test_value_bound_holds_at_every_T(f, step):
    values = [f.value(w) for w in descend(f, step, 500)]
    bounds = gd.value_bound(
        np.linalg.norm(f.start), step=step, iterations=np.arange(1, len(values))
    )
    assert np.all(np.array(values[1:]) <= bounds)


def test_value_bound_is_within_a_factor_of_two_of_the_worst_function():
    """Huber's function with a gentle tail keeps half of the bound."""
    T, step = 100, 1.0
    slope = 1 / (2 * step * T + 1)  # of Huber's tail, so that w_T just reaches the round part
    w = 1.0
    for _ in range(T):
        w -= step * (w if abs(w) <= slope else slope)
    gap = 0.5 * w * w if abs(w) <= slope else slope * abs(w) - 0.5 * slope**2
    bound = gd.value_bound(1.0, step=step, iterations=T)
    assert 0.49 * bound <= gap <= bound


@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 0.3])
def test_iterations_are_the_first_whose_bound_suffices(tolerance):
    T = gd.iterations(3.0, tolerance, step=0.1)
    assert gd.value_bound(3.0, step=0.1, iterations=T) <= tolerance
    assert gd.value_bound(3.0, step=0.1, iterations=T - 1) > tolerance
    assert math.ceil(45 / tolerance * (1 - 1e-15)) == T


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("step", [0.3 / L, 1 / L, 2 / (L + MU), 1.9 / L])
def test_contraction_holds_for_distances_and_squared_for_values(f, step):
    rho = gd.contraction(step, smoothness=L, strong_convexity=MU)
    path = list(descend(f, step, 100))
    for w, after in itertools.pairwise(path):
        assert np.linalg.norm(after) <= rho * np.linalg.norm(w) * (1 + 1e-12)
        assert f.value(after) <= rho**2 * f.value(w) * (1 + 1e-12)


@pytest.mark.parametrize("step", [0.3 / L, 2 / (L + MU), 1.9 / L, 2.5 / L])
def test_contraction_is_attained_on_one_of_the_two_end_eigenvectors(step):
    f = Quadratic()
    ratios = [np.linalg.norm(e - step * f.gradient(e)) for e in (np.eye(5)[0], np.eye(5)[-1])]
    assert max(ratios) == pytest.approx(gd.contraction(step, smoothness=L, strong_convexity=MU))


def test_optimal_step_has_the_smallest_contraction_and_the_lectures_rate():
    best = gd.optimal_step(smoothness=L, strong_convexity=MU)
    rho = gd.contraction(best, smoothness=L, strong_convexity=MU)
    others = [
        gd.contraction(step, smoothness=L, strong_convexity=MU)
        for step in np.linspace(0.01, 0.25, 500)
    ]
    assert rho <= min(others)
    assert gd.rate(smoothness=L, strong_convexity=MU) == pytest.approx(rho**2)


def test_rate_is_tight_from_the_worst_start():
    """From w₀ = (1/μ, 1/L) in the two end directions the value shrinks by exactly the rate."""
    start = np.array([1 / MU, 0, 0, 0, 1 / L])
    f = Quadratic()
    step = gd.optimal_step(smoothness=L, strong_convexity=MU)
    values = np.array([f.value(w) for w in descend(f, step, 50, start)])
    rate = gd.rate(smoothness=L, strong_convexity=MU)
    np.testing.assert_allclose(values[1:] / values[:-1], rate, rtol=1e-10)


def test_lectures_figure():
    assert round(gd.rate(smoothness=0.25, strong_convexity=1 / 700_000), 5) == 0.99998


def test_safe_rate_needs_no_strong_convexity_only_the_smallest_nonzero_eigenvalue():
    """Rank-deficient least squares, step 1/L: linear, at λ⁺_min."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 10))
    y = rng.standard_normal(6)
    eigenvalues = np.linalg.eigvalsh(X @ X.T)
    rate = gd.safe_rate(smoothness=eigenvalues[-1], strong_convexity=eigenvalues[0])
    w, gaps = rng.standard_normal(10), []
    for _ in range(200):
        gaps.append(0.5 * np.sum((X @ w - y) ** 2))
        w = w - X.T @ (X @ w - y) / eigenvalues[-1]
    assert np.all(np.array(gaps[1:]) <= rate * np.array(gaps[:-1]) + 1e-14)


@pytest.mark.parametrize("step", [None, 1 / L, 1.9 / L])
def test_linear_iterations_suffice(step):
    f = Quadratic()
    gap = f.value(f.start)
    T = gd.linear_iterations(gap, 1e-6, smoothness=L, strong_convexity=MU, step=step)
    used = step or gd.optimal_step(smoothness=L, strong_convexity=MU)
    *_, last = descend(f, used, T)
    assert f.value(last) <= 1e-6
    rho = gd.contraction(used, smoothness=L, strong_convexity=MU)
    assert gap * rho ** (2 * (T - 1)) > 1e-6 * (1 - 1e-9)


def test_linear_iterations_refuse_an_unstable_step():
    with pytest.raises(InputError, match=r"step must be in \(0, 0.2\), got 0.2: 2/L is the limit"):
        gd.linear_iterations(1.0, 0.1, smoothness=L, strong_convexity=MU, step=0.2)
