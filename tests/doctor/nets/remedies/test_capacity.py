import pytest

from thalweg.doctor.nets.remedies.capacity import (
    bend,
    larger_batches,
    larger_batches_longer,
    longer,
    wider,
)
from thalweg.nets.recipes.recipe import Recipe


@pytest.mark.parametrize(
    ("layers", "wide"),
    [
        ("linear", "mlp:64x64"),
        ("mlp:1x128", "mlp:64x128"),
        ("conv:2x32/8", "conv:16x32/16"),
        ("mlp:64", "mlp:64"),
    ],
)
def test_no_layer_is_narrow(layers, wide):
    assert wider(Recipe(layers=layers), None).layers == wide


def test_a_network_without_activations_gets_some():
    straight = Recipe(activation="identity")
    assert bend(straight, None) == wider(straight, None) == Recipe(activation="relu")
    assert bend(Recipe(activation="tanh"), None) is None
    assert bend(straight.changed(layers="linear"), None) is None


def test_batches_and_epochs():
    tiny = Recipe(batch_size=2, epochs=5)
    assert larger_batches(tiny, None).batch_size == 32
    more = larger_batches_longer(tiny, None)
    assert (more.batch_size, more.epochs) == (32, 20)
    for enough in (Recipe(batch_size=32), Recipe(batch_size=None)):
        assert larger_batches(enough, None) is None
        assert larger_batches_longer(enough, None) is None
    assert longer(tiny, None).epochs == 20
