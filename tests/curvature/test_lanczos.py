"""Lanczos against the dense matrix: every eigenvalue, both ends, and bounds that hold."""

import math
import tracemalloc

import numpy as np
import pytest

from thalweg.core.errors import InputError
from thalweg.curvature.lanczos import extreme_eigenvalues, tridiagonalize

DIM = 60
SPECTRA = {
    "random": lambda rng, n: rng.standard_normal(n),
    "positive": lambda rng, n: rng.exponential(size=n),
    "power law": lambda rng, n: 1.0 / np.arange(1, n + 1) ** 2,
    "indefinite power law": lambda rng, n: np.where(np.arange(n) % 2, -1, 1) / np.arange(1, n + 1),
    "two clusters": lambda rng, n: (
        np.where(np.arange(n) < n // 3, 5.0, -1.0) + 1e-9 * rng.standard_normal(n)
    ),
    "multiplicities": lambda rng, n: np.repeat([-2.0, 0.0, 0.0, 3.0, 7.0], n // 5 + 1)[:n],
    "zero block": lambda rng, n: np.where(np.arange(n) < n // 2, 0.0, rng.standard_normal(n)),
    "rank one": lambda rng, n: np.where(np.arange(n) == 0, -4.0, 0.0),
    "identity": lambda rng, n: np.ones(n),
    "zero": lambda rng, n: np.zeros(n),
    "tiny": lambda rng, n: 1e-200 * rng.standard_normal(n),
    "huge": lambda rng, n: 1e200 * rng.standard_normal(n),
    "sixteen decades": lambda rng, n: np.logspace(-16, 0, n),
}


def symmetric(eigenvalues, rng):
    """A dense symmetric matrix with these eigenvalues and random eigenvectors."""
    Q, _ = np.linalg.qr(rng.standard_normal((len(eigenvalues), len(eigenvalues))))
    H = (Q * eigenvalues) @ Q.T
    return 0.5 * (H + H.T)


def test_two_steps_by_hand():
    """T₂ holds α₁ = v₁ᵀHv₁, β₁ = ‖Hv₁ − α₁v₁‖ and α₂ = v₂ᵀHv₂ with v₂ = (Hv₁ − α₁v₁)/β₁."""
    H = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 0.5]])
    found = tridiagonalize(lambda v: H @ v, 3, 2, np.random.default_rng(1))
    v1 = np.random.default_rng(1).standard_normal(3)
    v1 /= np.linalg.norm(v1)
    rest = H @ v1 - (v1 @ H @ v1) * v1
    v2 = rest / np.linalg.norm(rest)
    np.testing.assert_allclose(found.basis, [v1, v2], atol=1e-14)
    np.testing.assert_allclose(found.alpha, [v1 @ H @ v1, v2 @ H @ v2], atol=1e-14)
    np.testing.assert_allclose(found.beta, [np.linalg.norm(rest)], atol=1e-14)
    last = H @ v2 - found.alpha[1] * v2 - found.beta[0] * v1
    assert found.last_beta == pytest.approx(np.linalg.norm(last))


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("dim", [1, 2, 3, DIM])
def test_dim_steps_find_the_whole_spectrum_with_multiplicities(spectrum, dim):
    rng = np.random.default_rng(3)
    H = symmetric(SPECTRA[spectrum](rng, dim), rng)
    found = tridiagonalize(lambda v: H @ v, dim, dim, rng)
    truth = np.linalg.eigvalsh(H)
    np.testing.assert_allclose(found.basis @ found.basis.T, np.eye(dim), atol=1e-13)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(found.matrix()), truth, rtol=0, atol=1e-13 * np.abs(truth).max()
    )


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_basis_stays_orthonormal_and_the_recurrence_holds(spectrum):
    """H Vᵀ = Vᵀ T + βₘ vₘ₊₁ eₘᵀ: only the last column leaves the basis."""
    rng = np.random.default_rng(4)
    H = symmetric(SPECTRA[spectrum](rng, DIM), rng)
    found = tridiagonalize(lambda v: H @ v, DIM, 25, rng)
    norm = np.abs(np.linalg.eigvalsh(H)).max()
    gap = H @ found.basis.T - found.basis.T @ found.matrix()
    np.testing.assert_allclose(found.basis @ found.basis.T, np.eye(25), atol=1e-13)
    np.testing.assert_allclose(gap[:, :-1], 0.0, atol=1e-12 * norm)
    assert np.max(np.abs(gap[:, -1])) <= found.last_beta + 1e-12 * norm
    assert found.asymmetry <= 1e-12 * norm


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("dim", [1, 2, 5, 64])
def test_small_matrices_are_exact(spectrum, dim):
    rng = np.random.default_rng(5)
    for _ in range(5):
        H = symmetric(SPECTRA[spectrum](rng, dim), rng)
        ends = extreme_eigenvalues(lambda v, H=H: H @ v, dim, rng=rng)
        truth = np.linalg.eigvalsh(H)
        assert ends.exact
        assert ends.steps == dim
        assert ends.products == dim + 2
        for end, value in ((ends.smallest, truth[0]), (ends.largest, truth[-1])):
            assert abs(end.value - value) <= end.error
            assert end.error == ends.rounding <= 1e-11 * np.abs(truth).max()
            assert np.linalg.norm(end.vector) == pytest.approx(1.0)
            assert np.max(np.abs(H @ end.vector - end.value * end.vector)) <= end.residual
            assert end.residual <= 2e-11 * np.abs(truth).max()


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_statements_that_need_no_luck(spectrum):
    """θ_min ≥ λ_min, θ_max ≤ λ_max, and an eigenvalue lies within each residual."""
    rng = np.random.default_rng(6)
    for steps in (1, 2, 7, 30):
        H = symmetric(SPECTRA[spectrum](rng, 100), rng)
        truth = np.linalg.eigvalsh(H)
        ends = extreme_eigenvalues(lambda v, H=H: H @ v, 100, rng=rng, max_steps=steps)
        assert ends.smallest.value >= truth[0] - ends.rounding
        assert ends.largest.value <= truth[-1] + ends.rounding
        for end in (ends.smallest, ends.largest):
            assert np.min(np.abs(truth - end.value)) <= end.residual
            assert end.value == pytest.approx(
                float(end.vector @ H @ end.vector), abs=ends.rounding, rel=0
            )


