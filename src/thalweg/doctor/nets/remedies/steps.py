"""Other steps: clipped ones, the optimizer's usual settings, another optimizer.

Clipping, g ← g·u/‖g‖ where ‖g‖ > u, bounds what one batch can do: at a cliff, or for a row that is
no row like the others, a step of ordinary length is taken in its direction. u is the median of the
gradient norms over the batches of a first epoch, so that half of them pass as they are.

AdaGrad divides by the root of the sum of all squared gradients, which only grows: its steps vanish
like 1/√t, at once if the sum begins large. RMSProp divides by a mean that forgets. Adam adds
momentum to that, and is what trains most networks with its usual numbers.

Momentum multiplies the speed along directions in which gradients agree by 1/(1 − β): over a
plateau or beside a saddle, where they are small, that is ten times.
"""

from __future__ import annotations

import math

import torch

from thalweg.core.errors import InputError
from thalweg.doctor.nets.remedies.rate import USUAL
from thalweg.doctor.nets.remedies.remedy import Remedy
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.losses import loss_of

BATCHES = 32  # looked at for the median gradient norm


def gradient_norms(recipe: Recipe, data: Pair) -> list[float]:
    """‖g‖ of some batches at the first weights; those that are no number are left out."""
    ready = recipe.prepare(data)
    x, y = ready.data
    inputs, loss = Inputs(ready.model), loss_of(recipe.loss)
    weights = [p for p in ready.model.parameters() if p.requires_grad]
    generator = torch.Generator().manual_seed(recipe.seed)
    order = torch.randperm(len(x), generator=generator).to(x.device)
    ready.model.eval()
    found = []
    for rows in order.split(recipe.batch(len(x)))[:BATCHES]:
        value = loss(ready.model(inputs(x[rows])), inputs.labels(y[rows], loss))
        parts = torch.autograd.grad(value, weights)
        found.append(math.sqrt(sum(float(part.double().square().sum()) for part in parts)))
    return [norm for norm in found if math.isfinite(norm)]


def clip(recipe: Recipe, data: Pair) -> Recipe | None:
    """Clip by the median norm of a batch's gradient."""
    try:
        norms = sorted(gradient_norms(recipe, data))
    except InputError:  # labels the loss does not take
        return None
    median = norms[len(norms) // 2] if norms else 0.0
    if median == 0.0 or (recipe.clip_norm is not None and recipe.clip_norm <= median):
        return None
    return recipe.changed(clip_norm=float(f"{median:.2g}"))


def clip_at_one(recipe: Recipe, data: Pair) -> Recipe | None:
    """Clip by 1."""
    is_tighter = recipe.clip_norm is not None and recipe.clip_norm <= 1.0
    return None if is_tighter else recipe.changed(clip_norm=1.0)


def usual_options(recipe: Recipe, data: Pair) -> Recipe | None:
    """The optimizer with no options besides its rate, and that at least the usual one."""
    if not recipe.optimizer_options:
        return None
    rate = max(recipe.learning_rate, USUAL.get(recipe.optimizer, 0.0))
    return recipe.changed(optimizer_options={}, learning_rate=rate)


def to_adam(recipe: Recipe, data: Pair) -> Recipe | None:
    """Adam with its usual numbers."""
    return recipe.changed(optimizer="adam", optimizer_options={}, learning_rate=USUAL["adam"])


def to_fast_adam(recipe: Recipe, data: Pair) -> Recipe | None:
    """Adam with ten times its usual rate: for small networks and few steps."""
    return recipe.changed(optimizer="adam", optimizer_options={}, learning_rate=0.01)


def to_rmsprop(recipe: Recipe, data: Pair) -> Recipe | None:
    """RMSProp with its usual numbers."""
    return recipe.changed(optimizer="rmsprop", optimizer_options={}, learning_rate=USUAL["rmsprop"])


def to_heavy_ball(recipe: Recipe, data: Pair) -> Recipe | None:
    """Momentum for descent that had none, at the same rate."""
    if recipe.optimizer != "sgd":
        return None
    return recipe.changed(optimizer="heavy-ball", optimizer_options={})


CLIP = Remedy("clip gradients at their median norm", 1, clip)
CLIP_AT_ONE = Remedy("clip gradients at a norm of 1", 1, clip_at_one)
USUAL_OPTIONS = Remedy("the optimizer's usual settings", 1, usual_options)
HEAVY_BALL = Remedy("add momentum", 3, to_heavy_ball)
RMSPROP = Remedy("RMSProp", 3, to_rmsprop)
ADAM = Remedy("Adam", 3, to_adam)
FAST_ADAM = Remedy("Adam at a rate of 0.01", 3, to_fast_adam)
