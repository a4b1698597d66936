"""One quadratic along penalties: each point alone, systems where sweeps are slow, warm starts."""

import numpy as np
import pytest

from thalweg.methods.l1_quadratic import minimise_quadratic
from thalweg.methods.quadratic_path import QuadraticPath

L1S, L2S = np.geomspace(1.0, 1e-3, 12), np.linspace(0.0, 0.1, 12)


def quadratic(rho, p=20, n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + (1.0 - rho**2) ** 0.5 * X[:, j]
    y = X[:, 0] - 2.0 * X[:, 5] + rng.standard_normal(n)
    return X.T @ X / n, X.T @ y / n, float(y @ y) / n


@pytest.mark.parametrize("rho", [0.0, 0.9, 0.9999])
@pytest.mark.parametrize("l2s", [np.zeros(12), L2S], ids=["l1", "elastic net"])
def test_every_point_is_the_minimum_alone(rho, l2s):
    H, q, s = quadratic(rho)
    W, starts = QuadraticPath.of(H, q, s).along(L1S, l2s, 1e-15 * s)
    for k, (l1, l2) in enumerate(zip(L1S, l2s, strict=True)):
        alone, slopes = np.zeros(q.size), -q.copy()
        minimise_quadratic(H + l2 * np.eye(q.size), slopes, l1, alone, 0.0, 1e-12)
        np.testing.assert_allclose(W[k], alone, atol=1e-6 * (1.0 + np.abs(alone).max()))
    assert starts[0, 0] == pytest.approx(0.5 * s)


def test_features_that_are_alike_are_placed_by_systems():
    H, q, s = quadratic(0.9999, p=60, n=80)
    path = QuadraticPath.of(H, q, s)
    path.along(L1S, np.zeros(12), 1e-14 * s)
    assert path.is_slow
    easy = QuadraticPath.of(*quadratic(0.0))
    easy.along(L1S, np.zeros(12), 1e-10 * s)
    assert not easy.is_slow


def test_a_point_that_is_good_enough_is_left_as_it_is():
    H, q, s = quadratic(0.5)
    path = QuadraticPath.of(H, q, s)
    W, _ = path.along(np.array([0.1, 0.1]), np.zeros(2), 1e-12)
    np.testing.assert_array_equal(W[1], W[0])
    np.testing.assert_array_equal(path.w, W[1])


def test_a_constant_feature_stays_at_zero():
    H, q, s = quadratic(0.0)
    H[3], H[:, 3], q[3] = 0.0, 0.0, 0.0
    W, _ = QuadraticPath.of(H, q, s).along(L1S, L2S, 1e-10)
    assert np.all(W[:, 3] == 0.0)
    assert np.all(np.isfinite(W))
