import inspect

import numpy as np
import pytest

from thalweg import rules
from thalweg.kernels.elementwise import PASSES, adagrad_pass, adam_pass
from thalweg.kernels.threads import SERIAL_BELOW, in_threads

SCALARS = {
    "t": 3,
    "lr": 0.01,
    "beta": 0.9,
    "alpha": 0.9,
    "beta1": 0.9,
    "beta2": 0.999,
    "eps": 1e-8,
    "mu": 0.46,
    "mu_next": 0.47,
    "mu_product": 0.1,
    "decay": 0.1,
    "threshold": 0.2,
}


def arguments(name, size, dtype):
    """Random buffers and the scalars of a rule; the running squares are positive."""
    rng = np.random.default_rng(5)
    pool = {buffer: rng.standard_normal(size).astype(dtype) for buffer in "wgmvs"}
    if name != "heavy_ball_velocity":
        pool["v"] = pool["v"] ** 2
    pool["s"] = pool["s"] ** 2
    names = inspect.signature(getattr(rules, name)).parameters
    buffers = [pool[buffer] for buffer in names if buffer in pool]
    return buffers, [SCALARS[scalar] for scalar in names if scalar not in pool]


def slow_pass(name, buffers, scalars):
    """The definition: the rule on Python floats, element by element, then one rounding."""
    rule = getattr(rules, name)
    rows = [rule(*row, *scalars) for row in zip(*(b.tolist() for b in buffers), strict=True)]
    columns = zip(*(row if isinstance(row, tuple) else (row,) for row in rows), strict=True)
    w, *memory = (np.array(column).astype(buffers[0].dtype) for column in columns)
    return [w, *buffers[1:2], *memory]


def test_every_rule_has_its_pass():
    not_elementwise = {"clip_by_norm", "clip_factor", "nadam_momentum", "project_ball", "sqrt"}
    hoisted = {"adam_hoisted", "nadam_hoisted", "rmsprop_hoisted"}  # what other rules end in
    assert set(PASSES) == set(rules.__all__) - not_elementwise - hoisted
    for name, pass_ in PASSES.items():
        names = inspect.signature(getattr(rules, name)).parameters
        assert pass_.__name__ == f"{name}_pass"
        assert list(inspect.signature(pass_.py_func).parameters) == list(names)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", PASSES)
def test_pass_is_the_rule_on_floats_rounded_once(name, dtype):
    buffers, scalars = arguments(name, 257, dtype)
    expected = slow_pass(name, buffers, scalars)
    PASSES[name](*buffers, *scalars)
    for got, reference in zip(buffers, expected, strict=True):
        assert got.dtype == dtype
        if dtype == np.float32:
            # Reciprocals and fused products move the float64 result by 10⁻¹⁶, across a tie at most.
            np.testing.assert_array_max_ulp(got, reference, maxulp=1)
        else:
            np.testing.assert_allclose(got, reference, rtol=1e-14, atol=1e-15)


def test_square_of_a_float32_gradient_does_not_overflow():
    w, g, s = (np.array([x], np.float32) for x in (1.0, 1e25, 0.0))
    adagrad_pass(w, g, s, 0.5, 0.0)
    assert w[0] == 0.5


@pytest.mark.parametrize("name", PASSES)
def test_empty_buffer_is_fine(name):
    buffers, scalars = arguments(name, 0, np.float64)
    PASSES[name](*buffers, *scalars)
    in_threads(PASSES[name], buffers, scalars, threads=2)


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("threads", [None, 2, 3, 7])
def test_threads_change_nothing(name, threads):
    size = SERIAL_BELOW + 5
    alone, scalars = arguments(name, size, np.float32)
    shared, _ = arguments(name, size, np.float32)
    in_threads(PASSES[name], alone, scalars, threads=1)
    in_threads(PASSES[name], shared, scalars, threads=threads)
    for one, other in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(one, other)


def test_second_call_does_not_compile():
    (w, g, m, v), _ = arguments("adam", SERIAL_BELOW, np.float64)
    in_threads(adam_pass, (w, g, m, v), (1, 0.1, 0.9, 0.999, 1e-8))
    signatures = list(adam_pass.signatures)
    in_threads(adam_pass, (w, g, m, v), (2.0, 1, 0, 0.999, 1e-8))
    assert adam_pass.signatures == signatures
