import pytest
import torch

from thalweg.doctor.nets.remedies.steps import (
    clip,
    clip_at_one,
    gradient_norms,
    to_adam,
    to_fast_adam,
    to_heavy_ball,
    to_rmsprop,
    usual_options,
)
from thalweg.nets.recipes.recipe import Recipe

generator = torch.Generator().manual_seed(0)
X = torch.randn(80, 3, generator=generator)
Y = X.sum(1)
LINEAR = Recipe(layers="linear", initializer="zeros", loss="squared", batch_size=20)


def test_norms_are_those_of_batches_at_the_first_weights():
    # At w = 0 the gradient of ½(xᵀw + b − y)² is −(mean of yx, mean of y).
    recipe = LINEAR.changed(batch_size=None)
    slope = torch.cat([(Y[:, None] * X).mean(0), Y.mean()[None]])
    assert gradient_norms(recipe, (X, Y)) == pytest.approx([float(slope.norm())], rel=1e-5)
    assert len(gradient_norms(LINEAR, (X, Y))) == 4


def test_the_median_does_not_see_a_wild_row():
    wild = Y.clone()
    wild[0] *= 1e6
    calm, upset = (clip(LINEAR, (X, y)).clip_norm for y in (Y, wild))
    assert upset == pytest.approx(calm, rel=1.0)
    assert max(gradient_norms(LINEAR, (X, wild))) > 1e3 * calm


def test_what_is_clipped_already_stays():
    assert clip(LINEAR.changed(clip_norm=1e-6), (X, Y)) is None
    assert clip_at_one(LINEAR.changed(clip_norm=0.5), (X, Y)) is None
    assert clip_at_one(LINEAR, (X, Y)).clip_norm == 1.0
    assert clip(LINEAR, (X, torch.zeros(80))) is None  # no gradient at all


def test_clipping_makes_a_training_with_wild_rows_hold():
    wild = Y.clone()
    wild[0] *= 1e6
    recipe = LINEAR.changed(optimizer="sgd", learning_rate=0.1, epochs=20)
    held = clip(recipe, (X, wild))
    ended = [r.train((X, wild), progress=False).model[-1].weight.norm() for r in (recipe, held)]
    assert ended[1] < 10 < ended[0]


def test_usual_settings():
    odd = Recipe(optimizer="adagrad", optimizer_options={"lr_decay": 1.0}, learning_rate=1e-5)
    assert usual_options(odd, None) == Recipe(optimizer="adagrad", learning_rate=0.01)
    assert usual_options(Recipe(), None) is None
    assert to_adam(odd, None) == Recipe()
    assert to_fast_adam(odd, None).learning_rate == 0.01
    assert to_rmsprop(odd, None) == Recipe(optimizer="rmsprop", learning_rate=1e-3)
    plain = Recipe(optimizer="sgd", learning_rate=0.3)
    assert to_heavy_ball(plain, None) == Recipe(optimizer="heavy-ball", learning_rate=0.3)
    assert to_heavy_ball(Recipe(), None) is None
