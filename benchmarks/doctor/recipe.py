"""The program as a `tw.nets.Recipe`, where a recipe has words for all that is in it.

A recipe trains with a loop that does as it should, so a fault of the loop has none; faults of the
data stay in the data that the recipe is trained on:

    model, run = recipe_of(program).train(pair_of(program))
"""

from __future__ import annotations

import torch

from doctor.program import Loop, Program
from thalweg.nets.initializers.schemes import OPTIONS
from thalweg.nets.recipes.layers import ACTIVATIONS, NORMS
from thalweg.nets.recipes.recipe import DEFAULT, Recipe
from thalweg.nets.training.choice import NAMES
from thalweg.nets.training.losses import LOSSES


def recipe_of(program: Program) -> Recipe | None:
    """The recipe; None where it cannot be said in one."""
    net, steps, loop = program.net, program.steps, program.loop
    usual = Loop(clip_norm=loop.clip_norm, l1=loop.l1)
    optimizer, options = steps.optimizer, dict(steps.options)
    if optimizer == "adamw":
        optimizer, options = "adam", {"decoupled_weight_decay": True, **options}
    sayable = (
        loop == usual
        and net.layers.partition(":")[0] in ("linear", "mlp", "conv")
        and net.activation in ACTIVATIONS
        and (net.initializer == DEFAULT or net.initializer.partition("[")[0] in OPTIONS)
        and net.norm in NORMS
        and (net.output, net.gain, net.detached, net.frozen) == ("none", 1.0, None, 0)
        and optimizer in NAMES
        and program.loss in LOSSES
        and program.data.precision == "float32"
    )
    if not sayable:
        return None
    return Recipe(
        layers=net.layers,
        activation=net.activation,
        initializer=net.initializer,
        bias=net.bias,
        norm=net.norm,
        keep=net.keep,
        optimizer=optimizer,
        optimizer_options=options,
        learning_rate=steps.learning_rate,
        weight_decay=steps.weight_decay,
        clip_norm=loop.clip_norm,
        l1=loop.l1,
        loss=program.loss,
        epochs=program.epochs,
        batch_size=program.batch_size,
        seed=program.seed,
    )


def pair_of(program: Program) -> tuple[torch.Tensor, torch.Tensor]:
    """Its training samples and labels, as `Recipe.train` takes them."""
    data = program.split()
    return data.x, data.y
