"""Translation, rotation and stretching: affine maps of the plane, one resampling for any number.

An image moves by M where the new image reads the old one at M's positions. In pixels from the
centre, x to the right and y down,

    (x_in, y_in, 1)ᵀ = M (x_out, y_out, 1)ᵀ

    translation by (a, b)   to the right and down          M = [[1, 0, −a], [0, 1, −b], [0, 0, 1]]
    rotation by θ           counter-clockwise, as rot90    M = [[c, −s, 0], [s, c, 0], [0, 0, 1]]
    stretching by (u, v)    sideways and upright           M = [[1/u, 0, 0], [0, 1/v, 0], [0, 0, 1]]

with c = cos θ, s = sin θ. First M₁, then M₂, is M₁M₂: an `Augmentation` multiplies the maps of
neighbours and reads the image once, which blurs less and loses nothing that leaves the frame only
on the way.

A sample whose map is the identity is left alone. One whose map carries pixels onto pixels, such as
a quarter turn of a square, is read without interpolation, so that it is exact: the rounding of the
positions in float32 could not be seen by eye, but would be there.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from thalweg.core.checks import check_number
from thalweg.nets.augmentation.sampling import (
    centres,
    check_padding_mode,
    empty_grid,
    sample,
)
from thalweg.nets.augmentation.transform import Transform, check_range, uniform

NEAR = 1e-6  # of a pixel: what counts as the same position


class Affine(Transform):
    """A transform that moves samples by matrices: a subclass gives those."""

    def __init__(self, padding_mode: str, p: float, seed: int) -> None:
        super().__init__(p, seed)
        self.padding_mode = check_padding_mode(padding_mode)

    def matrices(
        self, count: int, size: tuple[int, int], generator: torch.Generator
    ) -> torch.Tensor:
        """M of `count` samples of height and width `size`, float64[count, 3, 3] on the CPU."""
        raise NotImplementedError

    def transform(self, images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """All of them, each by a map of its own."""
        height, width = images.shape[-2:]
        maps = self.matrices(len(images), (height, width), generator)
        return warp(images, maps, self.padding_mode)

    def maps(self, count: int, size: tuple[int, int], generator: torch.Generator) -> torch.Tensor:
        """M of a whole batch: the identity where chance left a sample alone."""
        maps = identities(count)
        chosen = self.draw(count, generator)
        maps[chosen] = self.matrices(len(chosen), size, generator)
        return maps


class Translation(Affine):
    """Shift each sample by up to `share` of its width and height, or by shares from a range."""

    def __init__(
        self,
        share: float | tuple[float, float] = 0.1,
        *,
        padding_mode: str = "zeros",
        p: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(padding_mode, p, seed)
        self.share = check_range("share", share)

    def matrices(
        self, count: int, size: tuple[int, int], generator: torch.Generator
    ) -> torch.Tensor:
        """Shifts, in pixels."""
        height, width = size
        maps = identities(count)
        maps[:, 0, 2] -= width * uniform(count, self.share, generator)
        maps[:, 1, 2] -= height * uniform(count, self.share, generator)
        return maps


class Rotation(Affine):
    """Turn each sample about its centre by up to ±`degrees`, or by angles from a range."""

    def __init__(
        self,
        degrees: float | tuple[float, float] = 15.0,
        *,
        padding_mode: str = "zeros",
        p: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(padding_mode, p, seed)
        self.degrees = check_range("degrees", degrees)

    def matrices(
        self, count: int, size: tuple[int, int], generator: torch.Generator
    ) -> torch.Tensor:
        """Turns, counter-clockwise."""
        theta = torch.deg2rad(uniform(count, self.degrees, generator))
        maps = identities(count)
        maps[:, 0, 0] = maps[:, 1, 1] = theta.cos()
        maps[:, 1, 0] = theta.sin()
        maps[:, 0, 1] = -theta.sin()
        return maps


class Stretching(Affine):
    """Stretch each sample sideways and upright, by factors of their own.

    They are e^z with z uniform, so that a stretch and its opposite are as likely: between
    1/(1 + `amount`) and 1 + `amount`, or between the two of a pair.
    """

    def __init__(
        self,
        amount: float | tuple[float, float] = 0.2,
        *,
        padding_mode: str = "zeros",
        p: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(padding_mode, p, seed)
        if isinstance(amount, (tuple, list)):
            low, high = check_range("amount", amount, above=0.0)
        else:
            high = 1.0 + check_number("amount", amount, at_least=0.0)
            low = 1.0 / high
        self.factors = (low, high)

    def matrices(
        self, count: int, size: tuple[int, int], generator: torch.Generator
    ) -> torch.Tensor:
        """Reciprocals of the factors."""
        low, high = self.factors
        ends = (-math.log(high), -math.log(low))
        maps = identities(count)
        maps[:, 0, 0] = uniform(count, ends, generator).exp()
        maps[:, 1, 1] = uniform(count, ends, generator).exp()
        return maps


def identities(count: int) -> torch.Tensor:
    """`count` maps that move nothing."""
    return torch.eye(3, dtype=torch.float64).repeat(count, 1, 1)


def warp(images: torch.Tensor, maps: torch.Tensor, padding_mode: str) -> torch.Tensor:
    """The images, each moved by its map; those of the identity untouched."""
    moved = (maps != identities(1)).any(-1).any(-1).nonzero().flatten()
    height, width = images.shape[-2:]
    if len(moved) == 0:
        return images
    if len(moved) == len(images):
        return read(images, maps, (height, width), padding_mode)
    here = moved.to(images.device)
    return images.index_copy(
        0, here, read(images[here], maps[moved], (height, width), padding_mode)
    )


def read(
    images: torch.Tensor, maps: torch.Tensor, size: tuple[int, int], padding_mode: str
) -> torch.Tensor:
    """Images of height and width `size`, read at the positions of the maps."""
    exact = carries_pixels(maps, images.shape[-2:], size)
    if exact.all() or not exact.any():
        return _read(images, maps, size, padding_mode, "nearest" if exact.all() else "bilinear")
    out = images.new_empty(*images.shape[:-2], *size)
    for rows, mode in ((exact, "nearest"), (~exact, "bilinear")):
        here = rows.to(images.device)
        out[here] = _read(images[here], maps[rows], size, padding_mode, mode)
    return out


def carries_pixels(maps: torch.Tensor, old: Any, new: Any) -> torch.Tensor:
    """Which maps take the centre of every pixel of the new image to that of an old one."""
    height, width = old
    new_height, new_width = new
    # Where the first pixel of the new image is read, in pixels from the first of the old one.
    corner = maps.new_tensor([-(new_width - 1) / 2, -(new_height - 1) / 2, 1.0])
    first = (maps @ corner)[:, :2] + maps.new_tensor([(width - 1) / 2, (height - 1) / 2])
    steps = maps[:, :2, :2].flatten(1)
    drift = (steps - steps.round()).abs() * max(new)  # over the whole image
    return (drift < NEAR).all(1) & ((first - first.round()).abs() < NEAR).all(1)


def _read(
    images: torch.Tensor, maps: torch.Tensor, size: tuple[int, int], padding_mode: str, mode: str
) -> torch.Tensor:
    """One call of the sampler, in its units: halves of the width and of the height."""
    height, width = images.shape[-2:]
    from_new = maps.new_tensor([size[1] / 2, size[0] / 2, 1.0])
    to_old = maps.new_tensor([[2 / width], [2 / height]])
    theta = maps[:, :2] * from_new * to_old
    # A sum of what changes along a row and what changes down a column: a twelfth of the time of
    # `affine_grid`, which multiplies matrices, and which took longer than reading.
    grid = empty_grid(images, size)
    for axis in range(2):
        along = theta[:, axis, 0:1] * centres(size[1]) + theta[:, axis, 2:3]
        down = theta[:, axis, 1:2] * centres(size[0])
        torch.add(along.to(grid)[:, None, :], down.to(grid)[:, :, None], out=grid[..., axis])
    return sample(images, grid, padding_mode, mode)
