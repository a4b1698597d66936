from torch import nn

from thalweg.nets.optimizers.adam import Adam
from thalweg.nets.optimizers.groups import no_decay_groups


def test_biases_and_norms_are_kept_out():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 2))
    decays = {
        id(p): group.get("weight_decay")
        for group in no_decay_groups(model)
        for p in group["params"]
    }
    assert decays[id(model[0].weight)] is None
    assert decays[id(model[3].weight)] is None
    for kept_out in (model[0].bias, model[1].weight, model[1].bias, model[3].bias):
        assert decays[id(kept_out)] == 0.0
    assert len(decays) == len(list(model.parameters()))


def test_a_norm_of_several_dimensions_is_a_norm():
    norm = nn.LayerNorm((3, 4))
    (group,) = no_decay_groups(norm)
    assert group["weight_decay"] == 0.0


def test_the_decay_is_the_optimizers_or_ones_own():
    model = nn.Linear(2, 1)
    by_optimizer = Adam(no_decay_groups(model), weight_decay=0.3)
    assert [group["weight_decay"] for group in by_optimizer.param_groups] == [0.3, 0.0]
    own = Adam(no_decay_groups(model, 0.7), weight_decay=0.3)
    assert [group["weight_decay"] for group in own.param_groups] == [0.7, 0.0]


def test_transposed_convolutions_keep_their_axis():
    model = nn.Sequential(nn.ConvTranspose2d(2, 3, 2), nn.Linear(2, 2))
    axes = {id(p): group["unit_axis"] for group in no_decay_groups(model) for p in group["params"]}
    assert axes[id(model[0].weight)] == 1
    assert axes[id(model[1].weight)] == 0
