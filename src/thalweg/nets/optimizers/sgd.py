"""SGD for networks: step against the gradient of a batch, with or without momentum.

    w ← w − ηg                                     `rules.plain_step`
    m ← βm + (1 − d)g,   w ← w − ηm                with `momentum` β and `dampening` d
    m ← βm + g,          w ← w − η(g + βm)         with `nesterov`

Arguments are those of `torch.optim.SGD`; m begins at the first gradient, which no dampening
shortens. `HeavyBall` and `Nesterov` are the same with a momentum to begin with.
"""

from __future__ import annotations

from typing import Any

from thalweg import rules
from thalweg.core.checks import check_number
from thalweg.core.errors import InputError
from thalweg.kernels import tensors as kernels
from thalweg.nets.optimizers.optimizer import RuleOptimizer
from thalweg.nets.optimizers.part import Form

PLAIN = Form(kernels.plain_step_tensors, lambda w, g, lr: (rules.plain_step(w, g, lr),), ())
MOMENTUM = ("momentum_buffer",)
HEAVY_BALL = Form(kernels.heavy_ball_tensors, rules.heavy_ball, MOMENTUM)
NESTEROV = Form(kernels.nesterov_tensors, rules.nesterov, MOMENTUM)


class SGD(RuleOptimizer):
    """Stochastic gradient descent; see the module for the formulas."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        **shared: Any,
    ) -> None:
        own = {"lr": lr, "momentum": momentum, "dampening": dampening, "nesterov": nesterov}
        super().__init__(params, own, weight_decay=weight_decay, **shared)

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        check_number("momentum", group["momentum"], at_least=0.0)
        if group["nesterov"] and (group["momentum"] == 0.0 or group["dampening"] != 0.0):
            raise InputError(
                "nesterov needs momentum > 0 and dampening = 0, got "
                f"momentum={group['momentum']} and dampening={group['dampening']}: "
                "give momentum=0.9, or leave nesterov out"
            )

    def form(self, group: dict[str, Any]) -> Form:
        """By momentum and look-ahead."""
        if group["momentum"] == 0.0:
            return PLAIN
        return NESTEROV if group["nesterov"] else HEAVY_BALL

    def numbers(self, group: dict[str, Any], t: int, product: float) -> tuple[float, ...]:
        """η, and β where there is one."""
        lr = float(group["lr"])
        return (lr,) if group["momentum"] == 0.0 else (lr, float(group["momentum"]))

    def _setting(self, group: dict[str, Any], t: int, product: float) -> list[float]:
        setting = super()._setting(group, t, product)
        if group["momentum"] and t > 1:
            # (1 − d)(g + δw), as of scaled gradients and a weaker decay.
            setting[kernels.SCALE] *= 1.0 - group["dampening"]
            setting[kernels.DECAY] *= 1.0 - group["dampening"]
        return setting
