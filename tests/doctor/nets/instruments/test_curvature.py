import math

import numpy as np
import pytest
import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.doctor.nets.instruments.curvature import curvature
from thalweg.nets.flat import trainable


class Vector(nn.Module):
    def __init__(self, size, dtype=torch.float64):
        super().__init__()
        self.w = nn.Parameter(torch.ones(size, dtype=dtype))


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_quadratic_by_hand(dtype):
    model = Vector(3, dtype)
    curvatures = torch.tensor([-1.0, 2.0, 5.0], dtype=dtype)
    found = curvature(model, lambda: 0.5 * (curvatures * model.w**2).sum(), rng())
    assert found.largest == pytest.approx(5.0, rel=1e-5)
    assert found.smallest == pytest.approx(-1.0, rel=1e-5)
    assert found.trace == pytest.approx(6.0, rel=1e-5)
    assert found.trace_error == pytest.approx(0.0, abs=1e-4)


def test_a_network_against_its_dense_hessian():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 1)).double()
    x, y = torch.randn(50, 8).double(), torch.randn(50, 1).double()

    def loss():
        return ((model(x) - y) ** 2).mean()

    flat = trainable(model)
    slope = flat.join(torch.autograd.grad(loss(), flat.tensors, create_graph=True))
    rows = [flat.join(torch.autograd.grad(s, flat.tensors, retain_graph=True,
                                          materialize_grads=True)) for s in slope]  # fmt: skip
    H = torch.stack(rows)
    true = torch.linalg.eigvalsh(H)
    found = curvature(model, loss, rng())
    assert flat.dim > 64  # not the dense shortcut
    assert found.largest == pytest.approx(true[-1].item(), rel=0.02)
    assert found.smallest == pytest.approx(true[0].item(), rel=0.1)
    assert found.largest <= true[-1].item() + 1e-9
    assert true[-1].item() <= found.largest + found.error
    assert abs(found.trace - H.trace().item()) < 6 * max(found.trace_error, 0.1 * H.trace().item())


def test_bfloat16_and_frozen_parameters():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1)).bfloat16()
    model[0].requires_grad_(False)
    x = torch.ones(4, 2, dtype=torch.bfloat16)
    found = curvature(model, lambda: (model(x) ** 2).mean(), rng())
    h = torch.cat([model[0](x)[0].float().detach(), torch.ones(1)])
    assert found.largest == pytest.approx(2 * float(h @ h), rel=0.05)


def test_nothing_is_left_behind():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 1))
    x = torch.randn(8, 2)
    model(x).sum().backward()
    gradients = [p.grad for p in model.parameters()]
    values = [g.clone() for g in gradients]
    buffers = [b.clone() for b in model.buffers()]
    state = torch.random.get_rng_state()
    curvature(model, lambda: (model(x) ** 2).mean(), rng())
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(buffers, model.buffers(), strict=True))
    for p, gradient, value in zip(model.parameters(), gradients, values, strict=True):
        assert p.grad is gradient
        assert torch.equal(gradient, value)


def test_attention_has_second_derivatives():
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    x = torch.randn(3, 4, 8)
    found = curvature(model, lambda: (model(x) ** 3).mean(), rng())
    assert found.smallest < found.largest


def test_a_loss_that_is_linear_or_not_finite():
    model = Vector(100)
    assert curvature(model, lambda: model.w.sum(), rng()).largest == 0.0
    assert math.isnan(curvature(model, lambda: (math.nan * model.w**2).sum(), rng()).largest)
    # finite value, infinite curvature: |w|^1.5 at 0
    with torch.no_grad():
        model.w.zero_()
    assert math.isnan(curvature(model, lambda: (model.w.abs() ** 1.5).sum(), rng()).largest)


def test_wrong_closures():
    model = Vector(3)
    with pytest.raises(InputError, match=r"closure must return the loss of a batch, .* got 1.0"):
        curvature(model, lambda: 1.0, rng())
    with pytest.raises(InputError, match="got one without a gradient"):
        curvature(model, lambda: (model.w**2).sum().detach(), rng())

    def backward():
        loss = (model.w**2).sum()
        loss.backward()
        return loss

    with pytest.raises(InputError, match=r"leave backward\(\) alone"):
        curvature(model, backward, rng())
    assert model.w.grad is None


def test_as_an_adaptive_optimizer_sees_it():
    model = Vector(3)
    curvatures = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    optimizer = torch.optim.Adagrad([model.w], lr=0.0, eps=0.0)

    def loss():
        return 0.5 * (curvatures * model.w**2).sum()

    assert math.isnan(curvature(model, loss, rng(), optimizer).preconditioned)  # no step yet
    model.w.grad = torch.tensor([0.1, 10.0, 100.0], dtype=torch.float64)
    optimizer.step()
    # D = |g| after one step: 1/0.1, 2/10, 4/100
    assert curvature(model, loss, rng(), optimizer).preconditioned == pytest.approx(10.0)
    assert curvature(model, loss, rng(), optimizer).largest == pytest.approx(4.0)
