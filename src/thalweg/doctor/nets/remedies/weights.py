"""Other first weights.

Through a layer of n_in inputs, V[o] = n_in·V[w]·E[x²]. With V[w] = 1/n_in (2/n_in behind ReLUs,
which set half of the sum to zero) signals keep their size through any depth, and gradients on their
way back too; any other variance multiplies both by the same factor at every layer. Units that begin
alike get the same gradient and stay alike: only draws at random tell them apart. A bias far below
zero keeps a ReLU shut for every sample: no output, no gradient.
"""

from __future__ import annotations

from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair

# Behind ReLUs and their kin half of the sum is zero, or nearly.
HALVING = ("relu", "leaky-relu", "elu", "gelu")


def scheme_for(recipe: Recipe) -> str:
    """He's scheme for ReLUs and their kin, Xavier's for the rest."""
    return "he" if recipe.activation in HALVING else "xavier"


def initialize(recipe: Recipe, data: Pair) -> Recipe | None:
    """First weights by the scheme of the activation, biases zero."""
    return recipe.changed(initializer=scheme_for(recipe), bias=0.0)


def zero_bias(recipe: Recipe, data: Pair) -> Recipe | None:
    """Biases that begin at zero."""
    return recipe.changed(bias=0.0)


INITIALIZE = Remedy("draw the first weights by the scheme of the activation", 2, initialize)
ZERO_BIAS = Remedy("begin with biases of zero", 2, zero_bias)
