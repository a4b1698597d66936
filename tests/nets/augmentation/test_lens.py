"""Lens distortion: by hand on a ray, against pixel-by-pixel reading, which way lines bend."""

import math

import pytest
import torch

import thalweg as tw
from thalweg.core.errors import InputError


def by_hand(image, k):
    """Every new pixel read, bilinear, at r(1 + k r²) along its ray; zero outside."""
    height, width = image.shape
    middle_x, middle_y = (width - 1) / 2, (height - 1) / 2
    out = torch.zeros_like(image)
    for i in range(height):
        for j in range(width):
            u, v = j - middle_x, i - middle_y
            r = math.hypot(u, v) / (math.hypot(width, height) / 2)
            x, y = middle_x + u * (1 + k * r * r), middle_y + v * (1 + k * r * r)
            for row in range(height):
                for column in range(width):
                    weight = max(0.0, 1 - abs(row - y)) * max(0.0, 1 - abs(column - x))
                    out[i, j] += weight * image[row, column]
    return out


@pytest.mark.parametrize("k", [0.3, -0.2])
def test_equals_reading_pixel_by_pixel(k):
    image = torch.rand(7, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    out = tw.nets.LensDistortion((k, k))(image[None])[0]
    torch.testing.assert_close(out, by_hand(image, k), rtol=0, atol=1e-12)


def test_the_centre_stays_and_k_is_drawn_for_each_sample():
    batch = torch.rand(1, 3, 9, 9, generator=torch.Generator().manual_seed(0)).expand(
        20, -1, -1, -1
    )
    out = tw.nets.LensDistortion(0.3)(batch)
    torch.testing.assert_close(out[..., 4, 4], batch[..., 4, 4], rtol=0, atol=1e-6)
    assert len({float(value) for value in out[:, 0, 0, 4]}) == 20


def test_barrel_shrinks_towards_the_centre_and_pincushion_pulls_apart():
    # A vertical line right of the centre: with k > 0 it comes nearer at mid-height, and at the
    # upper end, farther out, nearer still, so that it bulges like a barrel.
    batch = torch.zeros(1, 101, 101, dtype=torch.float64)
    batch[..., 80] = 1.0
    bulged = tw.nets.LensDistortion((0.3, 0.3))(batch)[0]
    middle, upper = int(bulged[50].argmax()), int(bulged[10].argmax())
    assert upper < middle < 80
    pulled = tw.nets.LensDistortion((-0.2, -0.2))(batch)[0]
    middle, upper = int(pulled[50].argmax()), int(pulled[10].argmax())
    assert upper > middle > 80


@pytest.mark.parametrize("k", [0.4, (-0.5, 0.0)])
def test_a_fold_is_refused(k):
    with pytest.raises(InputError, match=r"k must stay above -0.333333, got .*: take less of it"):
        tw.nets.LensDistortion(k)
    assert tw.nets.LensDistortion((0.0, 0.4)).k == (0.0, 0.4)
