import pytest
import torch
from torch import nn

from thalweg.nets.optimizers.units import parameter_groups, project_units, units_of


def by_definition(weight, layer, radius):
    """Every unit's incoming weights, entry by entry."""
    weight = weight.clone()
    transposed = isinstance(layer, nn.ConvTranspose2d)
    groups = getattr(layer, "groups", 1)
    if not transposed:
        for o in range(weight.shape[0]):
            weight[o] *= min(1.0, radius / float(weight[o].norm()))
        return weight
    share = weight.shape[0] // groups
    for group in range(groups):
        rows = slice(group * share, (group + 1) * share)
        for o in range(weight.shape[1]):
            norm = float(weight[rows, o].norm())
            weight[rows, o] *= min(1.0, radius / norm)
    return weight


LAYERS = [
    nn.Linear(5, 3),
    nn.Conv2d(4, 6, 3, groups=2),
    nn.ConvTranspose2d(4, 3, 2),
    nn.ConvTranspose2d(4, 6, 2, groups=2),
]


@pytest.mark.parametrize("layer", LAYERS, ids=str)
@pytest.mark.parametrize("radius", [0.1, 0.5, 100.0])
def test_projection_is_that_of_the_definition(layer, radius):
    (group,) = [g for g in parameter_groups(layer) if any(p is layer.weight for p in g["params"])]
    weight = layer.weight.detach().double().clone()
    expected = by_definition(weight, layer, radius)
    project_units(weight, group["unit_axis"], group["unit_groups"], radius)
    torch.testing.assert_close(weight, expected)


def test_every_parameter_is_in_one_group():
    model = nn.Sequential(nn.Conv1d(1, 2, 3), nn.ConvTranspose1d(2, 1, 3), nn.Linear(4, 2))
    found = [p for group in parameter_groups(model) for p in group["params"]]
    assert {id(p) for p in found} == {id(p) for p in model.parameters()}
    assert len(found) == len(list(model.parameters()))


def test_where_units_lie():
    assert units_of(torch.zeros(3, 5), 0, 1) == (1, 5, 5)
    assert units_of(torch.zeros(6, 2, 3, 3), 0, 1) == (1, 18, 18)
    assert units_of(torch.zeros(4, 3, 2, 2), 1, 2) == (2, 4, 12)
    assert units_of(torch.zeros(7), 0, 1) is None


def test_a_unit_of_zeros_or_without_a_norm_is_left_alone():
    weight = torch.tensor([[0.0, 0.0], [float("inf"), 1.0], [3.0, 4.0]])
    project_units(weight, 0, 1, 1.0)
    assert weight[0].tolist() == [0.0, 0.0]
    assert weight[1].tolist() == [float("inf"), 1.0]
    torch.testing.assert_close(weight[2], torch.tensor([0.6, 0.8]))
