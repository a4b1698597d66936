"""Another learning rate: from the curvature, the optimizer's usual one, or by powers of ten.

On a quadratic of curvature λ a step of gradient descent multiplies the distance to the minimum by
1 − ηλ. All of them shrink if η < 2/λ_max, and the steepest direction vanishes at once with

    η = 1/λ_max                  gradient descent
    η = (1 + β)/λ_max            heavy ball, stable below 2(1 + β)/λ_max
    η = (1 + β)/((1 + 2β)λ_max)  Nesterov, stable below 2(1 + β)/((1 + 2β)λ_max)

half of what is stable: room for the curvature to grow while it trains. λ_max is measured at the
first weights, on as many rows as fit into one look. Adaptive optimizers divide by the size of the
gradient, so that every weight moves by about η a step whatever the curvature; there the usual rate
is right for weights of usual size, 0.001 to 0.1.

Where neither is known to be right, powers of ten: a rate is seldom wrong by less.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from thalweg.core.errors import InputError
from thalweg.doctor.nets.instruments.curvature import curvature
from thalweg.doctor.nets.remedies.remedy import Remedy, without_options
from thalweg.nets.recipes.recipe import Recipe
from thalweg.nets.training.batches import Pair
from thalweg.nets.training.inputs import Inputs
from thalweg.nets.training.losses import loss_of

ROWS = 512  # of the training data, for the curvature
USUAL = {
    "sgd": 0.1,
    "heavy-ball": 0.02,
    "nesterov": 0.02,
    "adagrad": 0.01,
    "rmsprop": 1e-3,
    "adam": 1e-3,
    "nadam": 1e-3,
    "lbfgs": 1.0,
}
FACTORS: dict[str, Callable[[float], float]] = {
    "sgd": lambda beta: 1.0 + beta,
    "heavy-ball": lambda beta: 1.0 + beta,
    "nesterov": lambda beta: (1.0 + beta) / (1.0 + 2.0 * beta),
}


def momentum_of(recipe: Recipe) -> float:
    """β of the recipe's optimizer, where it descends along plain gradients."""
    usual = 0.0 if recipe.optimizer == "sgd" else 0.9
    return float(recipe.optimizer_options.get("momentum", usual))


def sharpness(recipe: Recipe, data: Pair) -> float:
    """λ_max at the recipe's first weights; NaN where it has none."""
    ready = recipe.prepare(data)
    inputs, loss = Inputs(ready.model), loss_of(recipe.loss)
    x, y = (part[:ROWS] for part in ready.data)
    x, y = inputs(x), inputs.labels(y, loss)
    ready.model.eval()  # no dropout, and batch norm as the identity
    try:
        found = curvature(
            ready.model, lambda: loss(ready.model(x), y), np.random.default_rng(recipe.seed)
        )
    except (RuntimeError, InputError):  # no second derivative, or labels the loss does not take
        return math.nan
    return max(abs(found.largest), abs(found.smallest))


def rate_from_curvature(recipe: Recipe, data: Pair) -> Recipe | None:
    """Half the largest stable rate of plain descent, with or without momentum."""
    if recipe.optimizer not in FACTORS:
        return None
    steepest = sharpness(recipe, data)
    if not (math.isfinite(steepest) and steepest > 0.0):
        return None
    rate = FACTORS[recipe.optimizer](momentum_of(recipe)) / steepest
    return recipe.changed(learning_rate=float(f"{rate:.2g}")) if rate > 0.0 else None


def usual_rate(recipe: Recipe, data: Pair) -> Recipe | None:
    """The rate that the optimizer is mostly used with."""
    usual = USUAL.get(recipe.optimizer)
    return None if usual is None else recipe.changed(learning_rate=usual)


def times(factor: float) -> Callable[[Recipe, Pair], Recipe]:
    """A remedy's change: the rate times `factor`."""

    def change(recipe: Recipe, data: Pair) -> Recipe:
        return recipe.changed(learning_rate=float(f"{factor * recipe.learning_rate:.6g}"))

    return change


def usual_momentum(recipe: Recipe, data: Pair) -> Recipe | None:
    """β = 0.9 or below.

    In the long run a step is η/(1 − β) long: with β = 0.999 a thousand times η, and what was
    gathered in one direction takes a thousand steps to turn.
    """
    if momentum_of(recipe) <= 0.95 or recipe.optimizer not in (*FACTORS, "rmsprop"):
        return None
    options = {**without_options(recipe, "momentum"), "momentum": 0.9}
    return recipe.changed(optimizer_options=options)


CURVATURE = Remedy("a learning rate from the curvature", 1, rate_from_curvature)
USUAL_RATE = Remedy("the optimizer's usual learning rate", 1, usual_rate)
TENTH = Remedy("a tenth of the learning rate", 1, times(0.1))
HUNDREDTH = Remedy("a hundredth of the learning rate", 1, times(0.01))
TENFOLD = Remedy("ten times the learning rate", 1, times(10.0))
HUNDREDFOLD = Remedy("a hundred times the learning rate", 1, times(100.0))
MOMENTUM = Remedy("momentum of 0.9", 1, usual_momentum)
