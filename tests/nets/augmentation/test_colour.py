"""Colour jitter: by hand, against three steps one after the other, limits, channels."""

import pytest
import torch

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.nets.augmentation.colour import LUMA


def factors(strength, count, generator):
    low, high = max(0.0, 1 - strength), 1 + strength
    drawn = torch.rand(count, dtype=torch.float64, generator=generator)
    return (low + (high - low) * drawn).view(-1, 1, 1, 1)


def one_after_the_other(x, strengths, seed):
    """Each factor as its line in the docstring says."""
    generator = torch.Generator().manual_seed(seed)
    b, c, s = (factors(strength, len(x), generator) for strength in strengths)
    x = b * x
    x = c * x + (1 - c) * x.mean((1, 2, 3), keepdim=True)
    grey = sum(weight * x[:, i] for i, weight in enumerate(LUMA))[:, None]
    return s * x + (1 - s) * grey


def rgb(count=5, dtype=torch.float64):
    return torch.rand(count, 3, 4, 6, dtype=dtype, generator=torch.Generator().manual_seed(1))


def test_equals_three_steps_one_after_the_other():
    x = rgb()
    out = tw.nets.ColourJitter(0.5, 0.4, 0.3, seed=7)(x)
    torch.testing.assert_close(out, one_after_the_other(x, (0.5, 0.4, 0.3), 7), rtol=0, atol=1e-14)


def test_brightness_multiplies_each_sample():
    x = rgb()
    ratios = tw.nets.ColourJitter(0.5, 0.0)(x) / x
    each = ratios.flatten(1)
    torch.testing.assert_close(each, each[:, :1].expand_as(each), rtol=1e-12, atol=0)
    assert len(set(each[:, 0].tolist())) == len(x)
    assert (each >= 0.5).all()
    assert (each <= 1.5).all()


def test_contrast_keeps_the_mean_and_saturation_the_luma():
    x = rgb()
    over = (1, 2, 3)
    torch.testing.assert_close(tw.nets.ColourJitter(0.0, 0.9)(x).mean(over), x.mean(over))
    luma = x.new_tensor(LUMA).view(1, 3, 1, 1)
    out = tw.nets.ColourJitter(0.0, 0.0, 0.9)(x)
    torch.testing.assert_close((out * luma).sum(1), (x * luma).sum(1))
    assert not torch.equal(out, x)


def test_grey_pixels_do_not_change_with_saturation():
    x = rgb()[:, :1].expand(-1, 3, -1, -1)
    torch.testing.assert_close(tw.nets.ColourJitter(0.0, 0.0, 0.9)(x), x)


def test_factors_are_never_negative():
    assert (tw.nets.ColourJitter(5.0, 0.0)(rgb(200)) >= 0).all()


def test_uint8_is_cut_at_both_ends_and_floats_are_not():
    bright = torch.full((50, 3, 2, 2), 250, dtype=torch.uint8)
    out = tw.nets.ColourJitter(0.5, 0.0)(bright)
    assert (out == 255).any()
    assert (out < 200).any()
    assert tw.nets.ColourJitter(0.5, 0.0)(bright.float() / 255).max() > 1.2


def test_uint8_is_the_float_result_rounded():
    levels = (255 * rgb(dtype=torch.float32)).to(torch.uint8)
    jitter = [tw.nets.ColourJitter(0.2, 0.2, 0.2, seed=4) for _ in range(2)]
    expected = jitter[0](levels.float()).round().clamp(0, 255)
    assert torch.equal(jitter[1](levels).float(), expected)


@pytest.mark.parametrize("shape", [(2, 4, 5), (2, 1, 4, 5), (2, 4, 4, 5)])
def test_saturation_needs_three_channels(shape):
    with pytest.raises(InputError, match=r"saturation needs three channels .* set saturation=0"):
        tw.nets.ColourJitter(saturation=0.2)(torch.ones(shape))
    assert tw.nets.ColourJitter()(torch.ones(shape)).shape == shape


def test_a_negative_strength():
    with pytest.raises(InputError, match=r"contrast must be at least 0, got -0.1"):
        tw.nets.ColourJitter(contrast=-0.1)
