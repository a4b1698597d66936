"""How far the gradients of successive steps agree: what of them is signal, and what is noise.

With batches drawn independently, g = G + n, where G is the gradient of the whole loss and n noise
of covariance Σ that the batch brings. Of two successive steps

    E[g_tᵀg_{t+1}] ≈ ‖G‖²          E‖g_{t+1} − g_t‖² ≈ 2 tr Σ

as far as G hardly changes in one step. The cosine of the two is near 1 where steps go on in one
direction, near 0 where noise is all there is, and below 0 where they go back and forth: the step is
too long for the curvature along it, or the same batch came twice.

Both are taken from about 4,096 entries, a fixed share of each parameter (`Sample`), so that a pair
of gradients costs some microseconds a parameter however large the model is. The cosine then has a
standard error of about 1/√4096 = 0.016.
McCandlish, Kaplan & Amodei, An empirical model of large-batch training (2018).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from thalweg.doctor.nets.instruments.sample import Sample

ENTRIES = 4096  # of all parameters together
FEWEST = 8  # of a parameter


class Agreement(NamedTuple):
    """Two gradients beside each other."""

    cosine: float
    difference: float  # ‖g_{t+1} − g_t‖


class Noise:
    """Compares the gradients of `parameters`."""

    def __init__(self, parameters: Sequence[torch.Tensor], generator: torch.Generator) -> None:
        self.parameters = list(parameters)
        total = sum(p.numel() for p in self.parameters)
        shares = [max(FEWEST, ENTRIES * p.numel() // max(1, total)) for p in self.parameters]
        self.samples = [
            Sample([p], k, generator) for p, k in zip(self.parameters, shares, strict=True)
        ]

    def look(self) -> torch.Tensor:
        """The chosen entries of the gradients as they are now, scaled: float[about 4,096]."""
        parts = []
        for p, sample in zip(self.parameters, self.samples, strict=True):
            g = torch.zeros_like(p) if p.grad is None else p.grad
            g = g.to_dense() if g.is_sparse else g
            parts.append(
                sample.scales[0] * sample.of(0, g).to(torch.promote_types(g.dtype, torch.float32))
            )
        return torch.cat([part.to(parts[0].device) for part in parts])


def agreement(first: torch.Tensor, second: torch.Tensor) -> Agreement:
    """The cosine and the distance of two gradients; NaN where one is zero."""
    products = torch.stack([first @ first, second @ second, first @ second])
    one, two, both = products.tolist()
    difference = float(torch.linalg.vector_norm(second - first))
    size = math.sqrt(one) * math.sqrt(two) if one >= 0 and two >= 0 else math.nan
    return Agreement(both / size if size else math.nan, difference)
