"""Bilinear reading: by hand, against its sum, and back in the type that came."""

import pytest
import torch

from thalweg.core.errors import InputError
from thalweg.nets.augmentation.sampling import (
    as_type,
    centres,
    check_padding_mode,
    empty_grid,
    sample,
)


def grid_at(x, y, width, height, dtype=torch.float32):
    """The sampler's units of a position in pixels."""
    return torch.tensor([[[[(2 * x + 1) / width - 1, (2 * y + 1) / height - 1]]]], dtype=dtype)


def bilinear(image, x, y):
    """The sum of the docstring, over all pixels; zero outside."""
    return sum(
        float(image[k, m]) * max(0.0, 1 - abs(k - y)) * max(0.0, 1 - abs(m - x))
        for k in range(image.shape[0])
        for m in range(image.shape[1])
    )


def test_half_way_between_two_pixels_is_their_mean():
    image = torch.tensor([[[2.0, 6.0]]])
    assert float(sample(image, grid_at(0.5, 0.0, 2, 1), "zeros")) == pytest.approx(4.0)


def test_equals_the_sum():
    generator = torch.Generator().manual_seed(0)
    image = torch.rand(1, 5, 7, generator=generator, dtype=torch.float64)
    for x, y in (8 * torch.rand(50, 2, generator=generator) - 1).tolist():
        value = float(sample(image, grid_at(x, y, 7, 5, torch.float64), "zeros"))
        assert value == pytest.approx(bilinear(image[0], x, y), abs=1e-12)


@pytest.mark.parametrize(
    ("padding_mode", "outside"), [("zeros", 0.0), ("border", 1.0), ("reflection", 2.0)]
)
def test_what_lies_outside(padding_mode, outside):
    image = torch.tensor([[[1.0, 2.0, 3.0]]])  # two pixels to the left of the first
    assert float(sample(image, grid_at(-2.0, 0.0, 3, 1), padding_mode)) == pytest.approx(outside)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.uint8])
def test_the_centres_of_all_pixels_give_the_image_back(dtype):
    image = (torch.arange(40.0) ** 2 / 7).view(1, 5, 8).to(dtype)
    grid = empty_grid(image, (5, 8))
    grid[..., 0] = centres(8)
    grid[..., 1] = centres(5)[:, None]
    assert torch.equal(sample(image, grid, "zeros", "nearest"), image)
    assert centres(4).tolist() == [-0.75, -0.25, 0.25, 0.75]


def test_uint8_is_rounded_to_the_nearest_level():
    image = torch.tensor([[[10, 20]]], dtype=torch.uint8)
    for x, level in ((0.04, 10), (0.06, 11), (0.94, 19), (0.96, 20)):
        out = sample(image, grid_at(x, 0.0, 2, 1), "zeros")
        assert (out.dtype, int(out)) == (torch.uint8, level)


def test_levels_beyond_the_ends_become_the_ends():
    assert as_type(torch.tensor([-3.0, 255.4, 300.0]), torch.uint8).tolist() == [0, 255, 255]


def test_an_unknown_padding_mode():
    with pytest.raises(InputError, match="did you mean 'zeros'"):
        check_padding_mode("zero")
