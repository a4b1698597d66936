"""L2: pull every weight towards zero in proportion to its size.

    F(w) = L(w) + (δ/2)‖w‖²        gradient  ∇L(w) + δw

δ is the `strength`, as PyTorch's `weight_decay` has it. The lectures write λ‖w‖², with the gradient
2λw and the step (1 − 2ηλ)w − η∇L(w): the same for δ = 2λ.

In the loss it reaches the gradient, and a momentum or a scale that the optimizer makes of it. That
is `weight_decay` in an optimizer of that name's coupled form, which is the cheaper way to the same
steps; this one has a schedule, leaves biases and norms out, and shows in the loss.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from thalweg.nets.regularizers.regularizer import Regularizer, regularized


class L2(Regularizer):
    """(δ/2)‖w‖² in the loss, with δ = `strength`."""

    def __init__(
        self, strength: float, schedule: Any = "constant", *, biases: bool = False
    ) -> None:
        super().__init__(strength, schedule)
        self.biases = biases

    def penalty(self, model: nn.Module, progress: float) -> torch.Tensor | float:
        """(δ/2)‖w‖²."""
        strength = self.strength_at(progress)
        if strength == 0.0:
            return 0.0
        squares = sum(torch.dot(w.flatten(), w.flatten()) for w in regularized(model, self.biases))
        return 0.5 * strength * squares
