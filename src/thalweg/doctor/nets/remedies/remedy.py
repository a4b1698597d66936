"""A remedy: a small change of a recipe, with its name and its price.

    change(recipe, data) -> Recipe | None

None, or the same recipe, means that there is nothing to change. `data` is the training pair (x, y):
most remedies leave it alone, some measure on it. `size` ranks how much of the recipe becomes
another one; smaller changes are tried first:

    1   a number of the optimizer's: rate, momentum, clipping, decay
    2   how a training begins: scale of the inputs, first weights, biases, rows of a batch
    3   another optimizer
    4   another activation
    5   another architecture: batch norm
    6   what holds it back, or shows it other samples: dropout, augmentation, early stopping
    7   another task or another network: loss, width, epochs
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair

Change = Callable[[Recipe, Pair], Recipe | None]


@dataclass(frozen=True)
class Remedy:
    """One change that may help."""

    name: str  # in words: "a tenth of the learning rate"
    size: int  # 1 the smallest
    change: Change

    def __str__(self) -> str:
        return self.name


def without_options(recipe: Recipe, *names: str) -> dict[str, object]:
    """The options of the recipe's optimizer, but for `names`."""
    return {name: value for name, value in recipe.optimizer_options.items() if name not in names}
