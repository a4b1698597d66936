"""L1: exact zeros by the proximal step, a subgradient in the loss, towards the end of training."""

import copy

import pytest
import torch
from torch import nn

import thalweg as tw


def linear(weights, bias=0.0):
    layer = nn.Linear(len(weights), 1).double()
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([weights], dtype=torch.float64))
        layer.bias.fill_(bias)
    return layer


def test_the_proximal_step_by_hand():
    model = linear([1.0, -0.3, 0.2, -0.21], bias=0.1)
    tw.nets.L1(2.0).after_step(model, 0.0, 0.1)  # a threshold of 0.2
    assert model.weight[0].tolist() == pytest.approx([0.8, -0.1, 0.0, -0.01])
    assert model.weight[0, 2].item() == 0.0
    assert model.bias.item() == 0.1


def test_the_penalty_by_hand():
    model = linear([1.0, -0.3, 0.0], bias=5.0)
    penalty = tw.nets.L1(2.0, proximal=False).penalty(model, 0.0)
    penalty.backward()
    assert penalty.item() == pytest.approx(2.6)
    assert model.weight.grad.tolist() == [[2.0, -2.0, 0.0]]
    assert model.bias.grad is None
    assert tw.nets.L1(2.0, proximal=False, biases=True).penalty(model, 0.0).item() == pytest.approx(
        12.6
    )


def test_each_form_leaves_the_other_undone():
    model = linear([1.0, -0.3])
    before = copy.deepcopy(model.state_dict())
    assert tw.nets.L1(2.0).penalty(model, 0.0) == 0.0
    tw.nets.L1(2.0, proximal=False).after_step(model, 0.0, 0.1)
    assert torch.equal(model.weight, before["weight"])


def test_equals_the_option_of_the_optimizers(monkeypatch):
    monkeypatch.setattr(tw.nets.SGD, "fast", False)
    torch.manual_seed(0)
    ours = nn.Linear(6, 3, bias=False).double()
    theirs = copy.deepcopy(ours)
    outside, inside = tw.nets.SGD(ours, lr=0.1), tw.nets.SGD(theirs, lr=0.1, l1=0.3)
    X, regularizer = torch.randn(20, 6).double(), tw.nets.L1(0.3)
    for _ in range(10):
        for model, optimizer in ((ours, outside), (theirs, inside)):
            optimizer.zero_grad()
            (model(X) - X[:, :3]).square().mean().backward()
            optimizer.step()
        regularizer.after_step(ours, 0.0, 0.1)
    torch.testing.assert_close(ours.weight, theirs.weight, rtol=0, atol=1e-15)
    assert (ours.weight == 0).any()


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_ends_at_the_optimum_of_the_lasso_with_exact_zeros(momentum):
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(60, 8, generator=generator, dtype=torch.float64)
    y = X[:, 0] - 2 * X[:, 3] + 0.1 * torch.randn(60, generator=generator, dtype=torch.float64)
    model, regularizer = linear([0.5] * 8), tw.nets.L1(0.2 / (1 - momentum))
    optimizer = torch.optim.SGD([model.weight], lr=0.05, momentum=momentum)
    for _ in range(800):
        model.zero_grad()
        (0.5 * (X @ model.weight[0] - y).square().mean()).backward()
        optimizer.step()
        regularizer.after_step(model, 0.0, 0.05)
    w = model.weight[0].detach()
    gradient = X.T @ (X @ w - y) / 60
    assert w.nonzero().flatten().tolist() == [0, 3]
    # Optimal: the gradient is −λ sign(w) where w ≠ 0, and within ±λ elsewhere.
    torch.testing.assert_close(gradient[[0, 3]], -0.2 * w[[0, 3]].sign(), rtol=0, atol=1e-12)
    assert float(gradient.abs().max()) <= 0.2 + 1e-12


def test_comes_in_towards_the_end():
    model, regularizer = linear([0.1, 1.0]), tw.nets.L1(5.0, "towards the end")
    regularizer.after_step(model, 0.79, 0.1)
    assert model.weight[0].tolist() == [0.1, 1.0]
    regularizer.after_step(model, 0.8, 0.1)
    assert model.weight[0].tolist() == [0.0, 0.5]


def test_weights_stay_where_they_are_in_memory():
    model = nn.Conv2d(2, 3, 3).to(memory_format=torch.channels_last)
    pointer, expected = model.weight.data_ptr(), model.weight.detach().abs() - 0.05
    tw.nets.L1(0.5).after_step(model, 0.0, 0.1)
    assert model.weight.data_ptr() == pointer
    torch.testing.assert_close(model.weight.abs(), expected.clamp(min=0.0))
