import math

import numpy as np
import pytest
import torch
from torch import nn

from thalweg.doctor.nets.instruments.norms import KEPT, Norms, norms


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def look(modules, move=0.0):
    found = Norms(modules, generator())
    every = list(range(len(found.parameters)))
    found.gradients(every)
    found.weigh(every)
    with torch.no_grad():
        for p in found.parameters:
            if p.requires_grad:
                p.add_(move)
    found.after()
    return found


def test_a_layer_by_hand():
    layer = nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0]]))
        layer.bias.fill_(2.0)
    layer.weight.grad, layer.bias.grad = torch.tensor([[2.0, 3.0]]), torch.tensor([6.0])
    found = look([layer], move=1.0)
    columns = found.by_layer()
    assert columns["gradient_norm"][0] == pytest.approx(7.0)
    assert columns["weight_norm"][0] == pytest.approx(3.0)
    assert columns["update_ratio"][0] == pytest.approx(math.sqrt(3) / 3)
    assert (columns["weight_mean"][0], columns["weight_std"][0]) == (1.5, 0.5)
    assert found.total == pytest.approx(7.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_norms_are_those_of_a_plain_sum(dtype):
    tensors = [torch.randn(n, 3, generator=generator(n)).to(dtype) for n in (1, 4, 700)]
    expected = [math.sqrt(float((t.double() ** 2).sum())) for t in tensors]
    assert norms(tensors) == pytest.approx(expected, rel=1e-5)
    assert norms([]).shape == (0,)


def test_a_gradient_that_is_not_finite_is_infinite_and_none_is_nan():
    layers = [nn.Linear(1, 1, bias=False) for _ in range(3)]
    layers[0].weight.grad = torch.tensor([[math.nan]])
    layers[1].weight.grad = torch.tensor([[3.0]])
    found = look(layers)
    assert found.by_layer()["gradient_norm"].tolist()[:2] == [math.inf, 3.0]
    assert math.isnan(found.by_layer()["gradient_norm"][2])
    assert found.total == math.inf


def test_frozen_parameters_have_a_weight_but_neither_gradient_nor_update():
    layer = nn.Linear(2, 2).requires_grad_(False)
    columns = look([layer, nn.ReLU()], move=1.0).by_layer()
    assert columns["weight_norm"][0] > 0
    assert np.isnan([columns["gradient_norm"][0], columns["update_ratio"][0]]).all()
    assert np.isnan([column[1] for column in columns.values()]).all()


def test_tied_weights_count_in_both_layers_and_once_in_the_total():
    first, second = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    second.weight = first.weight
    first.weight.grad = torch.full((2, 2), 2.0)
    found = look([first, second])
    assert found.by_layer()["gradient_norm"].tolist() == [4.0, 4.0]
    assert found.total == 4.0


def test_large_parameters_are_compared_at_some_entries():
    layer = nn.Linear(KEPT, 4, bias=False)
    with torch.no_grad():
        layer.weight.normal_(generator=generator(3))
        step = 0.01 * torch.randn(layer.weight.shape, generator=generator(4))
    found = Norms([layer], generator())
    found.weigh([0])
    with torch.no_grad():
        layer.weight += step
    found.after()
    assert found.by_layer()["update_ratio"][0] == pytest.approx(0.01, rel=0.02)


def test_weights_of_zero():
    layer = nn.Linear(2, 1)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    assert look([layer]).by_layer()["update_ratio"][0] == 0.0
    assert look([layer], move=1.0).by_layer()["update_ratio"][0] == math.inf


def test_a_sparse_gradient():
    layer = nn.Embedding(5, 2, sparse=True)
    layer(torch.tensor([1, 1, 3])).sum().backward()
    found = look([layer])
    assert found.total == pytest.approx(math.sqrt(2 * 4 + 2))
