"""More of it: rows in a batch, units, layers, epochs.

Mean and variance of a batch of m rows have relative errors of about 1/√m: from 32 rows on, batch
norm adds little noise. The steps of an epoch become fewer; more epochs make up for it.

A network can only say what its layers can: one linear map divides the space by planes, and a layer
of two units lets no more than two numbers through. A loss that is still falling when the epochs are
over asks for more of them.
"""

from __future__ import annotations

import re

from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair

WIDTH = 64
ROWS = 32


def larger_batches(recipe: Recipe, data: Pair) -> Recipe | None:
    """Batches of 32 rows."""
    if recipe.batch_size is None or recipe.batch_size >= ROWS:
        return None
    return recipe.changed(batch_size=ROWS)


def larger_batches_longer(recipe: Recipe, data: Pair) -> Recipe | None:
    """Batches of 32 rows, and four times the epochs: still no more steps than with eight rows."""
    larger = larger_batches(recipe, data)
    return larger and larger.changed(epochs=4 * recipe.epochs)


def wider(recipe: Recipe, data: Pair) -> Recipe | None:
    """Hidden layers of at least 64 units with a bend; two of them where there was none."""
    layers = recipe.layers
    if layers == "linear":
        layers = f"mlp:{WIDTH}x{WIDTH}"
    elif layers.startswith("mlp:"):
        layers = re.sub(r"\d+", lambda width: str(max(WIDTH, int(width[0]))), layers)
    else:
        layers = re.sub(r"\d+", lambda width: str(max(16, int(width[0]))), layers)
    if recipe.activation == "identity":
        return recipe.changed(layers=layers, activation="relu", initializer="he")
    return recipe.changed(layers=layers)


def bend(recipe: Recipe, data: Pair) -> Recipe | None:
    """ReLU units where there are no activations at all."""
    if recipe.activation != "identity" or recipe.layers == "linear":
        return None
    return recipe.changed(activation="relu", initializer="he")


def longer(recipe: Recipe, data: Pair) -> Recipe | None:
    """Four times the epochs."""
    return recipe.changed(epochs=4 * recipe.epochs)


LARGER_BATCHES = Remedy("batches of 32 rows", 2, larger_batches)
LARGER_BATCHES_LONGER = Remedy("batches of 32 rows, four times as long", 3, larger_batches_longer)
BEND = Remedy("ReLU units where there were none", 4, bend)
WIDER = Remedy("wider layers", 7, wider)
LONGER = Remedy("four times the epochs", 7, longer)
