"""Affine maps: quarter turns and whole shifts exactly, all others against bilinear reading."""

import math

import pytest
import torch

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.nets.augmentation.affine import carries_pixels, identities, warp

nets = tw.nets
DTYPES = [torch.float32, torch.float64, torch.uint8]


def noise(shape, dtype=torch.float64):
    levels = torch.randint(0, 256, shape, generator=torch.Generator().manual_seed(3))
    return levels.to(torch.uint8) if dtype == torch.uint8 else levels.to(dtype) / 255


def read_by_hand(image, matrix):
    """Every new pixel by the docstring's product and the bilinear sum, zero outside."""
    height, width = image.shape
    out = torch.zeros_like(image)
    for i in range(height):
        for j in range(width):
            place = torch.tensor([j - (width - 1) / 2, i - (height - 1) / 2, 1.0]).double()
            x, y, _ = (matrix @ place).tolist()
            x, y = x + (width - 1) / 2, y + (height - 1) / 2
            for k in range(max(0, math.floor(y)), min(height - 1, math.ceil(y)) + 1):
                for m in range(max(0, math.floor(x)), min(width - 1, math.ceil(x)) + 1):
                    out[i, j] += image[k, m] * (1 - abs(k - y)) * (1 - abs(m - x))
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", [7, 8, 32, 101, 224])
@pytest.mark.parametrize("quarters", [-1, 1, 2, 3, 4])
def test_quarter_turns_of_squares_equal_rot90_to_the_bit(quarters, side, dtype):
    batch = noise((2, 3, side, side), dtype)
    turned = nets.Rotation((90.0 * quarters, 90.0 * quarters))(batch)
    assert torch.equal(turned, torch.rot90(batch, quarters, (-2, -1)))


@pytest.mark.parametrize("size", [(6, 10), (7, 10)])
def test_half_turns_of_any_rectangle_are_exact(size):
    batch = noise((2, *size), torch.float32)
    assert torch.equal(nets.Rotation((180.0, 180.0))(batch), torch.rot90(batch, 2, (-2, -1)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_shift_by_whole_pixels_moves_to_the_right_and_down(dtype):
    batch = noise((2, 3, 10, 10), dtype)
    out = nets.Translation((0.3, 0.3))(batch)
    assert torch.equal(out[..., 3:, 3:], batch[..., :-3, :-3])
    assert not out[..., :3, :].any()
    assert not out[..., :3].any()
    edge = nets.Translation((0.3, 0.3), padding_mode="border")(batch)
    assert torch.equal(edge[..., 5, :4], batch[..., 2, :1].expand(-1, -1, 4))


def test_stretching_to_twice_the_size_spreads_the_middle():
    batch = torch.tensor([[[0.0, 4.0, 8.0, 0.0]] * 2]).double()
    out = nets.Stretching((2.0, 2.0), padding_mode="border")(batch)
    assert out[0, 0].tolist() == pytest.approx([3.0, 5.0, 7.0, 6.0])


@pytest.mark.parametrize(
    "make",
    [
        lambda: nets.Translation(0.4, seed=5),
        lambda: nets.Rotation(60.0, seed=5),
        lambda: nets.Stretching(0.6, seed=5),
    ],
)
def test_equals_reading_pixel_by_pixel(make):
    batch = noise((3, 6, 9))
    matrices = make().matrices(3, (6, 9), torch.Generator().manual_seed(5))
    expected = torch.stack([read_by_hand(*pair) for pair in zip(batch, matrices, strict=True)])
    torch.testing.assert_close(make()(batch), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
def test_float32_and_uint8_agree_with_float64(dtype):
    batch = noise((4, 3, 40, 50), dtype)
    wide = nets.Rotation(60.0)(batch.double())
    atol = 0.51 if dtype == torch.uint8 else 1e-4
    torch.testing.assert_close(nets.Rotation(60.0)(batch).double(), wide, rtol=0, atol=atol)


def test_draws_lie_in_their_ranges():
    generator = torch.Generator().manual_seed(0)
    shifts = nets.Translation(0.1).matrices(500, (20, 40), generator)
    assert 3.8 < float(shifts[:, 0, 2].abs().max()) <= 4.0
    assert 1.9 < float(shifts[:, 1, 2].abs().max()) <= 2.0
    turns = nets.Rotation((10.0, 30.0)).matrices(500, (20, 40), generator)
    angles = torch.rad2deg(torch.atan2(turns[:, 1, 0], turns[:, 0, 0]))
    assert 10.0 <= float(angles.min()) < 11.0
    assert 29.0 < float(angles.max()) <= 30.0
    factors = 1 / nets.Stretching(0.5).matrices(500, (20, 40), generator)[:, 0, 0]
    assert 1 / 1.5 <= float(factors.min()) < 0.68
    assert 1.48 < float(factors.max()) <= 1.5
    assert abs(float((factors > 1).double().mean()) - 0.5) < 0.07


def test_a_turn_and_its_opposite_leave_the_middle():
    x, y = torch.meshgrid(torch.linspace(-1, 1, 41), torch.linspace(-1, 1, 41), indexing="ij")
    smooth = torch.exp(-4 * (x**2 + y**2)).expand(1, 41, 41)
    back = nets.Rotation((-30.0, -30.0))(nets.Rotation((30.0, 30.0))(smooth))
    assert float((back - smooth)[0, 8:-8, 8:-8].abs().max()) < 0.01


def test_samples_of_all_three_kinds_share_a_batch():
    # The identity, a quarter turn, and a turn by 30°: each as it is alone.
    batch = noise((3, 2, 8, 8), torch.float32)
    maps = identities(3)
    for row, angle in ((1, 90.0), (2, 30.0)):
        turn = nets.Rotation((angle, angle))
        maps[row] = turn.matrices(1, (8, 8), torch.Generator())[0]
    out = warp(batch, maps, "zeros")
    assert torch.equal(out[0], batch[0])
    assert torch.equal(out[1], torch.rot90(batch[1], 1, (-2, -1)))
    assert torch.equal(out[2:], nets.Rotation((30.0, 30.0))(batch[2:]))


def test_which_maps_carry_pixels_onto_pixels():
    maps = identities(5)
    maps[1, 0, 2] = 3.0
    maps[2, 0, 2] = 0.5
    maps[3, 0, 0] = 1.01
    maps[4, :2, :2] = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    assert carries_pixels(maps, (8, 8), (8, 8)).tolist() == [True, True, False, False, True]
    # The centre of a 7 × 8 image lies between pixels in one direction only.
    assert carries_pixels(maps, (7, 8), (7, 8)).tolist() == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: nets.Stretching(-0.1), "amount must be at least 0, got -0.1"),
        (lambda: nets.Stretching((0.0, 2.0)), r"amount must stay above 0, got \(0.0, 2.0\)"),
        (lambda: nets.Translation("a"), "share must be a number at least 0, got 'a'"),
        (lambda: nets.Rotation(padding_mode="wrap"), "padding_mode must be a known name"),
    ],
)
def test_arguments_that_make_no_sense(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()
