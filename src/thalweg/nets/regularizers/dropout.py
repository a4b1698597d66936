"""Dropout: a unit stays with probability q, so that none can rely on another.

    training     x̃_j = m_j x_j,  m_j = 1 with probability q, else 0, for every sample and unit
    inference    the mean over m, for what is linear in x̃:  E[x̃_j] = q x_j

Two forms of the same:

    "inverted"   m_j x_j / q in training, x_j at inference
    "weights"    m_j x_j in training, q x_j at inference: as if the weights that leave the unit were
                 multiplied by q

The lectures show the second; the first costs nothing at inference, and is PyTorch's. Through layers
that are not linear both are an approximation of the mean over the thinned networks.

q is `keep`, the probability to stay, as in the paper; PyTorch's `p` is 1 − q. Typical: 0.5 for
hidden layers, 0.8 for inputs.

Srivastava, Hinton, Krizhevsky, Sutskever & Salakhutdinov, JMLR 15 (2014).
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from thalweg.core.checks import check_choice, check_number

SCALINGS = ("inverted", "weights")


class Dropout(nn.Module):
    """Keep each unit with probability `keep` while training.

    `scaling` is "inverted" or "weights". `generator` is where the draws come from: PyTorch's own
    for None, as `torch.nn.Dropout` has it.
    """

    def __init__(
        self,
        keep: float = 0.8,
        scaling: str = "inverted",
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.keep = check_number(
            "keep", keep, above=0.0, at_most=1.0, advice="it is the share of units that stay"
        )
        self.scaling = check_choice("scaling", scaling, SCALINGS)
        self.generator = generator

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The units that stay, in training; all of them, at inference."""
        q = self.keep
        if not self.training:
            return q * x if self.scaling == "weights" else x
        if q == 1.0:
            return x
        if self.generator is None and self.scaling == "inverted":
            return functional.dropout(x, 1.0 - q)  # one pass
        device = x.device if self.generator is None else self.generator.device
        drawn = torch.rand(x.shape, generator=self.generator, device=device)
        kept = x * (drawn < q).to(x.device)
        return kept if self.scaling == "weights" else kept / q

    def extra_repr(self) -> str:
        """The arguments."""
        return f"keep={self.keep:g}, scaling={self.scaling!r}"
