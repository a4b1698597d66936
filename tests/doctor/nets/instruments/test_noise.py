import math

import pytest
import torch
from torch import nn

from thalweg.doctor.nets.instruments.noise import Noise, agreement


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_two_gradients_by_hand():
    found = agreement(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0]))
    assert found.cosine == pytest.approx(24 / 25)
    assert found.difference == pytest.approx(math.sqrt(2))
    assert math.isnan(agreement(torch.zeros(2), torch.ones(2)).cosine)
    assert agreement(torch.ones(2), -torch.ones(2)).cosine == pytest.approx(-1)


def test_a_gradient_that_is_not_finite_agrees_with_none():
    assert math.isnan(agreement(torch.tensor([math.nan]), torch.ones(1)).cosine)
    assert math.isnan(agreement(torch.tensor([math.inf]), torch.ones(1)).cosine)


def test_small_models_are_compared_exactly():
    model = nn.Linear(3, 2)
    noise = Noise(list(model.parameters()), generator())
    model.weight.grad = torch.arange(6.0).reshape(2, 3)
    assert noise.look().tolist() == [0, 1, 2, 3, 4, 5, 0, 0]  # no gradient is a zero one


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_large_ones_nearly_so(dtype):
    model = nn.Sequential(nn.Linear(300, 300), nn.Linear(300, 10)).to(dtype)
    parameters = list(model.parameters())
    noise = Noise(parameters, generator())
    common = [torch.randn(p.shape, generator=generator(1)) for p in parameters]
    looks, whole = [], []
    for seed in (2, 3):
        other = generator(seed)
        for p, c in zip(parameters, common, strict=True):
            p.grad = (c + torch.randn(p.shape, generator=other)).to(dtype)
        looks.append(noise.look())
        whole.append(torch.cat([p.grad.double().flatten() for p in parameters]))
    assert len(looks[0]) < 5000
    found, true = agreement(*looks), agreement(*whole)
    assert found.cosine == pytest.approx(true.cosine, abs=0.06)  # four standard errors
    assert found.difference == pytest.approx(true.difference, rel=0.06)


def test_the_noise_of_a_mean_over_samples_is_found():
    # g = G + n with tr Σ known: E‖g′ − g‖² = 2 tr Σ and E[gᵀg′] = ‖G‖².
    p = nn.Parameter(torch.zeros(2000))
    noise = Noise([p], generator())
    G = torch.full((2000,), 0.5)
    p.grad = G + torch.randn(2000, generator=generator(5))
    first = noise.look()
    p.grad = G + torch.randn(2000, generator=generator(6))
    found = agreement(first, noise.look())
    assert found.difference**2 == pytest.approx(2 * 2000, rel=0.15)
    assert found.cosine == pytest.approx(0.25 / 1.25, abs=0.08)


def test_a_sparse_gradient():
    layer = nn.Embedding(5, 2, sparse=True)
    layer(torch.tensor([1])).sum().backward()
    noise = Noise(list(layer.parameters()), generator())
    assert noise.look().sum() == 2
