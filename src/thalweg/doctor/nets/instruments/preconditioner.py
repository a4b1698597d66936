"""The curvature that an adaptive optimizer steps on: ∇²f seen through its division by √v.

Adam, RMSProp and AdaGrad step along D⁻¹g with D = diag(√v + ε), v their mean or sum of squared
gradients. In the variables u = D^½w that is plain descent, on the Hessian

    D^(−½) ∇²f D^(−½)

so its largest eigenvalue, times η, stands where λ_max η stands for gradient descent: stable below
2, with momentum by a running mean (Adam's β₁) below 2(1 + β₁)/(1 − β₁).

    Adam, Nadam   v = exp_avg_sq/(1 − β₂ᵗ)
    RMSProp       v = square_avg
    AdaGrad       v = sum

Entries whose v is 0 never had a gradient and do not move: they are left out.
Cohen et al., Adaptive gradient methods at the edge of stability (2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

SQUARES = ("exp_avg_sq", "square_avg", "sum")  # PyTorch's names of v in a parameter's state


def preconditioner(
    optimizer: torch.optim.Optimizer, parameters: Sequence[torch.Tensor]
) -> list[torch.Tensor] | None:
    """D^(−½) for each of `parameters`; None where the optimizer does not divide by gradients."""
    found: dict[int, torch.Tensor] = {}
    for group in optimizer.param_groups:
        for p in group["params"]:
            scale = _scale(optimizer.state.get(p, {}), group)
            if scale is not None:
                found[id(p)] = scale
    if not found:
        return None
    return [found[id(p)] if id(p) in found else torch.zeros_like(p) for p in parameters]


def _scale(state: dict[str, Any], group: dict[str, Any]) -> torch.Tensor | None:
    name = next((name for name in SQUARES if isinstance(state.get(name), torch.Tensor)), None)
    if name is None:
        return None
    v = state[name].detach()
    if not v.any():  # made, but no step was taken
        return None
    if name == "exp_avg_sq":
        v = v / (1 - float(group["betas"][1]) ** float(state["step"]))
    d = v.sqrt() + float(group.get("eps", 0.0))
    return torch.where(v > 0, d.rsqrt(), torch.zeros_like(d))
