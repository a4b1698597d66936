"""How good a trained network is, as one number that no change of recipe redefines.

    classes      mean over the classes of the share of their rows that is told right (mean recall)
    quantities   R² = 1 − Σ‖f(xᵢ) − yᵢ‖² / Σ‖yᵢ − ȳ‖²

1 is perfect. What always answers alike has 1/K of K classes, or R² = 0, and nothing counts as
worse: a training that diverged has this `floor` too, since any constant would have served as well.
So scores are finite and lie in [floor, 1].

The loss would not do: a remedy may replace it, and it punishes a network for being sure as well as
for being wrong. Mean recall lets a rare class count as much as a frequent one.

Labels are classes if they are whole numbers by type, or if the loss is one of classes. A squared
loss on class numbers is read as the nearest number.
"""

from __future__ import annotations

import torch
from torch import nn

from thalweg.core.scores import mean_recall, r_squared
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair
from thalweg.nets.training.evaluate import BATCH, modes_kept
from thalweg.nets.training.inputs import Inputs


def has_classes(recipe: Recipe, y: torch.Tensor) -> bool:
    """Whether the labels of `recipe` are classes."""
    return recipe.loss != "squared" or not y.is_floating_point()


def floor(recipe: Recipe, y: torch.Tensor) -> float:
    """The score of the best constant answer to labels `y`."""
    return 1.0 / len(_as_classes(recipe, y).unique()) if has_classes(recipe, y) else 0.0


@torch.no_grad()
def score(recipe: Recipe, model: nn.Module, data: Pair) -> float:
    """Mean recall or R² of `model`, trained by `recipe`, in eval mode; never below the floor."""
    x, y = data
    inputs = Inputs(model)
    with modes_kept(model):
        model.eval()
        z = torch.cat([inputs.run(model, inputs(rows)) for rows in x.split(BATCH)]).cpu()
    y, least = y.cpu(), floor(recipe, y)
    if not bool(z.isfinite().all()):
        return least
    if not has_classes(recipe, y):
        truth = y.reshape(len(y), -1).double().numpy()
        return max(least, r_squared(truth, z.double().numpy()))
    return max(least, mean_recall(_as_classes(recipe, y).numpy(), _said(recipe, z, y).numpy()))


def _as_classes(recipe: Recipe, y: torch.Tensor) -> torch.Tensor:
    """Class numbers, flat; shares of classes become the largest."""
    if recipe.loss == "cross-entropy" and y.ndim > 1:
        return y.argmax(1)
    return y.round().long().flatten() if y.is_floating_point() else y.flatten()


def _said(recipe: Recipe, z: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if recipe.loss == "cross-entropy":
        return z.argmax(1)
    if recipe.loss == "binary-cross-entropy":
        return (z > 0).long().flatten()
    return z.round().clamp(int(y.min()), int(y.max())).long().flatten()
