"""Inputs to one scale.

The curvature of a layer's loss along its weights is that of the inputs, XᵀX/n: features of sizes s
and t differ by (s/t)² in curvature. One rate then serves the largest feature alone, and descent
takes about κ = (s/t)² steps. Features far from zero share their mean x̄, a direction of curvature
‖x̄‖². Large inputs drive sigmoids and tanhs to where they have no slope. After z-scores
every feature has mean 0 and variance 1, as the schemes for first weights assume.
"""

from __future__ import annotations

from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.doctor.nets.remedies.weights import scheme_for
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair


def scale(recipe: Recipe, data: Pair) -> Recipe | None:
    """z-scores of the inputs, measured on the training data."""
    return recipe.changed(scaling="z-score")


def scale_and_restart(recipe: Recipe, data: Pair) -> Recipe | None:
    """z-scores, and first weights of the scheme that assumes them."""
    return recipe.changed(scaling="z-score", initializer=scheme_for(recipe), bias=0.0)


SCALE = Remedy("scale the inputs to z-scores", 2, scale)
SCALE_AND_RESTART = Remedy("z-scores, and first weights to fit them", 2, scale_and_restart)
