"""Augmentation: one transform after the other, each by its own chance, from one generator.

    x̃ = T_m(… T₂(T₁(x)))        every T_k left out of a sample with probability 1 − p_k

Affine neighbours that treat the outside alike are multiplied and read as one, as `affine` tells.
The generators of the parts are not used: a seed, and the state that a checkpoint keeps, are those
of the whole. A composition may stand in another; its `p` is then the chance that a sample goes
through all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import groupby
from typing import cast

import torch

from thalweg.core.checks import describe
from thalweg.core.errors import InputError
from thalweg.nets.augmentation.affine import Affine, warp
from thalweg.nets.augmentation.transform import Transform


class Augmentation(Transform):
    """Several transforms in a row, as one: `augment(batch) -> batch`."""

    def __init__(self, *transforms: Transform, p: float = 1.0, seed: int = 0) -> None:
        super().__init__(p, seed)
        for given in transforms:
            if not isinstance(given, Transform):
                raise InputError(
                    f"transforms must be augmentations such as HorizontalFlip(), got "
                    f"{describe(given)}: pass them one by one, Augmentation(a, b, …)"
                )
        self.transforms = transforms
        self.resizes = any(transform.resizes for transform in transforms)
        if self.resizes and self.p < 1.0:
            raise InputError(
                f"p must be 1 with a RandomCrop inside, got {self.p}: samples that were left "
                "alone would have another size"
            )

    def transform(self, images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """All through all."""
        for padding_mode, run in groupby(self.transforms, _padding_mode_of_affine):
            if padding_mode is None:
                for transform in run:
                    images = transform(images, generator)
            else:
                height, width = images.shape[-2:]
                maps = [
                    part.maps(len(images), (height, width), generator)
                    for part in cast("Iterator[Affine]", run)
                ]
                images = warp(images, reduce(torch.matmul, maps), padding_mode)
        return images


def _padding_mode_of_affine(transform: Transform) -> str | None:
    """What neighbours must share to be read as one; None for what is not affine."""
    return transform.padding_mode if isinstance(transform, Affine) else None
