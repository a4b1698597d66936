"""A fixed random choice of entries of tensors, large enough to stand for all of them.

Of a tensor with n entries, k are drawn once. For vectors u, v of that shape

    E[(n/k) Σ_{j drawn} uⱼvⱼ] = uᵀv        over the draw

so that norms, distances and angles may be estimated from the k entries alone, each scaled by
√(n/k): a projection that costs k reads instead of n. Tensors with n ≤ k are taken whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch


class Sample:
    """At most `most` entries of each of some tensors."""

    def __init__(
        self, tensors: Sequence[torch.Tensor], most: int, generator: torch.Generator
    ) -> None:
        self.entries = [_draw(tensor, most, generator) for tensor in tensors]
        self.scales = [math.sqrt(max(1.0, tensor.numel() / most)) for tensor in tensors]

    def of(self, index: int, tensor: torch.Tensor) -> torch.Tensor:
        """The chosen entries of a tensor shaped like number `index`: a fresh vector."""
        entries = self.entries[index]
        flat = tensor.detach().reshape(-1)
        return flat.clone() if entries is None else flat.index_select(0, entries)


def _draw(tensor: torch.Tensor, most: int, generator: torch.Generator) -> torch.Tensor | None:
    """Where to look; None for everywhere. Drawn with replacement: for k ≪ n it hardly matters."""
    if tensor.numel() <= most:
        return None
    drawn = torch.randint(tensor.numel(), (most,), generator=generator)
    return drawn.sort().values.to(tensor.device)
