"""A pass of dual ascent for tubes, against the dual value itself."""

import math

import numpy as np
import pytest

from thalweg.kernels.tube import TubeSamples, tube_pass


def drawn(seed, bend):
    rng = np.random.default_rng(seed)
    X, y, c = rng.standard_normal((12, 3)), rng.standard_normal(12), rng.uniform(0.5, 1.5, 12)
    c[5] = 0.0
    ends = (0.7, 0.4) if bend == 0.0 else (math.inf, math.inf)
    return TubeSamples(X, y, c / c.sum(), np.sum(X**2, axis=1), 0.2, *ends, 0.3, bend)


def dual(samples, theta):
    v = samples.X.T @ (samples.c * theta)
    costs = samples.y * theta + samples.width * np.abs(theta) + 0.5 * samples.bend * theta**2
    return -float(samples.c @ costs) - float(v @ v) / (2.0 * samples.l2)


def test_a_visit_by_hand():
    # q = 1·1/0.5 = 2, k = 0 + 0 − 3 + 1 = −2 and t = −2/2 = −1, of which 0.4 are allowed.
    one = np.ones(1)
    samples = TubeSamples(one[:, None], 3.0 * one, one, one, 0.5, 0.7, 0.4, 1.0, 0.0)
    theta, w = np.zeros(1), np.zeros(1)
    tube_pass(samples, np.array([0]), theta, w)
    assert (theta[0], w[0]) == (-0.4, 0.8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bend", [0.0, 0.5])
def test_every_visit_ends_at_the_best_dual_of_its_sample(seed, bend):
    samples = drawn(seed, bend)
    theta, w = np.zeros(12), np.zeros(3)
    for i in np.random.default_rng(seed).permutation(12):
        tube_pass(samples, np.array([i]), theta, w)
        np.testing.assert_allclose(w, -samples.X.T @ (samples.c * theta) / samples.l2, atol=1e-12)
        low, high = max(-samples.below, -20.0), min(samples.above, 20.0)
        best = dual(samples, theta)
        for t in np.linspace(low, high, 401):
            other = theta.copy()
            other[i] = t
            assert dual(samples, other) <= best + 1e-12
    assert theta[5] == 0.0
