import math

import pytest
import torch
from torch import nn

from thalweg.doctor.nets.instruments.layers import (
    bare,
    describe_layer,
    forward_order,
    is_compiled,
    layers_of,
    role_of,
    unit_axis,
    weight_of,
)


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


def test_layers_have_parameters_or_are_activations():
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Dropout(0.5), nn.Sequential(nn.Linear(8, 3), Swish()), nn.Identity(),
        nn.CrossEntropyLoss(),
    )  # fmt: skip
    assert list(layers_of(model)) == ["0", "1", "2", "6.0", "6.1"]


def test_a_model_that_is_a_layer_is_called_by_its_class():
    assert list(layers_of(nn.Linear(2, 1))) == ["Linear"]


def test_a_shared_layer_stands_once():
    relu = nn.ReLU()
    assert list(layers_of(nn.Sequential(nn.Linear(2, 2), relu, nn.Linear(2, 2), relu))) == [
        "0", "1", "2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "role"),
    [
        (nn.Linear(2, 2), "linear"),
        (nn.ConvTranspose1d(1, 1, 2), "linear"),
        (nn.ReLU6(), "relu"),
        (nn.GELU(), "relu"),
        (nn.Sigmoid(), "sigmoid"),
        (nn.Hardtanh(), "tanh"),
        (nn.Softmax(1), "softmax"),
        (nn.BatchNorm1d(2), "norm"),
        (nn.LayerNorm(2), "norm"),
        (nn.Embedding(3, 2), "other"),
    ],
)
def test_roles(module, role):
    assert role_of(module) == role


def test_a_layer_in_the_record():
    conv = nn.Conv2d(4, 6, 3, groups=2)
    conv.bias.requires_grad_(False)
    layer = describe_layer("c", conv)
    assert (layer.name, layer.kind, layer.role) == ("c", "Conv2d", "linear")
    assert (layer.fan_in, layer.shape) == (18.0, (6, 2, 3, 3))
    assert (layer.parameters, layer.trainable) == (108 + 6, 108)
    norm = describe_layer("n", nn.LayerNorm(5))
    assert math.isnan(norm.fan_in)
    assert (norm.shape, norm.parameters) == ((), 10)
    assert weight_of(nn.ReLU()) is None


def test_order_of_the_forward_pass():
    names = ["a", "b", "c", "d"]
    assert forward_order(names, ["c", "a", "b", "d"]) == [2, 0, 1, 3]
    assert forward_order(names, ["c", "a"]) == [2, 3, 0, 1]  # b behind a, d behind c
    assert forward_order(names, []) == [0, 1, 2, 3]
    assert forward_order(names, ["d"]) == [0, 1, 2, 3]


def test_units_of_an_activation_are_where_its_predecessor_has_them():
    assert unit_axis(nn.Conv1d(1, 1, 1), None) == 1
    assert unit_axis(nn.ReLU(), 1) == 1
    assert unit_axis(nn.Linear(1, 1), 1) == -1
    assert unit_axis(nn.ReLU(), None) is None


def test_the_network_itself():
    model = nn.Sequential(nn.Linear(2, 2))
    assert bare(model) is model
    assert bare(torch.compile(model, backend="eager")) is model
    assert bare(nn.DataParallel(model)) is model
    assert not is_compiled(model)
    assert is_compiled(torch.compile(model, backend="eager"))
    model[0].compile(backend="eager")
    assert is_compiled(model)
