import numpy as np
import pytest

from thalweg.rules import clip_by_norm, clip_factor


def test_long_and_short_by_hand():
    # ‖(3, 4)‖ = 5: limited to 1 it is (0.6, 0.8), limited to 5 or more it stays.
    g = np.array([3.0, 4.0])
    np.testing.assert_allclose(clip_by_norm(g, 1.0), [0.6, 0.8], rtol=1e-15)
    assert clip_by_norm(g, 5.0) is g
    assert clip_by_norm(g, 6.0) is g
    assert g.tolist() == [3, 4]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("limit", [0.5, 3, 1e3])
def test_array_and_tensor_agree_with_the_definition(dtype, limit):
    torch = pytest.importorskip("torch")
    g = np.random.default_rng(0).standard_normal((4, 6)).astype(dtype)
    norm = np.linalg.norm(g.astype(np.float64))
    expected = g * limit / norm if norm > limit else g
    on_array, on_tensor = clip_by_norm(g, limit), clip_by_norm(torch.tensor(g), limit).numpy()
    for got in (on_array, on_tensor):
        assert got.dtype == dtype
        assert got.shape == g.shape
        np.testing.assert_allclose(got, expected, rtol=1e-6 if dtype == np.float32 else 1e-14)


def test_matches_torch(gradients):
    torch = pytest.importorskip("torch")
    for g in gradients:
        w = torch.nn.Parameter(torch.zeros(len(g), dtype=torch.float64))
        w.grad = torch.tensor(g)
        torch.nn.utils.clip_grad_norm_([w], 50.0)
        # torch divides by ‖g‖ + 10⁻⁶.
        np.testing.assert_allclose(clip_by_norm(g, 50.0), w.grad.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [("float64", 1e200), ("float64", 1e308), ("float64", 1e-300), ("float32", 1e30)],
)
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_squares_neither_overflow_nor_vanish(kind, dtype, scale):
    g = np.array([0.3, -0.4, 1.2], dtype) * scale
    if kind == "torch":
        g = pytest.importorskip("torch").tensor(g)
    limit = scale / 10
    expected = np.array([0.3, -0.4, 1.2]) / 1.3 * limit
    np.testing.assert_allclose(clip_by_norm(g, limit).tolist(), expected, rtol=1e-6)
    assert clip_by_norm(g, 1.4 * scale) is g


@pytest.mark.parametrize("g", [np.zeros(3), np.zeros(0), np.zeros((2, 0), np.float32)])
def test_nothing_to_clip(g):
    assert clip_by_norm(g, 1.0) is g
    assert clip_by_norm(g, 0.0) is g


def test_limit_zero_gives_zero():
    assert clip_by_norm(np.array([3.0, 4.0]), 0.0).tolist() == [0, 0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_comes_back_unchanged(bad):
    torch = pytest.importorskip("torch")
    g = np.array([1.0, bad, 2.0])
    assert clip_by_norm(g, 0.5) is g
    tensor = torch.tensor(g)
    assert clip_by_norm(tensor, 0.5) is tensor


def test_the_factor_by_hand():
    assert clip_factor(5.0, 1.0) == 0.2
    assert clip_factor(5.0, 5.0) == clip_factor(4.9, 5.0) == clip_factor(0.0, 0.1) == 1.0


@pytest.mark.parametrize("limit", [1e-300, 0.3, 2.0, 1e300])
def test_the_factor_is_that_of_the_definition_on_all_kinds(limit):
    torch = pytest.importorskip("torch")
    norms = np.random.default_rng(0).lognormal(0.0, 3.0, 1000)
    expected = np.minimum(1.0, limit / norms)
    on_floats = [clip_factor(norm, limit) for norm in norms.tolist()]
    for found in (on_floats, clip_factor(norms, limit), clip_factor(torch.tensor(norms), limit)):
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-15)
        assert ((np.asarray(found) == 1.0) == (norms <= limit)).all()


def test_the_factor_and_the_vector_are_one_rule(gradients):
    for g in gradients:
        factor = clip_factor(float(np.linalg.norm(g)), 50.0)
        np.testing.assert_allclose(factor * g, clip_by_norm(g, 50.0), rtol=1e-14)
