import tracemalloc

import numpy as np
import pytest

import thalweg as tw
from thalweg.curvature.extent import spectrum_extent
from thalweg.curvature.lanczos import FULL_DIM, extreme_eigenvalues

DIM = 200
SPECTRA = {
    "even": np.linspace(1.0, 2.0, DIM),
    "powers": np.arange(1.0, DIM + 1) ** -2.0,
    "one far above": np.append(np.linspace(0.0, 1.0, DIM - 1), 1e3),
    "both signs": np.linspace(-3.0, 1.0, DIM),
    "clusters": np.repeat([0.0, 1.0, 1.0 + 1e-9, 5.0], DIM // 4),
    "tiny": 1e-200 * np.arange(1.0, DIM + 1),
    "huge": 1e200 * np.arange(1.0, DIM + 1),
}


def extent_of(curvatures, seed=0, **options):
    rng = np.random.default_rng(seed)
    return spectrum_extent(lambda v: curvatures * v, curvatures.size, rng=rng, **options)


def test_two_steps_by_hand():
    # Two curvatures: whatever the start, two steps see all of it.
    found = extent_of(np.repeat([2.0, 6.0], DIM // 2))
    assert found.steps == 2
    assert (found.smallest, found.largest) == pytest.approx((2.0, 6.0), rel=1e-12)
    assert found.error == found.rounding < 1e-11


def test_a_small_matrix_is_found_whole():
    curvatures = np.linspace(-1.0, 4.0, FULL_DIM)
    found = extent_of(curvatures)
    assert found.steps == FULL_DIM
    assert (found.smallest, found.largest) == pytest.approx((-1.0, 4.0), rel=1e-12)
    assert found.negative_curvature_is_proven
    assert found.norm == pytest.approx(4.0)


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("steps", [20, 60, 150])
def test_it_is_what_lanczos_with_a_basis_finds(name, steps):
    # In 150 steps orthogonality is lost for long. Copies of the end that has converged first may
    # delay the other, but within the error.
    curvatures = SPECTRA[name]
    found = extent_of(curvatures, tol=0.0, max_steps=steps)
    whole = extreme_eigenvalues(
        lambda v: curvatures * v, DIM, rng=np.random.default_rng(0), tol=0.0, max_steps=steps
    )
    size = np.abs(curvatures).max()
    assert found.largest == pytest.approx(whole.largest.value, abs=1e-10 * size)
    assert abs(found.smallest - whole.smallest.value) <= min(found.error, 1e-3 * size)
    assert found.error <= whole.largest.error + 1e-10 * size


@pytest.mark.parametrize("name", SPECTRA)
def test_the_spectrum_is_within_the_interval_and_the_values_within_the_spectrum(name):
    curvatures = SPECTRA[name]
    low, high = curvatures.min(), curvatures.max()
    for seed in range(20):
        found = extent_of(curvatures, seed, max_steps=40)
        assert found.interval[0] <= low
        assert high <= found.interval[1]
        assert low - found.rounding <= found.smallest <= found.largest <= high + found.rounding


def test_the_smoothness_of_a_linear_problem_is_as_good_as_with_a_basis():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 90)) * np.arange(1, 91) ** -0.5 + 0.5
    data = tw.LinearProblem(X, rng.standard_normal(300))
    rows = np.column_stack([X, np.ones(300)])
    true = np.linalg.eigvalsh(rows.T @ rows / 300)[-1]
    whole = extreme_eigenvalues(
        lambda v: rows.T @ (rows @ v) / 300, 91, rng=np.random.default_rng(0), max_steps=60
    )
    assert true <= data.smoothness <= whole.interval[1] * (1 + 1e-9)


def test_three_vectors_are_all_it_takes():
    dim = 100_000
    curvatures = np.linspace(0.0, 1.0, dim)
    tracemalloc.start()
    extent_of(curvatures, tol=0.0, max_steps=30)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 3.5 * 8 * dim


def test_products_are_checked():
    rng = np.random.default_rng(0)
    with pytest.raises(tw.InputError, match="must return a vector of 100 entries"):
        spectrum_extent(lambda v: v[:-1], 100, rng=rng)
    with pytest.raises(tw.InputError, match="must return finite numbers, got nan at position 0"):
        spectrum_extent(lambda v: np.full(100, np.nan), 100, rng=rng)
    with pytest.raises(tw.InputError, match=r"rng must be a numpy\.random\.Generator"):
        spectrum_extent(lambda v: 2 * v, 100, rng=0)
