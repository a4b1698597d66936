"""L2: by hand, the lecture's step, and torch's weight decay."""

import copy

import pytest
import torch
from torch import nn

import thalweg as tw


def test_by_hand():
    model = nn.Linear(2, 1).double()
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[3.0, -4.0]]))
    penalty = tw.nets.L2(0.2).penalty(model, 0.0)
    penalty.backward()
    assert penalty.item() == pytest.approx(2.5)  # 0.2/2 · 25
    assert model.weight.grad[0].tolist() == pytest.approx([0.6, -0.8])
    assert model.bias.grad is None


def test_the_lectures_step_with_twice_the_strength():
    # Penalty λ‖w‖²: w ← (1 − 2ηλ)w − η∇L(w).
    torch.manual_seed(0)
    model, X = nn.Linear(3, 2).double(), torch.randn(5, 3).double()
    lam, eta = 0.05, 0.1
    model(X).square().mean().backward()
    expected = (1 - 2 * eta * lam) * model.weight - eta * model.weight.grad
    model.zero_grad()
    (model(X).square().mean() + tw.nets.L2(2 * lam).penalty(model, 0.0)).backward()
    torch.testing.assert_close(model.weight - eta * model.weight.grad, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_weight_decay_with_momentum(dtype):
    torch.manual_seed(0)
    ours, X = nn.Linear(4, 3).to(dtype), torch.randn(9, 4).to(dtype)
    theirs = copy.deepcopy(ours)
    penalty = tw.nets.L2(0.1, biases=True)
    first = torch.optim.SGD(ours.parameters(), lr=0.1, momentum=0.9)
    second = torch.optim.SGD(theirs.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
    for _ in range(20):
        first.zero_grad()
        second.zero_grad()
        (ours(X).square().mean() + penalty.penalty(ours, 0.0)).backward()
        theirs(X).square().mean().backward()
        first.step()
        second.step()
    torch.testing.assert_close(ours.weight, theirs.weight)
    torch.testing.assert_close(ours.bias, theirs.bias)


def test_any_memory_order_and_nothing_at_no_strength():
    model = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    value = tw.nets.L2(2.0).penalty(model, 0.0)
    assert value.item() == pytest.approx(model.weight.square().sum().item(), rel=1e-5)
    assert tw.nets.L2(2.0, "linear").penalty(model, 0.0) == 0.0
