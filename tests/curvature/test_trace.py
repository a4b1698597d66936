"""Hutchinson's estimate: unbiased, with the variance of the formula and intervals that cover."""

import numpy as np
import pytest
from scipy import stats

from thalweg.core.errors import InputError
from thalweg.curvature.trace import _student_quantile, trace


def random_symmetric(dim, rng):
    A = rng.standard_normal((dim, dim))
    return A + A.T


def test_samples_by_definition():
    """Every sample is zᵀHz for signs z: in two dimensions h₁₁ + h₂₂ ± 2h₁₂."""
    H = np.array([[3.0, 0.5], [0.5, -1.0]])
    estimate = trace(lambda v: H @ v, 2, probes=64, rng=np.random.default_rng(0))
    assert set(estimate.samples) == {1.0, 3.0}
    assert estimate.value == np.mean(estimate.samples)
    assert estimate.standard_error == pytest.approx(stats.sem(estimate.samples))


@pytest.mark.parametrize("diagonal", [[5.0], [1.0, -2.0, 4.0], [0.0, 0.0]])
def test_a_diagonal_matrix_needs_no_luck(diagonal):
    estimate = trace(
        lambda v: np.array(diagonal) * v, len(diagonal), probes=2, rng=np.random.default_rng(0)
    )
    assert estimate.value == sum(diagonal)
    assert estimate.standard_error == 0.0
    assert estimate.interval == (estimate.value, estimate.value)


def test_variance_is_that_of_the_formula():
    rng = np.random.default_rng(1)
    H = random_symmetric(12, rng)
    estimate = trace(lambda v: H @ v, 12, probes=20_000, rng=rng)
    variance = 2 * (np.sum(H**2) - np.sum(np.diag(H) ** 2))
    assert np.var(estimate.samples, ddof=1) == pytest.approx(variance, rel=0.05)
    assert abs(estimate.value - np.trace(H)) <= 4 * np.sqrt(variance / 20_000)


@pytest.mark.parametrize(("probes", "confidence"), [(5, 0.95), (30, 0.8)])
def test_interval_covers_as_often_as_it_says(probes, confidence):
    rng = np.random.default_rng(2)
    runs, covered = 300, 0
    for _ in range(runs):
        H = random_symmetric(15, rng)
        low, high = trace(
            lambda v, H=H: H @ v, 15, probes=probes, rng=rng, confidence=confidence
        ).interval
        covered += low <= np.trace(H) <= high
    spread = np.sqrt(runs * confidence * (1 - confidence))
    assert abs(covered - runs * confidence) <= 3.5 * spread


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 57, 58, 1000, 10**6])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_quantile_is_students(freedom, confidence):
    exact = stats.t.ppf(0.5 + confidence / 2, freedom)
    assert _student_quantile(confidence, freedom) == pytest.approx(exact, rel=1e-4)


def test_arguments_are_checked():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"probes must be .* at least 2, got 1: one probe says"):
        trace(lambda v: v, 3, probes=1, rng=rng)
    with pytest.raises(InputError, match="matvec must return finite numbers"):
        trace(lambda v: v * np.inf, 3, probes=2, rng=rng)
