import torch

from thalweg.doctor.nets.remedies.inputs import scale, scale_and_restart
from thalweg.doctor.nets.remedies.rate import sharpness
from thalweg.nets.recipes.recipe import Recipe


def test_scaling_takes_away_what_units_and_offsets_add_to_the_curvature():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(100, 3, generator=generator) * torch.tensor([0.1, 1.0, 50.0]) + 20.0
    data = x, x.sum(1)
    before = Recipe(layers="linear", loss="squared", initializer="zeros")
    after = scale(before, data)
    assert before.difference(after) == "scaling: none → z-score"
    assert sharpness(before, data) > 1000
    assert sharpness(after, data) < 2


def test_first_weights_fit_the_units():
    recipe = Recipe(activation="tanh", initializer="normal[sigma=5.0]", bias=3.0)
    after = scale_and_restart(recipe, None)
    assert (after.scaling, after.initializer, after.bias) == ("z-score", "xavier", 0.0)
