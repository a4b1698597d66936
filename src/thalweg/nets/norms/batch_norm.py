"""BatchNorm: every channel of a batch to mean 0 and variance 1, then to a scale and a shift.

    μ_B = (1/m) Σᵢ xᵢ          σ_B² = (1/m) Σᵢ (xᵢ − μ_B)²
    x̂ᵢ = (xᵢ − μ_B)/√(σ_B² + ε)          yᵢ = γx̂ᵢ + β

over the m values that a channel has in the batch: N of [N, C], N·L of [N, C, L], N·H·W of
[N, C, H, W]. γ (`weight`) and β (`bias`) are learnt; γ = √(σ² + ε), β = μ give the identity back.
Gradients go through μ_B and σ_B as well (`naive_normalization` shows what happens otherwise).
A bias of the layer before is subtracted with the mean, and can be left out.

In `eval` mode, running averages stand in for μ_B and σ_B²:

    r ← (1 − α)r + α·μ_B,  and of m/(m − 1)·σ_B²          α: `momentum`, or 1/t for momentum=None

which lag behind the weights; `population_statistics` measures them instead, and `fold` makes them
part of the layer before.

One class takes what `torch.nn.BatchNorm1d`, `2d` and `3d` take, runs torch's own kernel and has
the same parameters, buffers and `state_dict`; it is one of torch's batch norms to any tool that
looks for them. Ioffe & Szegedy, ICML 2015, Algorithm 1.
"""

from __future__ import annotations

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from thalweg.core.checks import check_count, check_number
from thalweg.core.errors import InputError


class BatchNorm(_BatchNorm):
    """Batch normalization of [N, C] or [N, C, …]; see the module for the formulas."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        check_count("num_features", num_features)
        check_number("eps", eps, above=0.0, advice="a channel may be constant in a batch")
        if momentum is not None:
            check_number("momentum", momentum, at_least=0.0, at_most=1.0)
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype
        )

    def _check_input_dim(self, input: torch.Tensor) -> None:  # noqa: A002, as torch calls it
        shape = tuple(input.shape)
        if input.ndim < 2 or shape[1] != self.num_features:
            raise InputError(
                f"input must have shape [N, {self.num_features}] or [N, {self.num_features}, …], "
                f"got {shape}: channels come second"
            )
        from_batch = self.training or self.running_mean is None
        values = input.numel() // self.num_features
        if values < (2 if from_batch else 1):
            raise InputError(
                f"input must have more than {1 if from_batch else 0} values a channel "
                f"{'in training' if self.training else 'here'}, got shape {shape}: "
                + ("drop a last batch of one, or call eval()" if values else "the batch is empty")
            )