def test_error_solves_the_failure_probability_for_epsilon():
    """With ε from the error, 1.648 √n exp(−√ε (2m − 1)) is half the risk: that of one end."""
    D = np.linspace(-1.0, 3.0, 100)
    ends = extreme_eigenvalues(
        lambda v: D * v, 100, rng=np.random.default_rng(0), max_steps=20, confidence=0.9
    )
    ritz_spread = ends.largest.value - ends.smallest.value
    error = ends.largest.error - ends.rounding
    epsilon = error / (ritz_spread + 2 * error)  # error = ε · the largest true spread
    failure = 1.648 * math.sqrt(100) * math.exp(-math.sqrt(epsilon) * (2 * 20 - 1))
    assert failure == pytest.approx(0.05)
    assert ends.smallest.error == ends.largest.error


def test_places_to_stop_share_the_risk():
    """Five places where 100 steps may stop: the failure probability of each is a fifth."""
    D = np.linspace(-1.0, 3.0, 1000)
    ends = extreme_eigenvalues(
        lambda v: D * v, 1000, rng=np.random.default_rng(0), tol=0.0, confidence=0.9
    )
    error = ends.largest.error - ends.rounding
    epsilon = error / (ends.largest.value - ends.smallest.value + 2 * error)
    failure = 1.648 * math.sqrt(1000) * math.exp(-math.sqrt(epsilon) * (2 * 100 - 1))
    assert ends.steps == 100
    assert failure == pytest.approx(0.05 / 5)


def hidden_outlier(rng, n):
    """A spectrum dense up to its ends, Lanczos' slowest, and one eigenvalue beyond it."""
    dense = 1 - np.cos(np.linspace(0, np.pi, n - 1))
    return np.append(dense, 2 + 10 ** rng.uniform(-3, 0))


@pytest.mark.parametrize("steps", [20, 40, 60])
@pytest.mark.parametrize("confidence", [0.5, 0.999])
def test_errors_are_honoured_at_their_confidence(confidence, steps):
    rng = np.random.default_rng(7)
    spectra = [*SPECTRA.values(), *[hidden_outlier] * len(SPECTRA)]
    runs, broken, used = 100, 0, 0.0
    for k in range(runs):
        # The start is uniform on the sphere, so a diagonal matrix is as good as any.
        D = spectra[k % len(spectra)](rng, 200)
        ends = extreme_eigenvalues(
            lambda v, D=D: D * v, 200, rng=rng, max_steps=steps, confidence=confidence
        )
        assert math.isfinite(ends.largest.error)
        low, high = ends.interval
        broken += not (low <= D.min() and D.max() <= high)
        if ends.largest.error > 0:
            used = max(used, (D.max() - ends.largest.value) / ends.largest.error)
    assert broken <= runs * (1 - confidence)
    # Unlucky starts come near the bound: it is not empty.
    assert used >= (0.25 if confidence == 0.5 else 0.04)


def test_few_steps_leave_the_error_infinite_rather_than_wrong():
    ends = extreme_eigenvalues(
        lambda v: np.arange(100.0) * v, 100, rng=np.random.default_rng(0), max_steps=4
    )
    assert ends.largest.error == math.inf
    assert ends.interval == (-math.inf, math.inf)
    assert not ends.exact


