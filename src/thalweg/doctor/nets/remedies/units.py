"""Other units: activations with a slope, and batch norm.

A gradient on its way back is multiplied by the slope of every activation it passes: at most 1/4 of
a sigmoid, 1 of a ReLU that is on. Ten sigmoids leave 4⁻¹⁰, a millionth. A leaky ReLU has a slope
where a ReLU has none, so that no unit dies for good. A network without any activation is one linear
map, however deep.

Batch norm gives the input of every activation mean 0 and variance 1 over the batch, whatever the
layers below are doing: neither weights of wrong size nor their drift while training (internal
covariate shift) can push it to where the activation is flat.
"""

from __future__ import annotations

from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair

SMALLEST = 8  # rows of a batch whose mean and variance say something


def to_relu(recipe: Recipe, data: Pair) -> Recipe | None:
    """ReLU units with He's first weights."""
    return recipe.changed(activation="relu", initializer="he", bias=0.0)


def to_leaky_relu(recipe: Recipe, data: Pair) -> Recipe | None:
    """Leaky ReLU units with He's first weights."""
    return recipe.changed(activation="leaky-relu", initializer="he", bias=0.0)


def batch_norm(recipe: Recipe, data: Pair) -> Recipe | None:
    """Batch norm in every hidden layer."""
    rows = recipe.batch_size
    is_shallow = recipe.layers == "linear"
    return None if is_shallow or (rows or SMALLEST) < SMALLEST else recipe.changed(norm="batch")


def no_norm(recipe: Recipe, data: Pair) -> Recipe | None:
    """No batch norm, and He's or Xavier's first weights do its work."""
    return recipe.changed(norm="none")


RELU = Remedy("ReLU units", 4, to_relu)
LEAKY_RELU = Remedy("leaky ReLU units", 4, to_leaky_relu)
BATCH_NORM = Remedy("batch norm", 5, batch_norm)
NO_NORM = Remedy("no batch norm", 5, no_norm)
