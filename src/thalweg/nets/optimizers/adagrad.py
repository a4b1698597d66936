"""AdaGrad for networks: divide each step by the root of the sum of squares so far.

    s ← s + g²,   w ← w − ηₜ g/(√s + ε)            `rules.adagrad`
    ηₜ = η/(1 + (t − 1)·lr_decay)

Arguments are those of `torch.optim.Adagrad`.
"""

from __future__ import annotations

from typing import Any

import torch

from thalweg import rules
from thalweg.core.checks import check_number
from thalweg.kernels import tensors as kernels
from thalweg.nets.optimizers.optimizer import RuleOptimizer
from thalweg.nets.optimizers.part import Form

FORM = Form(kernels.adagrad_tensors, rules.adagrad, ("sum",))


class AdaGrad(RuleOptimizer):
    """AdaGrad, ε outside the root."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        **shared: Any,
    ) -> None:
        own = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "initial_accumulator_value": initial_accumulator_value,
        }
        super().__init__(params, own, weight_decay=weight_decay, **shared)

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        for name in ("lr_decay", "eps", "initial_accumulator_value"):
            check_number(name, group[name], at_least=0.0)

    def form(self, group: dict[str, Any]) -> Form:
        """The same for all."""
        return FORM

    def numbers(self, group: dict[str, Any], t: int, product: float) -> tuple[float, ...]:
        """ηₜ and ε."""
        return float(group["lr"]) / (1.0 + (t - 1) * group["lr_decay"]), float(group["eps"])

    def first(self, name: str, parameter: torch.Tensor, group: dict[str, Any]) -> torch.Tensor:
        """The sum of squares to begin with."""
        return torch.full_like(
            parameter, group["initial_accumulator_value"], memory_format=torch.preserve_format
        )
