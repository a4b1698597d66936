"""L1: pull every weight towards zero with the same force, so that many arrive.

    F(w) = L(w) + λ‖w‖₁

The proximal form steps along L alone and then, with S(w, τ) of `rules.soft_threshold`,

    w ← S(w, ηλ) = (|w| − ηλ)₊ sign(w)

which gives exact zeros. The other form adds λ‖w‖₁ to the loss, whose subgradient is λ sign(w):
weights then swing about zero by ηλ and never rest there.

η is the learning rate; an optimizer that rescales its gradients, such as Adam, has the same τ in
every weight all the same, as the option `l1` of the optimizers does. Use one of the two, not both.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from thalweg import rules
from thalweg.nets.regularizers.regularizer import Regularizer, regularized


class L1(Regularizer):
    """λ‖w‖₁ with λ = `strength`, by a proximal step or, if not `proximal`, in the loss."""

    def __init__(
        self,
        strength: float,
        schedule: Any = "constant",
        *,
        proximal: bool = True,
        biases: bool = False,
    ) -> None:
        super().__init__(strength, schedule)
        self.proximal = proximal
        self.biases = biases

    def penalty(self, model: nn.Module, progress: float) -> torch.Tensor | float:
        """λ‖w‖₁, or nothing in the proximal form."""
        strength = self.strength_at(progress)
        if self.proximal or strength == 0.0:
            return 0.0
        return strength * sum(w.abs().sum() for w in regularized(model, self.biases))

    @torch.no_grad()
    def after_step(self, model: nn.Module, progress: float, lr: float) -> None:
        """The proximal step."""
        threshold = float(lr) * self.strength_at(progress)
        if not self.proximal or threshold == 0.0:
            return
        for w in regularized(model, self.biases):
            w.copy_(rules.soft_threshold(w, threshold))
