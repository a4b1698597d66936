"""Horizontal flip: a mirror image, left and right exchanged.

    out[…, i, j] = in[…, i, W − 1 − j]

No arithmetic, so any type is kept to the bit, and two flips are none. Not for what has a left and a
right of its own: digits, letters, road signs.
"""

from __future__ import annotations

import torch

from thalweg.nets.augmentation.transform import Transform


class HorizontalFlip(Transform):
    """Mirror each sample with probability `p`."""

    def __init__(self, p: float = 0.5, *, seed: int = 0) -> None:
        super().__init__(p, seed)

    def transform(self, images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """All of them, mirrored."""
        return images.flip(-1)
