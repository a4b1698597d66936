import pytest
import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.nets.recipes.layers import build, weights_of


def kinds(network):
    return [type(module).__name__ for module in network]


def test_words_become_layers():
    assert kinds(build("linear", (4,), 3)) == ["Flatten", "Linear"]
    net = build("mlp:8x5", (4,), 3, activation="tanh", norm="batch", keep=0.8)
    block = ["Linear", "BatchNorm", "Tanh", "Dropout"]
    assert kinds(net) == ["Flatten", *block, *block, "Linear"]
    assert [m.out_features for m in net if isinstance(m, nn.Linear)] == [8, 5, 3]
    assert net[4].keep == 0.8
    assert net[1].bias is None  # the norm has one
    assert net(torch.rand(7, 4)).shape == (7, 3)


@pytest.mark.parametrize("shape", [(1, 9, 8), (9, 8), (3, 9, 8)])
def test_convolutions(shape):
    net = build("conv:4x6/5", shape, 2)
    assert net(torch.rand(7, *shape)).shape == (7, 2)
    assert kinds(net).count("Conv2d") == kinds(net).count("MaxPool2d") == 2
    assert kinds(build("conv:4", shape, 2))[-2:] == ["Flatten", "Linear"]


@pytest.mark.parametrize(
    "layers", ["mlp", "mlp:", "mlp:3,4", "mlp:0", "conv:3x0", "dense:3", "conv:3/", "", 3]
)
def test_words_that_describe_nothing(layers):
    with pytest.raises(InputError, match="layers must read like 'linear', 'mlp:256x128'"):
        build(layers, (4,), 2)


def test_sentences():
    with pytest.raises(InputError, match="convolutions need images, got inputs of shape \\[4\\]"):
        build("conv:3", (4,), 2)
    with pytest.raises(InputError, match="halved to nothing"):
        build("conv:3x3x3", (1, 4, 4), 2)
    with pytest.raises(InputError, match="did you mean 'relu'"):
        build("mlp:3", (4,), 2, activation="relo")


@pytest.mark.parametrize("layers", ["mlp:99999999x99999999", "conv:4/99999999x99999999"])
def test_more_than_the_memory_is_a_sentence(layers):
    with pytest.raises(InputError, match="must fit into memory"):
        build(layers, (1, 8, 8), 2)


@pytest.mark.parametrize("layers", ["linear", "mlp:5x7", "conv:3x4/6", "conv:2"])
def test_weights_are_counted(layers):
    network = build(layers, (1, 8, 8), 2, norm="batch")
    found = sum(p.numel() for p in network.parameters() if p.ndim > 1)
    assert weights_of(layers, (1, 8, 8), 2) == found
