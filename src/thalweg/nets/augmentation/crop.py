"""Random crops and scales: another size of the image, another part of it, always the same patch.

    L uniform on low, …, high                        a whole number for every sample
    (H, W) → (H′, W′) = (H, W)·L/min(H, W)           the short side becomes L, rounded
    a patch h × w at a corner uniform on 0, …, H′ − h and 0, …, W′ − w

The resized image is never made: a pixel (i, j) of the patch at the corner (r, q) is read, bilinear,
at the old position

    y = (i + r + ½)·H/H′ − ½        x = (j + q + ½)·W/W′ − ½

which is what resizing all and cutting the patch out would give, at the cost of the patch. There is
no smoothing before: images more than twice as large as L had better be made smaller once, when they
are loaded. Without `short_side`, nothing is resized and the patch is cut out to the bit.

Simonyan & Zisserman, ICLR 2015; the lectures' numbers (L from [256, 480], 224 × 224) are those of
He et al., CVPR 2016.
"""

from __future__ import annotations

import torch

from thalweg.core.checks import check_count
from thalweg.core.errors import InputError
from thalweg.nets.augmentation.affine import identities, read
from thalweg.nets.augmentation.transform import Transform


class RandomCrop(Transform):
    """Resize the short side to a length from `short_side`, then cut a random `patch` out.

    `patch` is (h, w), or h for a square; `short_side` is (low, high), a length, or None. Every
    sample is cropped: left alone it would have another size than its batch.
    """

    resizes = True

    def __init__(
        self,
        patch: int | tuple[int, int] = 224,
        short_side: int | tuple[int, int] | None = (256, 480),
        *,
        seed: int = 0,
    ) -> None:
        super().__init__(1.0, seed)
        height, width = patch if isinstance(patch, (tuple, list)) else (patch, patch)
        self.patch = (check_count("patch height", height), check_count("patch width", width))
        self.short_side: tuple[int, int] | None = None
        if short_side is None:
            return
        pair = short_side if isinstance(short_side, (tuple, list)) else (short_side, short_side)
        low, high = (check_count("short_side", end) for end in pair)
        if low > high:
            raise InputError(f"short_side must rise from low to high, got {short_side!r}")
        self.short_side = (low, high)

    def transform(self, images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """The patches."""
        old = torch.tensor(images.shape[-2:], dtype=torch.float64)  # (H, W)
        patch = torch.tensor(self.patch, dtype=torch.float64)  # (h, w)
        short = int(old.min())
        low, high = self.short_side or (short, short)
        smallest = (old * low / short).round()
        if (smallest < patch).any():
            raise InputError(
                f"patch must fit into the images, got {self.patch} for images of "
                f"{tuple(int(side) for side in smallest)} once their short side is {low}: "
                "raise short_side, or take a smaller patch"
            )
        length = torch.randint(low, high + 1, (len(images), 1), generator=generator)
        new = (old * length / short).round()  # (H′, W′)
        room = torch.rand(len(images), 2, dtype=torch.float64, generator=generator)
        corner = (room * (new - patch + 1)).floor()  # (r, q)
        maps = identities(len(images))
        step = old / new
        middle = (corner + patch / 2) * step - old / 2  # of the patch, from that of the image
        for axis, row in ((1, 0), (0, 1)):  # x is along the width
            maps[:, row, row] = step[:, axis]
            maps[:, row, 2] = middle[:, axis]
        return read(images, maps, self.patch, "border")
