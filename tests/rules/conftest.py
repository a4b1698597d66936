"""What the tests of all rules share: recorded gradients, torch's optimizers, the four kinds."""

import inspect

import numpy as np
import pytest

from thalweg.kernels.elementwise import PASSES


@pytest.fixture(scope="session")
def gradients():
    """200 recorded gradients of 12 weights whose scales run from 10⁻⁴ to 10²."""
    rng = np.random.default_rng(7)
    return rng.standard_normal((200, 12)) * np.logspace(-4, 2, 12)


@pytest.fixture(scope="session")
def start():
    """The weights before the first gradient."""
    return np.random.default_rng(8).standard_normal(12)


@pytest.fixture
def torch_path(gradients, start):
    """`torch_path(name, **options)`: the weights after each gradient, by torch's own optimizer."""
    torch = pytest.importorskip("torch")

    def path(name, **options):
        w = torch.tensor(start, requires_grad=True)
        optimizer = getattr(torch.optim, name)([w], **options)
        weights = []
        for g in gradients:
            w.grad = torch.tensor(g)
            optimizer.step()
            weights.append(w.detach().numpy().copy())
        return np.array(weights)

    return path


@pytest.fixture
def follow(gradients, start):
    """`follow(rule, *scalars, states=1)`: the weights after each gradient, by the rule."""

    def path(rule, *scalars, states):
        w, memory = start, [np.zeros_like(start)] * states
        weights = []
        for g in gradients:
            result = rule(w, g, *memory, *scalars)
            w, *memory = result if states else (result,)
            weights.append(w)
        return np.array(weights)

    return path


@pytest.fixture(
    params=[
        "float float64",
        "numpy float32",
        "torch float32",
        "torch float64",
        "compiled float32",
        "compiled float64",
    ]
)
def agree(request):
    """`agree(rule, steps)`: this kind gives what NumPy float64 gives, and keeps its dtype.

    `steps` holds the scalars of each step, with Python floats for the hyper-parameters.
    """
    kind, dtype = request.param.split()
    if kind == "torch":
        pytest.importorskip("torch")
    tolerance = 1e-14 if dtype == "float64" else 2e-6

    def check(rule, steps):
        expected = _walk(_call_on_arrays, rule, steps, "float64")
        got = _walk(CALLS[kind], rule, steps, dtype)
        for mine, reference in zip(got, expected, strict=True):
            assert mine.dtype == dtype
            np.testing.assert_allclose(mine, reference, rtol=tolerance, atol=tolerance)

    return check


def _walk(call, rule, steps, dtype):
    """The weights and the memory after all steps, from fixed weights and gradients."""
    names = list(inspect.signature(rule).parameters)
    states = sum(name in ("m", "v", "s") for name in names)
    rng = np.random.default_rng(3)
    # float32 numbers, so that both precisions start from the same point.
    w = rng.standard_normal(9).astype(np.float32).astype(dtype)
    memory = [np.zeros_like(w)] * states
    for scalars in steps:
        g = rng.standard_normal(9).astype(np.float32).astype(dtype)
        buffers = [w, g, *memory] if "g" in names else [w]
        before = [buffer.copy() for buffer in buffers]
        w, *memory = call(rule, buffers, scalars)
        np.testing.assert_array_equal(buffers, before)
    return [w, *memory]


def _as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def _call_on_arrays(rule, buffers, scalars):
    return _as_tuple(rule(*buffers, *scalars))


def _call_on_floats(rule, buffers, scalars):
    rows = zip(*(buffer.tolist() for buffer in buffers), strict=True)
    results = [_as_tuple(rule(*row, *scalars)) for row in rows]
    assert all(type(x) is float for result in results for x in result)
    return [np.array(column) for column in zip(*results, strict=True)]


def _call_on_tensors(rule, buffers, scalars):
    import torch

    tensors = [torch.tensor(buffer) for buffer in buffers]
    before = [tensor.clone() for tensor in tensors]
    results = _as_tuple(rule(*tensors, *scalars))
    assert all(torch.equal(x, y) for x, y in zip(tensors, before, strict=True))
    return [result.numpy() for result in results]


def _call_compiled(rule, buffers, scalars):
    copies = [buffer.copy() for buffer in buffers]
    PASSES[rule.__name__](*copies, *scalars)
    return [copies[0], *copies[2:]]


CALLS = {
    "float": _call_on_floats,
    "numpy": _call_on_arrays,
    "torch": _call_on_tensors,
    "compiled": _call_compiled,
}
