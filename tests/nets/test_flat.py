import pytest
import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.nets.flat import Flat, trainable


def two():
    return [torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([5.0])]


def test_tensors_follow_each_other():
    assert Flat(two()).gather().tolist() == [1, 2, 3, 4, 5]


def test_scatter_writes_where_the_tensors_are():
    tensors = two()
    places = [tensor.data_ptr() for tensor in tensors]
    flat = Flat(tensors)
    flat.scatter(torch.arange(5.0))
    assert tensors[0].tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert tensors[1].tolist() == [4.0]
    assert [tensor.data_ptr() for tensor in tensors] == places


def test_gather_is_a_copy_and_split_is_none():
    tensors = two()[1:]
    flat = Flat(tensors)
    flat.gather()[0] = 9.0
    assert tensors[0].item() == 5.0
    w = torch.arange(5.0)
    Flat(two()).split(w)[1][0] = 7.0
    assert w[4] == 7.0


def test_gradients_are_zero_where_there_is_none():
    model = nn.Linear(2, 1)
    flat = trainable(model)
    assert flat.gradient().tolist() == [0, 0, 0]
    model(torch.ones(1, 2)).sum().backward()
    assert flat.gradient().tolist() == [1, 1, 1]


def test_tensors_that_lie_otherwise_in_memory_are_read_by_their_indices():
    turned = torch.arange(6.0).reshape(2, 3).T
    flat = Flat([turned])
    assert flat.gather().tolist() == turned.reshape(-1).tolist()
    flat.scatter(torch.arange(6.0))
    assert turned.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_frozen_parameters_are_left_out():
    model = nn.Linear(2, 1)
    model.weight.requires_grad_(False)
    assert trainable(model).dim == 1


def test_mixed_precision_gathers_in_the_wider_one():
    flat = Flat([torch.ones(1), torch.ones(1, dtype=torch.float64)])
    assert flat.gather().dtype == torch.float64


def test_sentences():
    with pytest.raises(InputError, match="at least one parameter that requires a gradient"):
        Flat([])
    with pytest.raises(InputError, match="w must have 5 entries, got shape \\(4,\\)"):
        Flat(two()).split(torch.ones(4))
