from itertools import pairwise

import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg.nets.norms.naive_normalization import naive_normalization


def sample(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("shape", [(9, 3), (4, 3, 5), (4, 3, 2, 2)])
def test_values_are_those_of_batch_normalization(shape):
    x = sample(*shape) * 4 + 1
    norm = tw.nets.BatchNorm(3, affine=False, dtype=torch.float64)
    torch.testing.assert_close(naive_normalization(x), norm(x))
    torch.testing.assert_close(tw.nets.NaiveNormalization()(x), norm(x))


def test_the_gradient_takes_the_statistics_for_constants():
    x = sample(9, 2).requires_grad_()
    weights = sample(9, 2, seed=1)
    (naive_normalization(x) * weights).sum().backward()
    scale = torch.sqrt(x.detach().var(0, correction=0) + 1e-5)
    torch.testing.assert_close(x.grad, weights / scale)


def train(normalize, steps=200):
    """x = u + b into a normalization, a target that its output can never have on average."""
    u, b = sample(32, 1), nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = torch.optim.SGD([b], lr=0.1)
    biases, losses, outputs = [], [], []
    for _ in range(steps):
        optimizer.zero_grad()
        out = normalize(u + b)
        loss = ((out - 1.0) ** 2).mean()
        loss.backward()
        optimizer.step()
        biases.append(b.item())
        losses.append(loss.item())
        outputs.append(out.detach())
    return biases, losses, outputs


def test_the_bias_grows_without_end_while_output_and_loss_stay():
    biases, losses, outputs = train(naive_normalization)
    steps = [later - earlier for earlier, later in pairwise(biases)]
    assert min(steps) == pytest.approx(max(steps), rel=1e-6)  # the same step for ever
    assert biases[-1] == pytest.approx(200 * biases[0], rel=1e-6)
    assert biases[-1] > 20
    assert max(losses) - min(losses) < 1e-10
    assert (outputs[-1] - outputs[0]).abs().max() < 1e-10


def test_batch_normalization_sees_that_the_bias_does_nothing():
    biases, _, _ = train(tw.nets.BatchNorm(1, affine=False, dtype=torch.float64))
    assert abs(biases[-1]) < 1e-10


@pytest.mark.parametrize("shape", [(5,), (1, 3), (0, 3)])
def test_a_batch_is_needed(shape):
    with pytest.raises(tw.InputError, match="x must have shape"):
        naive_normalization(torch.ones(shape))


def test_eps_stands_in_the_root():
    with pytest.raises(tw.InputError, match="eps must be above 0"):
        tw.nets.NaiveNormalization(eps=0.0)
