import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg.nets.norms.predecessors import predecessors

BatchNorm = tw.nets.BatchNorm


class Net(nn.Module):
    """Layers a and b, a norm, and a forward of one's own."""

    def __init__(self, forward):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.norm = BatchNorm(4)
        self.run = forward

    def forward(self, x):
        return self.run(self, x)


def found(model):
    names = {module: name for name, module in model.named_modules()}
    return {names[norm]: names.get(layer, why) for norm, layer, why in predecessors(model.eval())}


@pytest.mark.parametrize("norm", [BatchNorm, nn.BatchNorm1d])
def test_in_a_sequential(norm):
    model = nn.Sequential(
        norm(4), nn.Linear(4, 4), norm(4), nn.ReLU(), norm(4),
        nn.Linear(4, 4), nn.Dropout(), nn.Identity(), norm(4),
    )  # fmt: skip
    assert found(model) == {
        "0": "before it comes the network's input, no Linear or convolution",
        "2": "1",
        "4": "before it comes ReLU, no Linear or convolution",
        "8": "5",
    }


@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        (lambda net, x: net.norm(net.a(x)), "a"),
        (lambda net, x: net.norm(net.b(net.a(x))), "b"),
        (lambda net, x: net.norm(net.a(x)) + net.norm(net.a(2 * x)), "a"),  # twice, but together
        (lambda net, x: net.norm(net.a(x)) + net.norm(net.b(x)), "it is shared: several layers"),
        (lambda net, x: net.norm(net.a(x)) + net.a(2 * x), "the layer before it is shared: it"),
        (lambda net, x: net.norm(x), "before it comes the network's input, no Linear"),
        (lambda net, x: net.norm(net.a(x) + 1), "before it comes add, no Linear"),
        (lambda net, x: net.norm(torch.relu(net.a(x))), "before it comes relu, no Linear"),
        (lambda net, x: net.a(x), "forward never calls it"),
        (lambda net, x: net.norm(net.a(x)) if x.sum() > 0 else x, "its caller cannot be traced"),
    ],
)
def test_in_a_forward_of_ones_own(forward, expected):
    assert found(Net(forward))["norm"].startswith(expected)


def test_an_output_that_is_used_twice():
    def forward(net, x):
        h = net.a(x)
        return net.norm(h) + h

    expected = "the output of the layer before it is also used elsewhere"
    assert found(Net(forward)) == {"norm": expected}


def test_children_are_traced_where_the_whole_cannot_be():
    model = Net(lambda net, x: net.norm(net.b(x)) if x.sum() > 0 else x)
    model.b = nn.Sequential(nn.Conv1d(4, 4, 1), BatchNorm(4))
    answers = found(model)
    assert answers["b.1"] == "b.0"
    assert answers["norm"].startswith("its caller cannot be traced (symbolically traced variables")


def test_a_norm_alone_and_no_norm():
    assert found(BatchNorm(3)) == {"": "nothing comes before it"}
    assert found(nn.Linear(3, 3)) == {}
