"""Naive normalization: outside the gradient, to show why that fails.

    x̂ = (x − μ_B)/√(σ_B² + ε)          with ∂μ_B/∂x = ∂σ_B/∂x = 0 pretended

The values are those of batch normalization; the gradient takes μ_B and σ_B for constants. Let
x = u + b with a bias b that is learnt. The gradient says that a step Δb ∝ −∂ℓ/∂x̂ lowers the
loss, but the mean of the next batch takes the step away again:

    u + (b + Δb) − E[u + (b + Δb)] = u + b − E[u + b]

So output and loss stay exactly where they were, the same step is taken again, and b grows without
end. Ioffe & Szegedy, ICML 2015, section 2. For experiments only: use `BatchNorm`.
"""

from __future__ import annotations

import torch
from torch import nn

from thalweg.core.checks import check_number
from thalweg.core.errors import InputError


def naive_normalization(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """x̂ of [N, C] or [N, C, …], with statistics that the gradient does not see."""
    if x.ndim < 2 or x.numel() < 2 * x.shape[1]:
        raise InputError(
            "x must have shape [N, C, …] with more than one value a channel, got "
            f"{tuple(x.shape)}: pass a batch"
        )
    over = [axis for axis in range(x.ndim) if axis != 1]
    variance, mean = torch.var_mean(x.detach(), dim=over, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps)


class NaiveNormalization(nn.Module):
    """`naive_normalization` as a layer: no parameters, the batch's statistics in every mode."""

    def __init__(self, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = check_number("eps", eps, above=0.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x̂."""
        return naive_normalization(x, self.eps)
