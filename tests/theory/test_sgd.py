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


def adversary(rng):
    """Vectors, comparator and step that try to break the lemma, greedily or by their sizes."""
    T, d = int(rng.integers(1, 20)), int(rng.integers(1, 6))
    step, kind = 10.0 ** rng.uniform(-6, 6), rng.integers(6)
    w_star = rng.standard_normal(d) * 10.0 ** rng.uniform(-6, 6)
    w, vectors = np.zeros(d), np.empty((T, d))
    for t in range(T):
        v = rng.standard_normal(d)
        if kind == 1:  # every vector of another size
            v *= 10.0 ** rng.uniform(-8, 8)
        elif kind == 2:  # there and back
            v = (-1.0) ** t * np.ones(d) * 10.0 ** rng.uniform(-1, 1)
        elif kind == 3:  # along w − w*, up to the length that the left side gains most from
            v = (w - w_star) / step * rng.uniform(0, 2)
        elif kind == 4:  # that very length: w arrives at w*, and both sides are equal
            v = (w - w_star) / step
        elif kind == 5 and rng.random() < 0.5:
            v = np.zeros(d)
        vectors[t] = v
        w = w - step * v
    return vectors, w_star, step


def test_lemma_holds_for_ten_thousand_adversarial_sequences():
    rng = np.random.default_rng(4)
    eps, tight = np.finfo(float).eps, 0
    for _ in range(10_000):
        vectors, w_star, step = adversary(rng)
        left, right = sgd.lemma(vectors, w_star, step=step)
        _, last = by_definition(vectors, w_star, step)
        sizes = np.linalg.norm(vectors, axis=1)
        reach = np.linalg.norm(w_star) + step * sizes.sum()  # no w⁽ᵗ⁾ is further away
        rounding = 8 * eps * len(vectors) * (right + reach * sizes.sum() + reach**2 / step)
        assert left <= right + rounding
        assert abs(right - left - np.sum((last - w_star) ** 2) / (2 * step)) <= rounding
        tight += right - left <= 1e-9 * right
    assert tight > 1000  # where it is an equality, nothing could be taken away from the right


def test_a_constant_step_is_worth_most_at_its_horizon():
    B, rho, T = 2.0, 3.0, 400
    step = sgd.step(B, rho, T)
    bound = sgd.constant_step_bound(B, rho, step=step, iterations=T)
    assert bound == pytest.approx(sgd.value_bound(B, rho, T), rel=1e-14)
    assert bound == pytest.approx(0.3, rel=1e-14)
    for other in (0.5 * step, 2.0 * step):
        assert sgd.constant_step_bound(B, rho, step=other, iterations=T) > bound
    # Half of it is paid for by T, half by η: later it falls to the half that stays.
    later = sgd.constant_step_bound(B, rho, step=step, iterations=np.array([T, 2 * T, 10**12]))
    np.testing.assert_allclose(later, [0.3, 0.225, 0.15], rtol=1e-8)


def test_the_bound_is_the_lemma_divided_by_T():
    """For vectors of length ρ and a comparator of length B, right/T is the bound."""
    B, rho, T, step = 2.0, 3.0, 50, 0.07
    vectors = np.tile([rho, 0.0], (T, 1))
    _, right = sgd.lemma(vectors, np.array([0.0, B]), step=step)
    bound = sgd.constant_step_bound(B, rho, step=step, iterations=T)
    assert bound == pytest.approx(right / T, rel=1e-14)


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
        w = w - 1.0 / t * (w - x)
        w /= np.maximum(1.0, np.linalg.norm(w, axis=1))[:, None]
    gaps = 0.5 * np.sum((total / T - mean) ** 2, axis=1)
    assert np.mean(gaps) <= sgd.strongly_convex_bound(2.0, strong_convexity=1.0, iterations=T)


def test_arguments_are_checked():
    with pytest.raises(InputError, match="vectors must be one row per step with 2 entries"):
        sgd.lemma(np.ones(2), np.ones(2), step=0.1)
    with pytest.raises(InputError, match="radius must be above 0"):
        sgd.value_bound(0.0, 1.0, 10)
    with pytest.raises(InputError, match="iterations must be a whole number, at least 1"):
        sgd.value_bound(1.0, 1.0, 0)
