"""What training asks of a regularizer, and which weights it holds back.

    attach(model)                        once, before the first step
    loss ← loss + penalty(model, t)      every step, before the gradients
    after_step(model, t, η)              every step, after the optimizer's
    detach()                             once, at the end

t is the progress of training in [0, 1], η the learning rate of the step. A regularizer does one of
the three in the middle and leaves the others as they are here: nothing. Whatever has these four
methods is one.

Biases, and the scales and shifts of normalizations, are left out: a bias is one number a unit,
needed at any size, and a scale has nothing to be held back from.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from thalweg.core.checks import check_number
from thalweg.nets.optimizers.groups import NORMS
from thalweg.nets.regularizers.schedule import schedule_of


class Regularizer:
    """Does nothing yet: a subclass overrides what it needs.

    `strength` is multiplied by `schedule`, a name or a function of the progress.
    """

    def __init__(self, strength: float, schedule: Any = "constant") -> None:
        self.strength = check_number("strength", strength, at_least=0.0)
        self.schedule = schedule_of(schedule)

    def attach(self, model: nn.Module) -> None:
        """Prepare for `model`."""

    def detach(self) -> None:
        """Leave the model as it was before."""

    def penalty(self, model: nn.Module, progress: float) -> torch.Tensor | float:
        """What is added to the loss."""
        return 0.0

    def after_step(self, model: nn.Module, progress: float, lr: float) -> None:
        """Change the weights, in place, once the optimizer has moved them."""

    def strength_at(self, progress: float) -> float:
        """The strength at this time of training."""
        return self.strength * self.schedule(progress)


def regularized(model: nn.Module, biases: bool = False) -> list[nn.Parameter]:
    """The parameters that are trained and held back: weights, or all with `biases`."""
    kept_out: set[int] = set()
    if not biases:
        kept_out = {
            id(parameter)
            for module in model.modules()
            if isinstance(module, NORMS)
            for parameter in module.parameters(recurse=False)
        }
        kept_out |= {id(parameter) for parameter in model.parameters() if parameter.ndim < 2}
    return [p for p in model.parameters() if p.requires_grad and id(p) not in kept_out]