def test_outliers_stop_it_early_but_not_before_the_error_is_finite():
    rng = np.random.default_rng(9)
    D = np.concatenate([[-50.0, 100.0], rng.uniform(0, 1, 4998)])
    ends = extreme_eigenvalues(lambda v: D * v, 5000, rng=rng)
    assert ends.steps < 100
    assert math.isfinite(ends.largest.error)
    assert ends.smallest.value == pytest.approx(-50)
    assert ends.largest.value == pytest.approx(100)
    assert max(ends.smallest.residual, ends.largest.residual) <= 1e-6 * ends.norm
    assert ends.negative_curvature_is_proven


def test_error_tol_goes_on_until_the_error_is_as_small_as_asked():
    rng = np.random.default_rng(10)
    D = np.concatenate([[-50.0, 100.0], rng.uniform(0, 1, 4998)])
    early = extreme_eigenvalues(lambda v: D * v, 5000, rng=rng)
    asked = extreme_eigenvalues(lambda v: D * v, 5000, rng=rng, error_tol=1e-2, max_steps=300)
    assert asked.steps > early.steps
    assert asked.largest.error <= 1e-2 * asked.norm < early.largest.error


@pytest.mark.parametrize("dim", [40, 3000])
def test_negative_curvature_is_proven_only_where_it_is(dim):
    rng = np.random.default_rng(11)
    flat = np.concatenate([np.zeros(dim // 2), np.ones(dim - dim // 2)])
    dented = flat.copy()
    dented[0] = -1e-3
    for D, proven in ((flat, False), (dented, True)):
        ends = extreme_eigenvalues(lambda v, D=D: D * v, dim, rng=rng)
        assert ends.negative_curvature_is_proven == proven
        u = ends.smallest.vector
        assert (u @ (D * u) < -1e-6) == proven


@pytest.mark.parametrize("dim", [30, 300])
def test_noisy_asymmetric_products_stay_within_the_bounds(dim):
    """Finite differences: each product is off by 1e-6 in a direction of its own."""
    rng = np.random.default_rng(12)
    for _ in range(20):
        H = symmetric(rng.standard_normal(dim), rng)
        truth = np.linalg.eigvalsh(H)
        skew = 1e-5 * rng.standard_normal((dim, dim)) / math.sqrt(dim)

        def matvec(v, H=H, skew=skew):
            return H @ v + skew @ v + 1e-6 * rng.standard_normal(dim) / math.sqrt(dim)

        ends = extreme_eigenvalues(matvec, dim, rng=rng)
        low, high = ends.interval
        assert low <= truth[0]
        assert truth[-1] <= high
        assert 1e-7 < ends.rounding < 1e-3
        for end in (ends.smallest, ends.largest):
            assert np.min(np.abs(truth - end.value)) <= end.residual


@pytest.mark.parametrize("dim", [1, 2, 20, 64, 400])
def test_float32_products_stay_within_the_bounds(dim):
    rng = np.random.default_rng(13)
    for _ in range(20):
        H = symmetric(rng.standard_normal(dim), rng)
        truth = np.linalg.eigvalsh(H)
        H32 = H.astype(np.float32)
        ends = extreme_eigenvalues(lambda v, H32=H32: H32 @ v.astype(np.float32), dim, rng=rng)
        assert ends.interval[0] <= truth[0]
        assert truth[-1] <= ends.interval[1]
        assert ends.rounding <= 1e-3 * ends.norm


def test_a_seed_replays():
    D = np.linspace(-1, 1, 500)
    one, two = (
        extreme_eigenvalues(lambda v: D * v, 500, rng=np.random.default_rng(14)) for _ in range(2)
    )
    assert one.interval == two.interval
    np.testing.assert_array_equal(one.largest.vector, two.largest.vector)


def test_a_hundred_thousand_variables_in_memory_linear_in_dim_times_steps():
    dim, steps = 100_000, 25
    D = np.concatenate([[-3.0, 8.0], np.linspace(0, 1, dim - 2)])
    tracemalloc.start()
    ends = extreme_eigenvalues(
        lambda v: D * v, dim, rng=np.random.default_rng(15), max_steps=steps, tol=0.0
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= (steps + 12) * dim * 8
    assert ends.smallest.value == pytest.approx(-3)
    assert ends.largest.value == pytest.approx(8)
    assert ends.products == steps + 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"confidence": 1.0}, r"confidence must be in \(0, 1\), got 1.0"),
        ({"tol": -1.0}, "tol must be at least 0"),
        ({"error_tol": math.nan}, "error_tol must be at least 0"),
        ({"max_steps": 0}, "max_steps must be a whole number"),
        ({"rng": 3}, "rng must be a numpy.random.Generator"),
    ],
)
def test_arguments_are_checked(arguments, sentence):
    arguments = {"rng": np.random.default_rng(0)} | arguments
    with pytest.raises(InputError, match=sentence):
        extreme_eigenvalues(lambda v: v, 3, **arguments)


def test_a_product_that_is_not_finite_is_named():
    with pytest.raises(InputError, match="matvec must return finite numbers, got nan"):
        extreme_eigenvalues(lambda v: v * np.nan, 3, rng=np.random.default_rng(0))
