"""Adam for networks: divide a smoothed gradient by its smoothed root mean square.

    m ← β₁m + (1 − β₁)g,   v ← β₂v + (1 − β₂)g²    `rules.adam`
    w ← w − η m̂/(√v̂ + ε)                           m̂ = m/(1 − β₁ᵗ), v̂ = v/(1 − β₂ᵗ)

Arguments are those of `torch.optim.Adam`; with `decoupled_weight_decay` it is AdamW. Its `amsgrad`
is not had here.
"""

from __future__ import annotations

from typing import Any

from thalweg import rules
from thalweg.core.checks import check_number
from thalweg.kernels import tensors as kernels
from thalweg.nets.optimizers.optimizer import RuleOptimizer
from thalweg.nets.optimizers.part import Form


def _adam(w: Any, g: Any, m: Any, v: Any, lr: float, t: float, *numbers: float) -> Any:
    return rules.adam(w, g, m, v, t, lr, *numbers)


FORM = Form(kernels.adam_tensors, _adam, ("exp_avg", "exp_avg_sq"))


def check_betas(group: dict[str, Any]) -> None:
    """Both memories, and ε."""
    for name, beta in zip(("betas[0]", "betas[1]"), group["betas"], strict=True):
        check_number(name, float(beta), at_least=0.0, below=1.0)
    check_number("eps", group["eps"], at_least=0.0)


class Adam(RuleOptimizer):
    """Adam, with bias correction."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        **shared: Any,
    ) -> None:
        own = {"lr": lr, "betas": betas, "eps": eps}
        super().__init__(params, own, weight_decay=weight_decay, **shared)

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        check_betas(group)

    def form(self, group: dict[str, Any]) -> Form:
        """The same for all."""
        return FORM

    def numbers(self, group: dict[str, Any], t: int, product: float) -> tuple[float, ...]:
        """η, t, β₁, β₂ and ε."""
        beta1, beta2 = map(float, group["betas"])
        return float(group["lr"]), float(t), beta1, beta2, float(group["eps"])
