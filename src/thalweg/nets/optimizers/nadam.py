"""Nadam for networks: Adam with Nesterov's look-ahead.

    m ← β₁m + (1 − β₁)g,   v ← β₂v + (1 − β₂)g²    `rules.nadam`
    m̄ = μₜ₊₁m/(1 − Π_{i≤t+1} μᵢ) + (1 − μₜ)g/(1 − Π_{i≤t} μᵢ)
    w ← w − η m̄/(√v̂ + ε)                           v̂ = v/(1 − β₂ᵗ)

Arguments are those of `torch.optim.NAdam`. Π μᵢ is one number for all weights of a group that have
made as many steps, and is kept in each parameter's state, as there.
"""

from __future__ import annotations

from typing import Any, ClassVar

from thalweg import rules
from thalweg.core.checks import check_number
from thalweg.kernels import tensors as kernels
from thalweg.nets.optimizers.adam import check_betas
from thalweg.nets.optimizers.optimizer import PRODUCT, RuleOptimizer
from thalweg.nets.optimizers.part import Form


def _nadam(w: Any, g: Any, m: Any, v: Any, lr: float, *numbers: float) -> Any:
    t, mu, mu_next, product, beta1, beta2, eps = numbers
    return rules.nadam(w, g, m, v, t, mu, mu_next, product, lr, beta1, beta2, eps)


FORM = Form(kernels.nadam_tensors, _nadam, ("exp_avg", "exp_avg_sq"))


class Nadam(RuleOptimizer):
    """Adam with Nesterov momentum."""

    remembers: ClassVar[bool] = True

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        **shared: Any,
    ) -> None:
        own = {"lr": lr, "betas": betas, "eps": eps, "momentum_decay": momentum_decay}
        super().__init__(params, own, weight_decay=weight_decay, **shared)

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        check_betas(group)
        check_number("momentum_decay", group["momentum_decay"], at_least=0.0)

    def form(self, group: dict[str, Any]) -> Form:
        """The same for all."""
        return FORM

    def numbers(self, group: dict[str, Any], t: int, product: float) -> tuple[float, ...]:
        """η, t, μₜ, μₜ₊₁, Π μᵢ, β₁, β₂ and ε."""
        beta1, beta2 = map(float, group["betas"])
        psi = group["momentum_decay"]
        mu, mu_next = (rules.nadam_momentum(i, beta1, psi) for i in (t, t + 1))
        eps = float(group["eps"])
        return float(group["lr"]), float(t), mu, mu_next, product * mu, beta1, beta2, eps

    def remember(self, state: dict[str, Any], setting: list[float]) -> None:
        """Π μᵢ, in place."""
        state[PRODUCT] = setting[kernels.NUMBERS + 3]
