import math

import pytest
import torch
from torch import nn

from thalweg.doctor.nets.instruments.sentinel import LARGEST, Sentinel, posts


@pytest.fixture
def p():
    return nn.Parameter(torch.ones(2))


def guard(p):
    alarms = []
    return Sentinel(p, lambda: alarms.append(1)), alarms


def backward(p, factor=1.0):
    (factor * p).sum().backward()


def test_a_gradient_that_was_zeroed(p):
    sentinel, _ = guard(p)
    backward(p)
    assert sentinel.stepped() is False
    p.grad = None
    backward(p)
    assert sentinel.stepped() is False
    p.grad.zero_()
    backward(p)
    assert sentinel.stepped() is False


def test_a_gradient_that_was_not(p):
    sentinel, _ = guard(p)
    backward(p)
    sentinel.stepped()
    backward(p)
    assert sentinel.stepped() is True


def test_micro_batches_are_no_false_alarm(p):
    sentinel, _ = guard(p)
    for _ in range(3):
        p.grad = None
        for _ in range(4):
            backward(p)
        assert sentinel.stepped() is False


def test_what_another_loss_left_and_was_cleared_is_none_either(p):
    sentinel, _ = guard(p)
    backward(p)
    sentinel.stepped()
    backward(p)  # of the generator, through the discriminator
    p.grad = None
    backward(p)
    assert sentinel.stepped() is False


def test_without_a_backward_nothing_is_known(p):
    sentinel, _ = guard(p)
    assert sentinel.stepped() is None


@pytest.mark.parametrize("factor", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_raises_the_alarm(p, factor):
    _, alarms = guard(p)
    backward(p)
    assert alarms == []
    backward(p, factor)
    assert alarms == [1]


def test_a_sentinel_can_go(p):
    sentinel, alarms = guard(p)
    sentinel.remove()
    backward(p, math.nan)
    assert alarms == []
    p.grad = torch.ones(2)
    sentinel.rise()  # the optimizer has stepped, the gradient is still there
    backward(p)
    assert sentinel.stepped() is True


def test_posts_are_small_parameters_of_the_first_and_the_last_layer_with_gradients():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5), nn.Linear(5, 6), nn.Linear(6, 7))
    for p in list(model[1].parameters()) + list(model[2].parameters()):
        p.grad = torch.zeros_like(p)
    layers = [list(layer.parameters()) for layer in model]
    found = posts(layers)
    assert len(found) == 2
    assert found[0] is model[1].bias
    assert found[1] is model[2].bias
    assert [p is model[1].bias for p in posts(layers[:2])] == [True]
    assert posts(layers[:1]) == []


def test_large_and_sparse_ones_are_passed_over():
    large = nn.Parameter(torch.zeros(LARGEST + 1))
    large.grad = torch.zeros_like(large)
    words = nn.Embedding(3, 2, sparse=True)
    words(torch.tensor([0])).sum().backward()
    assert posts([[large], [words.weight]]) == []
