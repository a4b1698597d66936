"""Flips: by hand, twice, and how often."""

import pytest
import torch

import thalweg as tw


def test_left_and_right_are_exchanged():
    batch = torch.tensor([[[1, 2, 3], [4, 5, 6]]], dtype=torch.uint8)
    assert tw.nets.HorizontalFlip(p=1.0)(batch).tolist() == [[[3, 2, 1], [6, 5, 4]]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.uint8])
def test_twice_is_the_identity(dtype):
    batch = (255 * torch.rand(8, 3, 5, 6, generator=torch.Generator().manual_seed(0))).to(dtype)
    flip = tw.nets.HorizontalFlip(p=1.0)
    assert torch.equal(flip(flip(batch)), batch)
    # Of any p: the same draws flip the same samples back.
    first, second = tw.nets.HorizontalFlip(seed=2), tw.nets.HorizontalFlip(seed=2)
    assert not torch.equal(first(batch), batch)
    first = tw.nets.HorizontalFlip(seed=2)
    assert torch.equal(second(first(batch)), batch)


def test_half_of_the_samples_by_default():
    batch = torch.arange(2.0).expand(2000, 1, 2)
    flipped = tw.nets.HorizontalFlip()(batch)[:, 0, 0] == 1
    assert abs(float(flipped.float().mean()) - 0.5) < 0.04
