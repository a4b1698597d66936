import numpy as np
import pytest
import torch

from thalweg.kernels import tensors as kernels
from thalweg.nets.optimizers.address_table import AddressTable, Tensors
from thalweg.nets.optimizers.units import Units

PLAIN = [1.0, 0.0, 0.0, 0.0, np.inf, 0.1]


def test_every_element_is_stepped_once():
    sizes = [1, 7, kernels.CHUNK, kernels.CHUNK + 1, 3 * kernels.CHUNK + 5]
    weights = [torch.zeros(size) for size in sizes]
    gradients = [torch.full((size,), float(k + 1)) for k, size in enumerate(sizes)]
    table = AddressTable([Tensors(weight, (), None) for weight in weights])
    table.aim(gradients, [0] * len(sizes))
    table.run(kernels.plain_step_tensors, np.array([PLAIN]))
    for weight, gradient in zip(weights, gradients, strict=True):
        torch.testing.assert_close(weight, -0.1 * gradient)


def test_settings_are_by_tensor():
    weights = [torch.zeros(3) for _ in range(2)]
    table = AddressTable([Tensors(weight, (), None) for weight in weights])
    table.aim([torch.ones(3)] * 2, [1, 0])
    table.run(kernels.plain_step_tensors, np.array([PLAIN, [*PLAIN[:5], 0.5]]))
    assert weights[0].tolist() == [-0.5] * 3
    assert weights[1][0].item() == pytest.approx(-0.1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(threads):
    before = torch.get_num_threads()
    torch.manual_seed(0)
    weights = [torch.randn(200_000) for _ in range(5)]
    expected = [weight - 0.1 for weight in weights]
    torch.set_num_threads(threads)
    try:
        table = AddressTable([Tensors(weight, (), None) for weight in weights])
        table.aim([torch.ones(200_000)] * 5, [0] * 5)
        squares = table.squares()
        table.run(kernels.plain_step_tensors, np.array([PLAIN]))
    finally:
        torch.set_num_threads(before)
    assert squares == pytest.approx(1e6)
    for weight, wanted in zip(weights, expected, strict=True):
        torch.testing.assert_close(weight, wanted)


def test_pieces_hold_whole_units():
    rows, length = 10, kernels.CHUNK // 3  # three units fit in a piece
    weight = torch.ones(rows, length)
    table = AddressTable([Tensors(weight, (), Units(1, length, length))])
    sizes = table.table[:, kernels.SIZE]
    assert sizes.sum() == weight.numel()
    assert (sizes % length == 0).all()
    table.aim([torch.zeros_like(weight)], [0])
    table.run(kernels.plain_step_tensors, np.array([[1.0, 0.0, 0.0, 0.0, 2.0, 0.1]]))
    torch.testing.assert_close(weight.double().norm(dim=1).float(), torch.full((rows,), 2.0))
