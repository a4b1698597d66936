"""Lemma 14.1 on adversarial vectors; Theorems 14.8 and 14.11 on convex problems, over seeds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from thalweg.core.errors import InputError
from thalweg.theory import sgd

ENTRIES = st.floats(-1e3, 1e3, allow_subnormal=False)
SAMPLES = np.random.default_rng(0).standard_normal((20, 3))
LABELS = np.where(np.random.default_rng(1).standard_normal(20) > 0, 1.0, -1.0)
RHO = float(np.linalg.norm(SAMPLES, axis=1).max())


def by_definition(vectors, comparator, step):
    w, left = np.zeros_like(comparator), 0.0
    for v in vectors:
        left += (w - comparator) @ v
        w = w - step * v
    return left, w


@given(
    vectors=arrays(np.float64, st.tuples(st.integers(1, 12), st.just(3)), elements=ENTRIES),
    comparator=arrays(np.float64, 3, elements=ENTRIES),
    step=st.floats(1e-3, 1e2),
)
def test_lemma_holds_for_arbitrary_vectors(vectors, comparator, step):
    left, right = sgd.lemma(vectors, comparator, step=step)
    size = right + step * np.sum(np.abs(vectors)) ** 2 + np.sum(np.abs(vectors)) * 1e3
    assert left <= right + 1e-12 * size
    slow, last = by_definition(vectors, comparator, step)
    assert left == pytest.approx(slow, abs=1e-12 * size)
    slack = np.sum((last - comparator) ** 2) / (2 * step)
    assert right - left == pytest.approx(slack, abs=1e-11 * size)


def test_lemma_is_tight_where_the_last_iterate_is_the_comparator():
    step, w_star = 0.1, np.array([3.0, -4.0])
    vectors = np.tile(-w_star / (step * 10), (10, 1))
    left, right = sgd.lemma(vectors, w_star, step=step)
    assert left == pytest.approx(right)


def test_lemma_against_an_adversary_meets_the_regret_bound():
    """An adversary that always pushes away from w*: the mean regret stays below Bρ/√T."""
    B, rho, T = 2.0, 3.0, 400
    step = sgd.step(B, rho, T)
    w, w_star, vectors = np.zeros(2), np.array([B, 0.0]), []
    for _ in range(T):
        gap = w - w_star
        v = rho * gap / max(np.linalg.norm(gap), 1e-12)
        vectors.append(v)
        w = w - step * v
    left, _ = sgd.lemma(np.array(vectors), w_star, step=step)
    assert 0 < left / T <= sgd.value_bound(B, rho, T) * (1 + 1e-12)


def hinge(w):
    return np.mean(np.maximum(0, 1 - LABELS * (SAMPLES @ w)))


def hinge_minimum_in_ball(B):
    """By projected subgradient descent, best value seen: an upper bound on f(w*)."""
    w, best = np.zeros(3), 1.0
    for t in range(1, 3001):
        active = LABELS * (SAMPLES @ w) < 1
        w = w + (LABELS * active) @ SAMPLES / 20 * B / math.sqrt(t)
        w *= min(1.0, B / max(np.linalg.norm(w), 1e-12))
        best = min(best, hinge(w))
    return best


@pytest.mark.parametrize("T", [1, 10, 100, 1000])
def test_theorem_14_8_in_the_mean_over_seeds(T):
    B, seeds = 1.5, 200
    rng = np.random.default_rng(2)
    step = sgd.step(B, RHO, T)
    w, total = np.zeros((seeds, 3)), np.zeros((seeds, 3))
    for _ in range(T):
        total += w
        i = rng.integers(20, size=seeds)
        active = LABELS[i] * np.sum(SAMPLES[i] * w, axis=1) < 1
        w = w + step * (LABELS[i] * active)[:, None] * SAMPLES[i]
    gaps = np.array([hinge(mean) for mean in total / T]) - hinge_minimum_in_ball(B)
    assert np.mean(gaps) <= sgd.value_bound(B, RHO, T)


def test_iterations_of_theorem_14_8():
    assert sgd.iterations(2.0, 3.0, 0.5) == 144
    assert sgd.iterations(2.0, 3.0, 100.0) == 1
    T = sgd.iterations(1.7, 2.3, 0.013)
    assert math.ceil((1.7 * 2.3 / 0.013) ** 2) == T
    assert sgd.value_bound(1.7, 2.3, T) <= 0.013


def test_bound_takes_an_array_of_T():
    np.testing.assert_allclose(sgd.value_bound(2.0, 3.0, np.array([1, 4, 9])), [6.0, 3.0, 2.0])
    np.testing.assert_allclose(sgd.step(2.0, 4.0, np.array([1, 4])), [0.5, 0.25])


@pytest.mark.parametrize("T", [1, 10, 300])
def test_theorem_14_11_in_the_mean_over_seeds(T):
    """½‖w‖² − wᵀx, x random of length 1, on the unit ball: 1-strongly convex, ‖v‖ ≤ 2."""
    rng = np.random.default_rng(3)
    seeds, mean = 300, np.array([0.6, 0.0])
    w, total = np.ones((seeds, 2)) / math.sqrt(2), np.zeros((seeds, 2))
    for t in range(1, T + 1):
        total += w
        x = mean + np.where(rng.random(seeds) < 0.5, 0.8, -0.8)[:, None] * np.array([0.0, 1.0])
        w = w - sgd.strongly_convex_step(1.0, t) * (w - x)
        w /= np.maximum(1.0, np.linalg.norm(w, axis=1))[:, None]
    gaps = 0.5 * np.sum((total / T - mean) ** 2, axis=1)
    assert np.mean(gaps) <= sgd.strongly_convex_bound(2.0, strong_convexity=1.0, iterations=T)


@pytest.mark.parametrize("tolerance", [10.0, 1.999, 0.1, 1e-6])
def test_strongly_convex_iterations_are_the_first_that_suffice(tolerance):
    T = sgd.strongly_convex_iterations(2.0, tolerance, strong_convexity=1.0)
    bound = sgd.strongly_convex_bound(2.0, strong_convexity=1.0, iterations=T)
    assert bound <= tolerance
    if T > 1:
        before = sgd.strongly_convex_bound(2.0, strong_convexity=1.0, iterations=T - 1)
        assert before > tolerance


def test_arguments_are_checked():
    with pytest.raises(InputError, match="vectors must be one row per step with 2 entries"):
        sgd.lemma(np.ones(2), np.ones(2), step=0.1)
    with pytest.raises(InputError, match="radius must be above 0"):
        sgd.value_bound(0.0, 1.0, 10)
    with pytest.raises(InputError, match="iterations must be a whole number, at least 1"):
        sgd.value_bound(1.0, 1.0, 0)
