import numpy as np
import pytest

from thalweg import rules
from thalweg.kernels import tensors

AROUND = [1.0, 0.0, 0.0, 0.0, np.inf, 0.01]  # nothing acts around the rule; η = 0.01
RULES = {
    "plain_step": (0, []),
    "heavy_ball": (1, [0.9]),
    "nesterov": (1, [0.9]),
    "adagrad": (1, [1e-10]),
    "rmsprop": (1, [0.99, 1e-8]),
    "adam": (2, [3.0, 0.9, 0.999, 1e-8]),
    "nadam": (2, [3.0, 0.46, 0.47, 0.1, 0.9, 0.999, 1e-8]),
}


def table_of(*arrays, units=(0, 0, 0, 0)):
    """One piece."""
    places = [array.ctypes.data for array in arrays]
    return np.array([[arrays[0].size, 0, *units, *places]], dtype=np.int64)


def memory(count, size, dtype):
    """w, g and buffers, of which second moments are positive."""
    rng = np.random.default_rng(0)
    w, g = (rng.standard_normal(size).astype(dtype) for _ in range(2))
    return w, g, *(np.square(rng.standard_normal(size)).astype(dtype) for _ in range(count))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", RULES)
def test_a_piece_is_stepped_by_its_rule(name, dtype):
    count, numbers = RULES[name]
    arrays = memory(count, 1000, dtype)
    before = [array.astype(np.float64) for array in arrays]
    kernel = getattr(tensors, f"{name}_tensors")
    kernel(table_of(*arrays), np.array([AROUND + numbers]), arrays[0][:0], 0, 1)
    w, g, *buffers = before
    if name in ("adam", "nadam"):
        split = 1 if name == "adam" else 4
        given = (*numbers[:split], 0.01, *numbers[split:])
    else:
        given = (0.01, *numbers)
    expected = getattr(rules, name)(w, g, *buffers, *given)
    expected = expected if isinstance(expected, tuple) else (expected,)
    found = (arrays[0], *arrays[2:])
    eps = np.finfo(dtype).eps
    for new, wanted in zip(found, expected, strict=True):
        assert new.dtype == dtype
        np.testing.assert_allclose(new, wanted, rtol=4 * eps, atol=4 * eps)


def test_momentum_on_rmsprop_is_a_heavy_ball():
    w, g, s, m = memory(2, 100, np.float64)
    direction, mean = rules.rmsprop(0.0, g, s, -1.0, 0.9, 1e-8)
    wanted, momentum = rules.heavy_ball(w, direction, m, 0.01, 0.5)
    settings = np.array([[*AROUND, 0.9, 1e-8, 0.5]])
    tensors.rmsprop_momentum_tensors(table_of(w, g, s, m), settings, w[:0], 0, 1)
    for new, expected in ((w, wanted), (s, mean), (m, momentum)):
        np.testing.assert_allclose(new, expected, rtol=1e-14)


def test_only_the_pieces_asked_for_are_touched():
    w, g = np.zeros(6), np.ones(6)
    rows = [[2, 0, 0, 0, 0, 0, w.ctypes.data + 16 * k, g.ctypes.data + 16 * k] for k in range(3)]
    table = np.array(rows, dtype=np.int64)
    tensors.plain_step_tensors(table, np.array([AROUND]), w[:0], 1, 2)
    assert w.tolist() == [0.0, 0.0, -0.01, -0.01, 0.0, 0.0]


def test_squares():
    _, g = memory(0, 1000, np.float32)
    sums = np.empty((1, 1))
    tensors.squares_tensors(table_of(g, g), sums, g[:0], 0, 1)
    assert sums[0, 0] == pytest.approx(float(np.sum(g.astype(np.float64) ** 2)), rel=1e-12)


def test_runs_that_lie_apart_are_one_unit():
    # Two runs of two elements, three units: [run, unit, element].
    w = np.arange(1.0, 13.0).reshape(2, 3, 2)
    norms = np.sqrt((w**2).sum(axis=(0, 2), keepdims=True))
    expected = w * np.minimum(1.0, 11.0 / norms)
    flat, g = w.ravel().copy(), np.zeros(12)
    settings = np.array([[1.0, 0.0, 0.0, 0.0, 11.0, 0.01]])
    table = table_of(flat, g, units=(3, 2, 2, 6))
    tensors.plain_step_tensors(table, settings, g[:0], 0, 1)
    np.testing.assert_allclose(flat.reshape(2, 3, 2), expected, rtol=1e-15)


def test_a_pass_compiles_once_for_each_float_type():
    for dtype in (np.float32, np.float64):
        w, g = memory(0, 10, dtype)
        for _ in range(2):
            tensors.plain_step_tensors(table_of(w, g), np.array([AROUND]), w[:0], 0, 1)
    assert len(tensors.plain_step_tensors.signatures) == 2
