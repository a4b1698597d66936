import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg.nets.initializers.fans import fans


@pytest.mark.parametrize(
    ("layer", "n_in", "n_out"),
    [
        (nn.Linear(7, 3), 7, 3),
        (nn.Conv1d(4, 6, 5), 4 * 5, 6 * 5),
        (nn.Conv2d(3, 8, (3, 5)), 3 * 15, 8 * 15),
        (nn.Conv2d(4, 6, 3, groups=2), 2 * 9, 3 * 9),
        (nn.Conv2d(4, 4, 3, groups=4), 9, 9),  # depthwise
        (nn.Conv2d(4, 6, 2, stride=2), 4 * 4, 6),  # every input is read once
        (nn.Conv3d(2, 5, 3), 2 * 27, 5 * 27),
        (nn.ConvTranspose2d(3, 8, 3), 3 * 9, 8 * 9),
        (nn.ConvTranspose2d(4, 6, 3, groups=2), 2 * 9, 3 * 9),
        (nn.ConvTranspose2d(4, 6, 2, stride=2), 4, 6 * 4),  # every output is written once
        (nn.ConvTranspose1d(4, 6, 4, stride=2), 4 * 2, 6 * 4),
        (nn.Embedding(100, 16), 1, 1),
        (nn.Bilinear(3, 4, 5), 12, 20),
    ],
    ids=str,
)
def test_counted_by_hand(layer, n_in, n_out):
    assert fans(layer) == (n_in, n_out)


def middle(tensor, size):
    """Mean over a window of `size`, a multiple of every stride, away from the borders."""
    for axis in range(2, tensor.ndim):
        tensor = tensor.narrow(axis, 12, size)
    return tensor.mean()


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv1d(4, 6, 5, stride=3),
        nn.Conv2d(4, 6, 3, groups=2, dilation=2),
        nn.Conv2d(2, 4, 3, stride=2),
        nn.ConvTranspose1d(4, 6, 5, stride=3),
        nn.ConvTranspose2d(4, 8, 3, groups=2, stride=2),
        nn.ConvTranspose2d(2, 4, 3, dilation=2),
    ],
    ids=str,
)
def test_terms_counted_by_the_layer_itself(layer):
    """With all weights 1, outputs of ones count terms, and so do gradients of their sum."""
    nn.init.ones_(layer.weight)
    nn.init.zeros_(layer.bias)
    x = torch.ones((1, layer.in_channels) + (40,) * (layer.weight.ndim - 2), requires_grad=True)
    y = layer(x)
    y.sum().backward()
    if y.shape[-1] < 24:  # a window of outputs would not fit
        assert y[..., 4:7].mean().item() == pytest.approx(fans(layer).n_in)
    else:
        assert middle(y, 6).item() == pytest.approx(fans(layer).n_in)
    assert middle(x.grad, 6).item() == pytest.approx(fans(layer).n_out)


@pytest.mark.parametrize("layer", [nn.Linear(7, 3), nn.Conv2d(3, 8, 5)], ids=str)
def test_agrees_with_torch_where_torch_counts(layer):
    assert fans(layer) == nn.init._calculate_fan_in_and_fan_out(layer.weight)


def test_other_weights_of_a_module_by_their_shape():
    lstm = nn.LSTM(5, 6)
    assert fans(lstm, lstm.weight_ih_l0) == (5, 24)


@pytest.mark.parametrize("module", [nn.ReLU(), nn.BatchNorm1d(3), nn.PReLU()], ids=str)
def test_what_sums_nothing_has_no_fans(module):
    with pytest.raises(tw.InputError, match="module must have a weight of two axes or more, got"):
        fans(module)
