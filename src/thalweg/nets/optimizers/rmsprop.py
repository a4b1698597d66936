"""RMSProp for networks: divide each step by a running root mean square.

    s ← βs + (1 − β)g²,   d = g/(√s + ε)           `rules.rmsprop`
    w ← w − ηd                                     or, with `momentum` μ,
    m ← μm + d,   w ← w − ηm                       `rules.heavy_ball`

Arguments are those of `torch.optim.RMSprop`, where β is `alpha`; its `centered` is not had here.
"""

from __future__ import annotations

from typing import Any

import torch

from thalweg import rules
from thalweg.core.checks import check_number
from thalweg.kernels import tensors as kernels
from thalweg.nets.optimizers.optimizer import RuleOptimizer
from thalweg.nets.optimizers.part import Form


def _with_momentum(
    w: torch.Tensor,
    g: torch.Tensor,
    s: torch.Tensor,
    m: torch.Tensor,
    lr: float,
    beta: float,
    eps: float,
    momentum: float,
) -> tuple[torch.Tensor, ...]:
    direction, s = rules.rmsprop(0.0, g, s, -1.0, beta, eps)
    w, m = rules.heavy_ball(w, direction, m, lr, momentum)
    return w, s, m


PLAIN = Form(kernels.rmsprop_tensors, rules.rmsprop, ("square_avg",))
MOMENTUM = Form(kernels.rmsprop_momentum_tensors, _with_momentum, ("square_avg", "momentum_buffer"))


class RMSProp(RuleOptimizer):
    """RMSProp, ε outside the root."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        **shared: Any,
    ) -> None:
        own = {"lr": lr, "alpha": alpha, "eps": eps, "momentum": momentum}
        super().__init__(params, own, weight_decay=weight_decay, **shared)

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        check_number("alpha", group["alpha"], at_least=0.0)
        check_number("eps", group["eps"], at_least=0.0)
        check_number("momentum", group["momentum"], at_least=0.0)

    def form(self, group: dict[str, Any]) -> Form:
        """By momentum."""
        return MOMENTUM if group["momentum"] else PLAIN

    def numbers(self, group: dict[str, Any], t: int, product: float) -> tuple[float, ...]:
        """η, β and ε, and μ where there is one."""
        numbers = (float(group["lr"]), float(group["alpha"]), float(group["eps"]))
        return (*numbers, float(group["momentum"])) if group["momentum"] else numbers
