import numpy as np
import pytest

from thalweg.kernels.elementwise import soft_threshold_pass
from thalweg.rules import soft_threshold

EDGES = [0.0, -0.0, 0.25, -0.25, 0.1, -0.1, 1e-300, -1e-30]


def test_two_steps_by_hand():
    # 0.6 − 0.25 = 0.35; 0.35 − 0.25 = 0.1; then |0.1| ≤ 0.25
    w = soft_threshold(0.6, 0.25)
    assert w == pytest.approx(0.35, rel=1e-15)
    w = soft_threshold(w, 0.25)
    assert w == pytest.approx(0.1, rel=1e-14)
    assert soft_threshold(w, 0.25) == 0
    assert soft_threshold(-0.6, 0.25) == pytest.approx(-0.35, rel=1e-15)


def test_all_kinds_agree(agree):
    agree(soft_threshold, [(0.3,)] * 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zero_is_exact_up_to_the_threshold(dtype):
    w = np.array(EDGES, dtype)
    assert not soft_threshold(w, 0.25).any()
    soft_threshold_pass(w, 0.25)
    assert not w.any()
    assert [soft_threshold(edge, 0.25) for edge in EDGES] == [0.0] * len(EDGES)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zero_is_exact_on_tensors(dtype):
    torch = pytest.importorskip("torch")
    w = torch.tensor(EDGES, dtype=getattr(torch, dtype))
    assert not soft_threshold(w, 0.25).any()


def test_matches_torch_softshrink(gradients):
    torch = pytest.importorskip("torch")
    expected = torch.nn.functional.softshrink(torch.tensor(gradients), 0.7).numpy()
    np.testing.assert_allclose(soft_threshold(gradients, 0.7), expected, rtol=1e-14)


def test_minimises_the_proximal_objective():
    # argmin of λ|u| + (u − w)²/(2η) over a fine grid, τ = ηλ = 0.3
    u = np.linspace(-3, 3, 600_001)
    for w in (-2.0, -0.3, -0.1, 0.0, 0.29, 0.31, 1.7):
        nearest = u[np.argmin(0.6 * np.abs(u) + (u - w) ** 2 / (2 * 0.5))]
        assert soft_threshold(w, 0.5 * 0.6) == pytest.approx(nearest, abs=1e-5)


def test_nan_stays_nan():
    assert np.isnan(soft_threshold(float("nan"), 0.25))
