import pytest
import torch
from torch import nn

from thalweg.nets.recipes.scaling import Scaling

X = torch.tensor([[0.0, 5.0], [2.0, 5.0], [4.0, 5.0]])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("z-score", [-(1.5**0.5), 0.0, 1.5**0.5]),
        ("min-max", [0.0, 0.5, 1.0]),
        ("mean", [-0.5, 0.0, 0.5]),
    ],
)
def test_by_hand_and_a_constant_column_is_only_shifted(kind, expected):
    layer = Scaling(kind, (2,))
    assert torch.equal(layer(X), X)
    layer.measure(X)
    assert layer(X)[:, 0].tolist() == pytest.approx(expected)
    assert layer(X)[:, 1].tolist() == [0.0, 0.0, 0.0]


def test_images_by_channel_and_uint8_as_the_network_sees_it():
    x = torch.randint(256, (50, 3, 4, 4), dtype=torch.uint8)
    layer = Scaling("z-score", (3, 4, 4))
    layer.measure(x)
    scaled = layer(x / 255.0)
    assert layer.shift.shape == (3, 1, 1)
    torch.testing.assert_close(scaled.mean((0, 2, 3)), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(scaled.std((0, 2, 3), correction=0), torch.ones(3))


def test_it_is_saved_with_the_network():
    layer = Scaling("z-score", (2,))
    layer.measure(X)
    again = nn.Sequential(Scaling("z-score", (2,)))
    again.load_state_dict(nn.Sequential(layer).state_dict())
    assert torch.equal(again(X), layer(X))
    assert "z-score" in repr(layer)
