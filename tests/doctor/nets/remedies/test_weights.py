import pytest
import torch

from thalweg.doctor.nets.remedies.weights import initialize, scheme_for, zero_bias
from thalweg.nets.recipes.recipe import Recipe


@pytest.mark.parametrize(
    ("activation", "scheme"),
    [("relu", "he"), ("leaky-relu", "he"), ("tanh", "xavier"), ("sigmoid", "xavier")],
)
def test_the_scheme_is_that_of_the_activation(activation, scheme):
    recipe = Recipe(activation=activation, initializer="zeros", bias=-9.0)
    after = initialize(recipe, None)
    assert after.initializer == scheme == scheme_for(recipe)
    assert after.bias == 0.0


@pytest.mark.parametrize("sigma", [0.01, 1.0])
def test_signals_keep_their_size_through_depth(sigma):
    x = torch.randn(200, 30, generator=torch.Generator().manual_seed(0))
    before = Recipe(layers="mlp:" + "x".join(["50"] * 8), initializer=f"normal[sigma={sigma}]")
    sizes = [r.build((30,), 50)(x).std().item() for r in (before, initialize(before, None))]
    assert not 0.01 < sizes[0] < 100
    assert 0.1 < sizes[1] < 10


def test_units_that_were_shut_fire_again():
    x = torch.randn(100, 10, generator=torch.Generator().manual_seed(0))
    before = Recipe(layers="mlp:20", bias=-30.0)
    fires = [
        float((r.build((10,), 2)[:3](x) > 0).float().mean())
        for r in (before, zero_bias(before, None))
    ]
    assert fires[0] == 0.0
    assert fires[1] == pytest.approx(0.5, abs=0.1)
