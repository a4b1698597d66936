"""SVRG's rate against plain runs of the definition, and the conditions under which it holds."""

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.theory import svrg

N, D, SEEDS = 8, 2, 300


def problem():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((N, D)), rng.standard_normal(N)
    A /= np.linalg.norm(A, axis=1)[:, None]  # every Lᵢ = 1
    H = A.T @ A / N
    return A, b, H, np.linalg.solve(H, A.T @ b / N), 1.0, float(np.linalg.eigvalsh(H)[0])


def epoch(A, b, H, optimum, snapshot, step, inner_steps, rng):
    """One epoch for many seeds: x⁰ … xᵐ⁻¹, of which each seed keeps a random one."""
    full = (snapshot - optimum) @ H
    keep = rng.integers(inner_steps, size=SEEDS)
    x, kept = snapshot, snapshot
    for t in range(inner_steps):
        kept = np.where((keep == t)[:, None], x, kept)
        i = rng.integers(N, size=SEEDS)
        change = np.sum(A[i] * (x - snapshot), axis=1)[:, None] * A[i]
        x = x - step * (change + full)
    return kept


@pytest.mark.parametrize("step_times_L", [0.05, 0.1, 0.2])
def test_each_epoch_shrinks_the_mean_gap_by_the_rate(step_times_L):
    A, b, H, optimum, smoothness, mu = problem()
    step = step_times_L / smoothness
    shape = {"smoothness": smoothness, "strong_convexity": mu}
    inner_steps = 2 * svrg.fewest_inner_steps(step=step, **shape)
    rate = svrg.rate_per_epoch(step=step, inner_steps=inner_steps, **shape)
    assert rate < 1
    rng = np.random.default_rng(1)
    x = np.tile([2.0, -1.0], (SEEDS, 1))
    first = gap = 0.5 * np.mean(np.einsum("sd,de,se->s", x - optimum, H, x - optimum))
    for s in range(1, 5):
        x = epoch(A, b, H, optimum, x, step, inner_steps, rng)
        gap = 0.5 * np.mean(np.einsum("sd,de,se->s", x - optimum, H, x - optimum))
        assert gap <= rate**s * first


@pytest.mark.parametrize("step", [0.01, 0.1, 0.24])
def test_fewest_inner_steps_are_where_the_rate_passes_one(step):
    shape = {"smoothness": 1.0, "strong_convexity": 0.013}
    m = svrg.fewest_inner_steps(step=step, **shape)
    assert svrg.rate_per_epoch(step=step, inner_steps=m, **shape) < 1
    assert svrg.rate_per_epoch(step=step, inner_steps=m - 1, **shape) >= 1


@pytest.mark.parametrize("condition", [1.0, 30.0, 1e5])
def test_recommended_halves_the_gap(condition):
    shape = {"smoothness": condition, "strong_convexity": 1.0}
    choice = svrg.recommended(**shape)
    assert choice.rate <= 0.5 + 1e-12
    assert choice.rate == pytest.approx(0.5)
    assert choice.inner_steps == 50 * condition
    arguments = {"step": choice.step, "inner_steps": choice.inner_steps}
    assert svrg.epochs(1.0, 0.99e-3, **arguments, **shape) == 10


def test_rate_by_hand():
    rate = svrg.rate_per_epoch(step=0.125, inner_steps=64, smoothness=1.0, strong_convexity=0.5)
    assert rate == pytest.approx(1 / (0.5 * 0.125 * 0.75 * 64) + 0.25 / 0.75)
    assert svrg.evaluations_per_epoch(samples=100, inner_steps=200) == 500


def test_what_the_theorem_does_not_cover_is_refused():
    shape = {"smoothness": 1.0, "strong_convexity": 0.1}
    with pytest.raises(InputError, match=r"step must be in \(0, 0.5\), got 0.5: 1/2L is the limit"):
        svrg.rate_per_epoch(step=0.5, inner_steps=10, **shape)
    with pytest.raises(InputError, match="no epoch is long enough"):
        svrg.fewest_inner_steps(step=0.25, **shape)
    with pytest.raises(InputError, match=r"must give a rate below 1, got .*: take a step below"):
        svrg.epochs(1.0, 0.1, step=0.1, inner_steps=10, **shape)
