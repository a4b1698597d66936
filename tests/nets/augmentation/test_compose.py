"""Compositions: one after the other, affine neighbours as one, chances inside chances."""

import pytest
import torch

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.nets.augmentation import affine, sampling

nets = tw.nets


def noise(shape=(12, 3, 16, 16), dtype=torch.float64):
    return torch.rand(shape, dtype=dtype, generator=torch.Generator().manual_seed(1))


def test_one_after_the_other_from_one_generator():
    batch = noise()
    parts = [nets.HorizontalFlip(), nets.ColourJitter(p=0.6), nets.LensDistortion(0.2, p=0.5)]
    whole = nets.Augmentation(*parts, seed=4)
    generator = torch.Generator().manual_seed(4)
    expected = batch
    for part in parts:
        expected = part(expected, generator)
    assert torch.equal(whole(batch), expected)


def test_the_generators_of_the_parts_are_not_used():
    part = nets.Rotation(20.0)
    before = part.generator.get_state()
    nets.Augmentation(part, nets.Augmentation(part))(noise())
    assert torch.equal(part.generator.get_state(), before)


def test_affine_neighbours_are_read_once(monkeypatch):
    calls = []
    inner = sampling.functional.grid_sample
    monkeypatch.setattr(
        sampling.functional, "grid_sample", lambda *a, **o: (calls.append(1), inner(*a, **o))[1]
    )
    nets.Augmentation(nets.Rotation(), nets.Translation(), nets.Stretching())(noise())
    assert len(calls) == 1
    nets.Augmentation(nets.Rotation(), nets.LensDistortion(), nets.Stretching())(noise())
    assert len(calls) == 4
    nets.Augmentation(nets.Rotation(), nets.Translation(padding_mode="border"))(noise())
    assert len(calls) == 6


def test_the_first_map_acts_first():
    # Shift by a quarter of the width, then turn by a quarter: exact either way, and not the same.
    batch = noise()
    shift, turn = nets.Translation((0.25, 0.25)), nets.Rotation((90.0, 90.0))
    assert torch.equal(nets.Augmentation(shift, turn)(batch), turn(shift(batch)))
    assert torch.equal(nets.Augmentation(turn, shift)(batch), shift(turn(batch)))
    assert not torch.equal(turn(shift(batch)), shift(turn(batch)))


def test_what_leaves_the_frame_on_the_way_is_not_lost():
    batch = noise()
    there, back = nets.Translation((0.5, 0.5)), nets.Translation((-0.5, -0.5))
    assert torch.equal(nets.Augmentation(there, back)(batch), batch)
    assert not torch.equal(back(there(batch)), batch)


def test_as_one_equals_one_after_the_other_inside_the_frame():
    axis = torch.linspace(-1, 1, 61, dtype=torch.float64)
    smooth = torch.exp(-6 * (axis[:, None] ** 2 + 2 * axis**2)).expand(4, 61, 61)
    turn, stretch = nets.Rotation(25.0, p=0.7), nets.Stretching(0.2, p=0.7)
    generator = torch.Generator().manual_seed(0)
    expected = stretch(turn(smooth, generator), generator)
    out = nets.Augmentation(turn, stretch, seed=0)(smooth)
    # Two readings blur more than one.
    assert float((out - expected)[:, 15:-15, 15:-15].abs().max()) < 0.01
    assert float((out - smooth).abs().max()) > 0.1


def test_samples_that_no_map_moves_are_left(monkeypatch):
    read = []
    inner = affine.read
    monkeypatch.setattr(affine, "read", lambda x, *rest: (read.append(len(x)), inner(x, *rest))[1])
    batch = noise((200, 3, 8, 8))
    out = nets.Augmentation(nets.Rotation(p=0.2), nets.Translation(p=0.2))(batch)
    changed = (out != batch).flatten(1).any(1)
    assert read == [int(changed.sum())]
    assert abs(float(changed.double().mean()) - 0.36) < 0.1


def test_a_composition_within_another_has_a_chance_as_a_whole():
    batch = noise((600, 1, 4, 4))
    both = nets.Augmentation(nets.HorizontalFlip(p=1.0), nets.ColourJitter(0.5, 0.0), p=0.3)
    out = nets.Augmentation(both)(batch)
    changed = (out != batch).flatten(1).any(1)
    assert abs(float(changed.double().mean()) - 0.3) < 0.06
    ratio = (out / batch.flip(-1))[changed].flatten(1)
    torch.testing.assert_close(ratio, ratio[:, :1].expand_as(ratio))


def test_a_crop_changes_the_size_for_those_that_follow():
    augment = nets.Augmentation(
        nets.RandomCrop(8, (10, 14)), nets.Rotation(), nets.HorizontalFlip()
    )
    assert augment(noise()).shape == (12, 3, 8, 8)
    assert nets.Augmentation(augment)(noise()).shape == (12, 3, 8, 8)


def test_nothing_to_do_hands_the_batch_back():
    batch = noise()
    assert nets.Augmentation()(batch) is batch
    assert nets.Augmentation(nets.Rotation(p=0.0), nets.HorizontalFlip(p=0.0))(batch) is batch


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: nets.Augmentation([nets.Rotation()]), "transforms must be augmentations .* got"),
        (lambda: nets.Augmentation(torch.relu), "pass them one by one"),
        (
            lambda: nets.Augmentation(nets.Augmentation(nets.RandomCrop()), p=0.5),
            "p must be 1 with a RandomCrop inside, got 0.5: samples that were left alone",
        ),
    ],
)
def test_arguments_that_make_no_sense(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()
