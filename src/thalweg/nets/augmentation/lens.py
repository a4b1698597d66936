"""Lens distortion: straight lines bend, the more the farther from the centre.

    r_in = r_out·(1 + k·r_out²)        along every ray from the centre

r is 1 at the corners. With k > 0 the new image reads farther out than it is: lines bulge outwards,
as through a wide-angle lens (barrel); with k < 0 they bend inwards (pincushion). r_in grows with
r_out, so that nothing is seen twice, as long as 1 + 3k·r² > 0: k > −1/3.

Brown, Photogrammetric Engineering 32 (1966), its first radial term.
"""

from __future__ import annotations

import torch

from thalweg.nets.augmentation.sampling import (
    centres,
    check_padding_mode,
    empty_grid,
    sample,
)
from thalweg.nets.augmentation.transform import Transform, check_range, uniform


class LensDistortion(Transform):
    """Bend each sample by a k of up to ±`k`, or from a range."""

    def __init__(
        self,
        k: float | tuple[float, float] = 0.2,
        *,
        padding_mode: str = "zeros",
        p: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(p, seed)
        self.k = check_range("k", k, above=-1 / 3)
        self.padding_mode = check_padding_mode(padding_mode)

    def transform(self, images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """All of them, each by a k of its own."""
        if self.k == (0.0, 0.0):
            return images
        height, width = images.shape[-2:]
        grid = empty_grid(images, (height, width))
        k = uniform(len(images), self.k, generator).to(grid)
        # ±1 at the edges, so that a corner is at (W, H)/2 pixels.
        x, y = centres(width), centres(height)[:, None]
        squared = ((x * width) ** 2 + (y * height) ** 2) / (width**2 + height**2)  # r²
        factor = 1 + k[:, None, None] * squared.to(grid)
        torch.mul(factor, x.to(grid), out=grid[..., 0])
        torch.mul(factor, y.to(grid), out=grid[..., 1])
        return sample(images, grid, self.padding_mode)
