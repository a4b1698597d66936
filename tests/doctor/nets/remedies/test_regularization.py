import pytest
import torch

from thalweg.doctor.nets.remedies.regularization import (
    augment,
    decay,
    drop_out,
    less,
    none,
    stop_early,
)
from thalweg.nets.recipes.recipe import Recipe

CLASSES = torch.zeros(9, 4), torch.arange(9)
NUMBERS = torch.zeros(9, 4), torch.arange(9.0)
HELD_BACK = Recipe(weight_decay=0.3, l1=1e-4, max_norm=0.1, keep=0.03)


def test_less():
    after = less(HELD_BACK, CLASSES)
    assert (after.weight_decay, after.l1, after.max_norm, after.keep) == (
        pytest.approx(0.003), 0.0, None, 0.8,
    )  # fmt: skip
    assert less(Recipe(keep=0.7), CLASSES).keep == 0.7
    assert none(HELD_BACK, CLASSES) == Recipe()


def test_more():
    assert decay(Recipe(), CLASSES).weight_decay == 0.01
    assert decay(Recipe(weight_decay=0.1), CLASSES).weight_decay == 1.0
    assert drop_out(Recipe(), CLASSES).keep == 0.5
    assert drop_out(Recipe(keep=0.3), CLASSES) is None
    assert drop_out(Recipe(layers="linear"), CLASSES) is None


def test_early_stopping_watches_what_there_is():
    assert stop_early(Recipe(epochs=100), CLASSES).patience == 10
    assert stop_early(Recipe(epochs=5), CLASSES).monitor == "validation accuracy"
    for data in (CLASSES, NUMBERS):
        assert stop_early(Recipe(loss="squared"), data).monitor == "validation loss"
    assert stop_early(Recipe(patience=3), CLASSES) is None


def test_images_alone_are_turned():
    assert augment(Recipe(), CLASSES) is None
    images = torch.rand(9, 1, 8, 8), torch.arange(9)
    after = augment(Recipe(layers="conv:2", epochs=1), images)
    assert after.augmentation == ("rotation[degrees=10]",)
    after.train(images, progress=False)
