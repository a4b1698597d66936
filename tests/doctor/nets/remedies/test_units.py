import torch
from torch.nn import functional

from thalweg.doctor.nets.remedies.units import batch_norm, no_norm, to_leaky_relu, to_relu
from thalweg.nets.recipes.recipe import Recipe

DEEP = Recipe(layers="mlp:" + "x".join(["16"] * 10), activation="sigmoid", initializer="default")


def first_gradient(recipe):
    x = torch.randn(64, 8, generator=torch.Generator().manual_seed(0))
    model = recipe.build((8,), 2)
    functional.cross_entropy(model(x), (x[:, 0] > 0).long()).backward()
    return float(model[1].weight.grad.norm())


def test_gradients_arrive():
    before = first_gradient(DEEP)
    assert before < 1e-7
    for remedy in (to_relu, to_leaky_relu, batch_norm):
        assert first_gradient(remedy(DEEP, None)) > 1e4 * before, remedy.__name__


def test_batch_norm_wants_a_batch_and_a_hidden_layer():
    assert batch_norm(DEEP.changed(batch_size=2), None) is None
    assert batch_norm(Recipe(layers="linear"), None) is None
    assert batch_norm(DEEP.changed(batch_size=None), None).norm == "batch"
    assert no_norm(DEEP.changed(norm="batch"), None) == DEEP
