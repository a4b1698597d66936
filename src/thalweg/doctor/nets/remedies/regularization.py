"""More or less of what holds a network back.

A penalty (λ/2)‖w‖² moves the minimum to where its own slope λw balances that of the loss: too small
a λ lets the weights follow every row, too large a one leaves nothing but small weights. Dropout
keeps a share of the units at each step, so that none can rely on another; with too small a share
nothing is learnt that takes several. Early stopping keeps the weights of the epoch that was best on
rows that were not trained on. Augmentation shows more samples than there are.
"""

from __future__ import annotations

from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.doctor.nets.score import has_classes
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair


def less(recipe: Recipe, data: Pair) -> Recipe | None:
    """A hundredth of the penalties, or none where they were small; all units stay."""
    decay, l1 = (value / 100 if value > 1e-3 else 0.0 for value in (recipe.weight_decay, recipe.l1))
    keep = recipe.keep if recipe.keep >= 0.5 else 0.8
    return recipe.changed(weight_decay=decay, l1=l1, max_norm=None, keep=keep)


def none(recipe: Recipe, data: Pair) -> Recipe | None:
    """No penalty, no dropout."""
    return recipe.changed(weight_decay=0.0, l1=0.0, max_norm=None, keep=1.0)


def decay(recipe: Recipe, data: Pair) -> Recipe | None:
    """Ten times the weight decay, at least 0.01."""
    return recipe.changed(weight_decay=max(0.01, 10.0 * recipe.weight_decay))


def drop_out(recipe: Recipe, data: Pair) -> Recipe | None:
    """Dropout that keeps half of the units."""
    is_shallow = recipe.layers == "linear"
    return None if is_shallow or recipe.keep <= 0.5 else recipe.changed(keep=0.5)


def stop_early(recipe: Recipe, data: Pair) -> Recipe | None:
    """Early stopping after a tenth of the epochs without a better one."""
    if recipe.patience is not None:
        return None
    watched = "validation accuracy" if has_classes(recipe, data[1]) else "validation loss"
    if recipe.loss == "squared":  # its accuracy is not known
        watched = "validation loss"
    return recipe.changed(patience=max(3, recipe.epochs // 10), monitor=watched)


def augment(recipe: Recipe, data: Pair) -> Recipe | None:
    """Images turned and moved a little."""
    if data[0].ndim != 4 or recipe.augmentation:
        return None
    return recipe.changed(augmentation=("rotation[degrees=10]",))


LESS = Remedy("a hundredth of the penalties, and most units stay", 1, less)
NONE = Remedy("no penalty and no dropout", 1, none)
DECAY = Remedy("more weight decay", 1, decay)
DROPOUT = Remedy("dropout of half of the units", 6, drop_out)
EARLY_STOPPING = Remedy("early stopping", 6, stop_early)
AUGMENT = Remedy("images turned by up to ten degrees", 6, augment)
