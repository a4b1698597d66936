"""The loss that the labels ask for.

Class numbers are names: 2 is no more than 1, and half-way between 1 and 3 there is nothing. The
squared loss makes quantities of them; cross-entropy, −log of the probability of the class, has one
output for each, and its gradient p − y does not vanish where the answer is wrong. Yes or no is the
case of two. Quantities want the squared loss, the likelihood of normal errors.
"""

from __future__ import annotations

from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair


def fitting_loss(recipe: Recipe, data: Pair) -> Recipe | None:
    """Cross-entropy for class numbers, squared loss for quantities."""
    y = data[1]
    if not y.is_floating_point():
        is_binary = recipe.loss == "binary-cross-entropy" and y.min() >= 0 and y.max() <= 1
        return None if is_binary else recipe.changed(loss="cross-entropy")
    if recipe.loss == "binary-cross-entropy" and (y.min() < 0 or y.max() > 1):
        return recipe.changed(loss="squared")
    if recipe.loss == "cross-entropy" and y.ndim == 1 and bool((y != y.round()).any()):
        return recipe.changed(loss="squared")
    return None


LOSS = Remedy("the loss that fits the labels", 7, fitting_loss)
