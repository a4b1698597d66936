"""Inputs to one scale, as the first layer of a network: x ↦ (x − shift)·factor.

    z-score   shift = mean,      factor = 1/standard deviation
    min-max   shift = minimum,   factor = 1/(maximum − minimum)
    mean      shift = mean,      factor = 1/(maximum − minimum)

of each feature, or of each channel of images, over the training data alone. What does not vary is
shifted and not scaled. Shift and factor are buffers: they are saved with the network, and whatever
goes into it later is scaled in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

SCALINGS = ("none", "z-score", "min-max", "mean")


class Scaling(nn.Module):
    """Scales its input; the identity until it has measured some."""

    shift: torch.Tensor
    factor: torch.Tensor

    def __init__(self, kind: str, input_shape: Sequence[int]) -> None:
        super().__init__()
        self.kind = kind
        self._over = (0,) if len(input_shape) < 2 else (0, -2, -1)
        shape = [1 if axis - len(input_shape) in self._over else n
                 for axis, n in enumerate(input_shape)]  # fmt: skip
        self.register_buffer("shift", torch.zeros(shape))
        self.register_buffer("factor", torch.ones(shape))

    @torch.no_grad()
    def measure(self, x: torch.Tensor) -> None:
        """Take shift and factor from `x`, [n, …]. Changes the buffers in place."""
        x = x.double() / (255.0 if x.dtype == torch.uint8 else 1.0)
        over, low, high = self._over, x.amin(self._over), x.amax(self._over)
        if self.kind == "z-score":
            shift, spread = x.mean(over), x.std(over, correction=0)
        else:
            shift, spread = (low if self.kind == "min-max" else x.mean(over)), high - low
        spread = torch.where(spread > 0, spread, 1.0)
        self.shift.copy_(shift.reshape(self.shift.shape))
        self.factor.copy_((1.0 / spread).reshape(self.factor.shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(x − shift)·factor."""
        return (x - self.shift) * self.factor

    def extra_repr(self) -> str:
        """How it prints."""
        return self.kind
