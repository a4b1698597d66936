"""L1: pull every weight towards zero with the same force, so that many arrive.

    F(w) = L(w) + λ‖w‖₁

The proximal form steps along L alone and then, with S(w, τ) of `rules.soft_threshold`,

    w ← S(w, ηλ) = (|w| − ηλ)₊ sign(w)

which gives exact zeros. The other form adds λ‖w‖₁ to the loss, whose subgradient is λ sign(w):
weights then swing about zero by ηλ and never rest there.

τ is ηλ whatever the optimizer does to its gradients, as in the option `l1` of the optimizers (use
one of the two, not both). Momentum β in PyTorch's form steps by η/(1 − β) in the long run, so that
its forces balance at λ(1 − β): give λ/(1 − β) for λ. In the loss, Adam rescales λ sign(w) with the
rest, and a λ that is gentle here is fierce there.
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
