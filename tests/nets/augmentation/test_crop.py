"""Crops: a patch to the bit, against resizing the whole image first, where patches come from."""

import pytest
import torch
from torch.nn import functional

import thalweg as tw
from thalweg.core.errors import InputError


def noise(shape, dtype=torch.float64):
    levels = torch.randint(0, 256, shape, generator=torch.Generator().manual_seed(3))
    return levels.to(torch.uint8) if dtype == torch.uint8 else levels.to(dtype) / 255


def resize_then_cut(batch, patch, short_side, seed):
    """The lecture's three steps, image by image, with the same draws."""
    generator = torch.Generator().manual_seed(seed)
    height, width = batch.shape[-2:]
    short = min(height, width)
    low, high = short_side
    lengths = torch.randint(low, high + 1, (len(batch), 1), generator=generator).flatten()
    room = torch.rand(len(batch), 2, dtype=torch.float64, generator=generator)
    patches = []
    for image, length, (down, right) in zip(batch, lengths.tolist(), room.tolist(), strict=True):
        size = round(height * length / short), round(width * length / short)
        resized = functional.interpolate(image[None], size, mode="bilinear", align_corners=False)
        top = int(down * (size[0] - patch[0] + 1))
        left = int(right * (size[1] - patch[1] + 1))
        patches.append(resized[0, :, top : top + patch[0], left : left + patch[1]])
    return torch.stack(patches)


@pytest.mark.parametrize("size", [(40, 53), (61, 37)])
@pytest.mark.parametrize("patch", [(24, 24), (20, 26)])
def test_equals_resizing_everything_and_cutting_the_patch_out(patch, size):
    batch = noise((6, 3, *size))
    out = tw.nets.RandomCrop(patch, (28, 60), seed=2)(batch)
    expected = resize_then_cut(batch, patch, (28, 60), 2)
    torch.testing.assert_close(out, expected, rtol=0, atol=1e-12)


def test_the_lectures_sizes():
    out = tw.nets.RandomCrop()(noise((3, 3, 300, 400), torch.uint8))
    assert (out.shape, out.dtype) == ((3, 3, 224, 224), torch.uint8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.uint8])
def test_without_resizing_a_patch_is_cut_out_to_the_bit(dtype):
    batch = noise((20, 3, 9, 12), dtype)
    out = tw.nets.RandomCrop((4, 5), None)(batch)
    places = set()
    for patch, image in zip(out, batch, strict=True):
        here = [
            (i, j)
            for i in range(6)
            for j in range(8)
            if torch.equal(patch, image[:, i : i + 4, j : j + 5])
        ]
        assert len(here) == 1
        places.add(here[0])
    assert len(places) > 12


def test_every_corner_is_as_likely():
    ramp = torch.arange(5.0).expand(6000, 5, 5)
    left = tw.nets.RandomCrop(3, None)(ramp)[:, 0, 0]
    counts = torch.bincount(left.long(), minlength=3)
    assert counts.shape == (3,)
    assert (counts - 2000).abs().max() < 200


def test_greyscale_batches():
    batch = noise((4, 30, 40))
    one = tw.nets.RandomCrop(16, (20, 30), seed=1)(batch)
    assert torch.equal(one, tw.nets.RandomCrop(16, (20, 30), seed=1)(batch[:, None])[:, 0])


def test_the_patch_that_is_the_image():
    batch = noise((2, 3, 9, 12), torch.float32)
    assert torch.equal(tw.nets.RandomCrop((9, 12), None)(batch), batch)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tw.nets.RandomCrop(0), "patch height must be a whole number, at least 1, got 0"),
        (lambda: tw.nets.RandomCrop(8, (30, 20)), r"short_side must rise from low to high"),
        (lambda: tw.nets.RandomCrop(8, 2.5), "short_side must be a whole number"),
    ],
)
def test_arguments_that_make_no_sense(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("patch", "short_side", "size"), [(10, None, "(9, 12)"), (12, (11, 99), "(11, 15)")]
)
def test_a_patch_larger_than_the_image(patch, short_side, size):
    with pytest.raises(InputError) as caught:
        tw.nets.RandomCrop(patch, short_side)(torch.ones(2, 3, 9, 12))
    assert f"patch must fit into the images, got ({patch}, {patch})" in str(caught.value)
    assert f"images of {size}" in str(caught.value)
