"""Stochastic Lanczos quadrature against the eigenvalues themselves."""

import numpy as np
import pytest

from thalweg.core.errors import InputError, StorageError
from thalweg.curvature.density import SpectralDensity, spectral_density
from thalweg.curvature.lanczos import tridiagonalize


def symmetric(eigenvalues, rng):
    Q, _ = np.linalg.qr(rng.standard_normal((len(eigenvalues), len(eigenvalues))))
    return (Q * eigenvalues) @ Q.T


def test_nodes_and_weights_by_definition():
    """Σ τₖ² θₖʲ is the start's vᵀHʲv, for every power j up to 2m − 1."""
    rng = np.random.default_rng(0)
    H = symmetric(rng.uniform(-1, 1, 30), rng)
    estimate = spectral_density(
        lambda v: H @ v, 30, steps=5, probes=1, rng=np.random.default_rng(1)
    )
    v = tridiagonalize(lambda v: H @ v, 30, 5, np.random.default_rng(1)).basis[0]
    power = v.copy()
    for j in range(10):
        assert np.sum(estimate.weights * estimate.nodes**j) == pytest.approx(v @ power, abs=1e-12)
        power = H @ power


@pytest.mark.parametrize(
    "eigenvalues",
    [
        np.random.default_rng(2).standard_normal(80),
        np.repeat([-1.0, 0.0, 2.0], [10, 60, 10]),
        np.ones(40),
        np.zeros(40),
        np.array([3.0]),
        1.0 / np.arange(1, 101) ** 2,
    ],
    ids=["gaussian", "multiplicities", "identity", "zero", "dim one", "power law"],
)
def test_density_is_one(eigenvalues):
    rng = np.random.default_rng(3)
    H = symmetric(eigenvalues, rng)
    estimate = spectral_density(
        lambda v: H @ v, len(eigenvalues), steps=20, probes=4, rng=rng, grid_points=2000
    )
    assert np.all(estimate.weights >= 0)
    assert np.sum(estimate.weights) == pytest.approx(1.0)
    assert np.trapezoid(estimate.density, estimate.grid) == pytest.approx(1.0, abs=1e-4)
    assert np.all(np.diff(estimate.nodes) >= 0)
    size = np.abs(eigenvalues).max()
    assert estimate.nodes[0] >= eigenvalues.min() - 1e-12 * size
    assert estimate.nodes[-1] <= eigenvalues.max() + 1e-12 * size


def test_atoms_have_the_shares_of_the_eigenvalues():
    rng = np.random.default_rng(4)
    eigenvalues = np.repeat([-1.0, 0.0, 2.0], [100, 600, 300])
    estimate = spectral_density(lambda v: eigenvalues * v, 1000, steps=6, probes=50, rng=rng)
    assert estimate.cumulative(-1.5) == 0.0
    assert estimate.cumulative(-0.5) == pytest.approx(0.1, abs=0.01)
    assert estimate.cumulative(1.0) == pytest.approx(0.7, abs=0.01)
    assert estimate.cumulative(2.5) == pytest.approx(1.0)
    assert estimate.mean() == pytest.approx(0.5, abs=0.02)


def test_cumulative_follows_the_true_distribution():
    """The semicircle of a large random matrix, every point of it within a few percent."""
    rng = np.random.default_rng(5)
    n = 500
    A = rng.standard_normal((n, n))
    H = (A + A.T) / np.sqrt(2 * n)
    truth = np.linalg.eigvalsh(H)
    estimate = spectral_density(lambda v: H @ v, n, steps=40, probes=10, rng=rng)
    x = np.linspace(-2.2, 2.2, 200)
    share = np.searchsorted(truth, x, side="right") / n
    assert np.max(np.abs(estimate.cumulative(x) - share)) <= 0.04
    coarse = spectral_density(lambda v: H @ v, n, steps=40, probes=10, rng=rng, width=0.15)
    semicircle = np.sqrt(np.maximum(4 - coarse.grid**2, 0)) / (2 * np.pi)
    assert np.max(np.abs(coarse.density - semicircle)) <= 0.06


def test_width_is_the_width_of_a_single_eigenvalue():
    estimate = spectral_density(
        lambda v: 2.0 * v,
        7,
        steps=3,
        probes=2,
        rng=np.random.default_rng(6),
        width=0.5,
        grid_points=1001,
    )
    mean = np.trapezoid(estimate.grid * estimate.density, estimate.grid)
    variance = np.trapezoid((estimate.grid - mean) ** 2 * estimate.density, estimate.grid)
    assert mean == pytest.approx(2.0)
    assert np.sqrt(variance) == pytest.approx(0.5, rel=1e-3)


def test_a_seed_replays():
    D = np.linspace(0, 1, 50)
    one, two = (
        spectral_density(lambda v: D * v, 50, steps=10, probes=3, rng=np.random.default_rng(7))
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.density, two.density)


def test_arguments_are_checked():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="width must be above 0"):
        spectral_density(lambda v: v, 3, steps=2, probes=1, rng=rng, width=0.0)
    with pytest.raises(InputError, match="steps must be a whole number"):
        spectral_density(lambda v: v, 3, steps=0, probes=1, rng=rng)
    with pytest.raises(InputError, match=r"grid_points must be .* at least 2"):
        spectral_density(lambda v: v, 3, steps=2, probes=1, rng=rng, grid_points=1)


def test_to_bytes_and_back():
    H = np.diag([0.0, 1.0, 3.0])
    found = spectral_density(
        lambda v: H @ v, 3, steps=3, probes=2, rng=np.random.default_rng(0), grid_points=20
    )
    again = SpectralDensity.from_bytes(found.to_bytes())
    assert again.width == found.width
    for name in ("nodes", "weights", "grid", "density"):
        assert getattr(again, name).tobytes() == getattr(found, name).tobytes()
    with pytest.raises(StorageError, match="what to_bytes gave"):
        SpectralDensity.from_bytes(found.to_bytes()[:100])
