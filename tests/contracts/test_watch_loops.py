"""`tw.watch` around the loops that people write: the same bits with it as without, and a record."""

import numpy as np
import pytest
import torch
from torch.nn import functional

import thalweg as tw
from small_nets import digits, mlp, weights

STEPS = 6


def batches():
    x, y = digits()
    for k in range(STEPS):
        rows = slice(32 * k, 32 * k + 32)
        yield x[rows], y[rows]


def sgd(part):
    return torch.optim.SGD(part.parameters(), lr=0.1, momentum=0.9)


def plain(model, watch):
    optimizer = sgd(model)
    with watch(model, optimizer) as w:
        for x, y in batches():
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            w.step(loss)
    return w


def accumulated(model, watch):
    optimizer = sgd(model)
    with watch(model, optimizer) as w:
        for x, y in batches():
            optimizer.zero_grad()
            for a, b in zip(x.split(8), y.split(8), strict=True):
                loss = functional.cross_entropy(model(a), b) / 4
                loss.backward()
            optimizer.step()
            w.step(loss)
    return w


def compiled(model, watch):
    w = plain(torch.compile(model, backend="eager"), watch)
    torch._dynamo.reset()
    return w


def two_optimizers(model, watch):
    body, head = sgd(model[0]), torch.optim.Adam(model[2].parameters(), lr=0.01)
    with watch(model, [body, head]) as w:
        for x, y in batches():
            for optimizer in (body, head):
                optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            for optimizer in (body, head):
                optimizer.step()
            w.step(loss)
    return w


class Nothing:
    """A watch that does not look."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def step(self, loss):
        pass


@pytest.mark.parametrize("loop", [plain, accumulated, compiled, two_optimizers])
def test_a_loop_computes_the_same_bits_and_is_recorded(loop):
    alone, model = mlp(), mlp()
    loop(alone, Nothing)
    w = loop(model, lambda m, o: tw.watch(m, o, every=1))
    assert torch.equal(weights(model), weights(alone))
    record = w.record
    assert [layer.name for layer in record.layers] == ["0", "1", "2"]
    assert len(record["loss"]) == STEPS
    assert (record["gradient_kept"] == 0).all()
    assert (record["update_ratio"][:, [0, 2]] > 0).all()
    assert (record["gradient_norm"][:, [0, 2]] > 0).all()
    sees_outputs = loop is not compiled
    assert np.isfinite(record["p50"]).all() == sees_outputs
    assert len(record.notes) == (0 if sees_outputs else 1)
    assert isinstance(w.diagnose(), list)
    assert not any(module._forward_hooks for module in model.modules())
