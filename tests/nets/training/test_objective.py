import numpy as np
import pytest
import torch
from torch import nn

import thalweg as tw
from small_nets import digits, mlp, weights
from thalweg.core.errors import InputError
from thalweg.core.objective import ObjectiveProtocol

X, Y = digits()


def tiny():
    """A net of 23 weights in float64, with data."""
    model = mlp(hidden=4, inputs=2, outputs=3).double()
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(30, 2, generator=rng, dtype=torch.float64)
    return model, (x, torch.randint(3, (30,), generator=rng))


def dense(model, data):
    """Loss, gradient and Hessian by PyTorch, of one vector."""
    x, y = data
    shapes = [(name, p.shape) for name, p in model.named_parameters()]

    def loss(w):
        parts, at = {}, 0
        for name, shape in shapes:
            parts[name] = w[at : at + shape.numel()].view(shape)
            at += shape.numel()
        return nn.functional.cross_entropy(torch.func.functional_call(model, parts, (x,)), y)

    w = weights(model).requires_grad_()
    value = loss(w)
    (gradient,) = torch.autograd.grad(value, w)
    return value.detach(), gradient, torch.autograd.functional.hessian(loss, w.detach())


@pytest.mark.parametrize("batch_size", [7, 30, None])
def test_value_gradient_and_products_equal_the_dense_ones(batch_size):
    model, data = tiny()
    value, gradient, hessian = dense(model, data)
    f = tw.nets.objective(model, data, batch_size=batch_size)
    w = f.start
    assert f.dim == 27 == len(w)
    assert f.value(w) == pytest.approx(value.item(), rel=1e-12)
    np.testing.assert_allclose(f.gradient(w), gradient, rtol=1e-10, atol=1e-14)
    product = np.column_stack([f.hessian_vector(w, e) for e in np.eye(f.dim)])
    np.testing.assert_allclose(product, hessian, rtol=1e-9, atol=1e-13)
    assert f.value(np.stack([w, w])).tolist() == [f.value(w)] * 2


def test_it_plays_the_protocol_and_leaves_the_model_alone():
    model, data = tiny()
    f = tw.nets.objective(model, data)
    assert isinstance(f, ObjectiveProtocol)
    before, places = weights(model), [p.data_ptr() for p in model.parameters()]
    f.value_and_gradient(f.start + 1.0)
    assert torch.equal(weights(model), before)
    assert all(p.grad is None for p in model.parameters())
    f.load(np.arange(27.0))
    assert weights(model).tolist() == list(range(27))
    assert [p.data_ptr() for p in model.parameters()] == places
    assert repr(f) == "NetworkObjective(cross-entropy of Sequential, dim=27)"


def test_minimize_and_classify_take_it():
    f = tw.nets.objective(mlp(), (X, Y))
    run = tw.minimize(f, "lbfgs", max_iter=60)
    assert run.value < 0.1 * f.value(f.start)
    assert run.w.dtype == np.float32
    model, data = tiny()
    g = tw.nets.objective(model, data)
    verdict = tw.classify(g, tw.minimize(g, "newton-cg", max_iter=50).w, max_products=30)
    assert verdict.kind in ("minimum", "degenerate", "saddle", "not stationary")
    assert verdict.products > 0


def test_a_linear_network_with_the_squared_loss_has_one_minimum():
    x = torch.linspace(-1, 1, 20, dtype=torch.float64)[:, None]
    f = tw.nets.objective(nn.Linear(1, 1).double(), (x, 3 * x + 1), "squared")
    run = tw.minimize(f, "newton-cg", tol=1e-10)
    np.testing.assert_allclose(run.w, [3.0, 1.0], atol=1e-8)
    assert tw.classify(f, run.w).kind == "minimum"


def test_modes():
    model = nn.Sequential(nn.BatchNorm1d(64), *mlp(dropout=0.5))
    plain, noisy = (tw.nets.objective(model, (X, Y), mode=mode) for mode in ("eval", "train"))
    w = plain.start
    assert plain.value(w) == plain.value(w) != noisy.value(w) == noisy.value(w)
    assert model[0].running_mean.abs().max() == 0
    assert model.training


def test_frozen_weights_are_no_variables():
    model, data = tiny()
    model[0].requires_grad_(False)
    f = tw.nets.objective(model, data)
    assert f.dim == 15
    assert f.gradient(f.start).shape == (15,)


def test_a_loader_will_do():
    model, (x, y) = tiny()
    f = tw.nets.objective(model, [(x[:10], y[:10]), (x[10:], y[10:])])
    g = tw.nets.objective(model, (x, y))
    assert f.value(f.start) == pytest.approx(g.value(g.start))


def test_sentences():
    model, (x, y) = tiny()
    with pytest.raises(InputError, match="got 3 in row"):
        tw.nets.objective(model, (x, y + 1))
    with pytest.raises(InputError, match="mode must be a known name"):
        tw.nets.objective(model, (x, y), mode="test")
    f = tw.nets.objective(model, (x, y))
    with pytest.raises(InputError, match="w must have 27 entries"):
        f.load(np.ones(3))
