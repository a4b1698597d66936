"""What every augmentation promises: types, shapes, chance, replay, and that it leaves its input."""

import copy

import pytest
import torch

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.nets.augmentation.transform import Transform, check_range, uniform

nets = tw.nets

# Each at a strength that shows, and each with none.
STRONG = {
    "flip": lambda **o: nets.HorizontalFlip(**{"p": 1.0, **o}),
    "colour": lambda **o: nets.ColourJitter(0.4, 0.4, **o),
    "translation": lambda **o: nets.Translation(0.3, **o),
    "rotation": lambda **o: nets.Rotation(40.0, **o),
    "stretching": lambda **o: nets.Stretching(0.5, **o),
    "lens": lambda **o: nets.LensDistortion(0.3, **o),
    "all": lambda **o: nets.Augmentation(
        nets.HorizontalFlip(), nets.Rotation(30.0), nets.ColourJitter(), **o
    ),
}
WEAK = {
    "flip": lambda: nets.HorizontalFlip(p=0.0),
    "colour": lambda: nets.ColourJitter(0.0, 0.0, 0.0),
    "translation": lambda: nets.Translation(0.0),
    "rotation": lambda: nets.Rotation(0.0),
    "stretching": lambda: nets.Stretching(0.0),
    "lens": lambda: nets.LensDistortion(0.0),
    "crop": lambda: nets.RandomCrop((9, 12), 9),
    "all": lambda: nets.Augmentation(
        nets.Rotation(0.0), nets.Translation(0.0), nets.ColourJitter(0, 0)
    ),
}
DTYPES = [torch.float32, torch.float64, torch.uint8]


def images(dtype=torch.float32, shape=(6, 3, 9, 12), seed=1):
    generator = torch.Generator().manual_seed(seed)
    levels = torch.randint(0, 256, shape, generator=generator, dtype=torch.uint8)
    return levels if dtype == torch.uint8 else levels.to(dtype) / 255


@pytest.mark.parametrize("shape", [(6, 3, 9, 12), (6, 1, 9, 12), (6, 9, 12)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", STRONG)
def test_type_and_shape_are_kept_and_the_input_is_left(name, dtype, shape):
    batch = images(dtype, shape)
    before = batch.clone()
    out = STRONG[name]()(batch)
    assert (out.dtype, out.shape) == (dtype, batch.shape)
    assert torch.equal(batch, before)
    assert not torch.equal(out, batch)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", WEAK)
def test_no_strength_is_the_identity_to_the_bit(name, dtype):
    batch = images(dtype)
    assert torch.equal(WEAK[name]()(batch), batch)


@pytest.mark.parametrize("name", STRONG)
def test_p_0_hands_the_batch_back_and_draws_nothing(name):
    batch, augment = images(), STRONG[name](p=0.0)
    before = augment.generator.get_state()
    assert augment(batch) is batch
    assert torch.equal(augment.generator.get_state(), before)


@pytest.mark.parametrize("name", STRONG)
def test_each_sample_is_changed_with_probability_p(name):
    batch = images(shape=(400, 3, 9, 12))
    out = STRONG[name](p=0.3)(batch)
    changed = (out != batch).flatten(1).any(1)
    assert abs(float(changed.float().mean()) - 0.3) < 0.07
    assert torch.equal(out[~changed], batch[~changed])


@pytest.mark.parametrize("name", STRONG)
def test_only_the_drawn_samples_are_worked_on(name, monkeypatch):
    augment, seen = STRONG[name](p=0.5), []
    inner = augment.transform
    monkeypatch.setattr(augment, "transform", lambda x, g: (seen.append(len(x)), inner(x, g))[1])
    batch = images(shape=(64, 3, 9, 12))
    out = augment(batch)
    assert seen == [int((out != batch).flatten(1).any(1).sum())]
    assert 0 < seen[0] < 64


@pytest.mark.parametrize("name", STRONG)
def test_a_seed_replays_and_another_does_not(name):
    batch = images()
    first, second = STRONG[name](p=0.7, seed=3), STRONG[name](p=0.7, seed=3)
    outs = [first(batch) for _ in range(3)]
    assert all(torch.equal(out, second(batch)) for out in outs)
    assert not all(torch.equal(outs[0], out) for out in outs)
    other = STRONG[name](p=0.7, seed=4)
    assert not all(torch.equal(out, other(batch)) for out in outs)


@pytest.mark.parametrize("name", STRONG)
def test_its_state_resumes_to_the_same_bits(name):
    batch, augment = images(), STRONG[name](p=0.7)
    augment(batch)
    state = copy.deepcopy(augment.state_dict())
    rest = [augment(batch) for _ in range(3)]
    resumed = STRONG[name](p=0.7, seed=99)
    resumed.load_state_dict(state)
    assert all(torch.equal(out, resumed(batch)) for out in rest)


@pytest.mark.parametrize("name", STRONG)
def test_the_global_generator_is_left_alone(name):
    before = torch.get_rng_state()
    STRONG[name](p=0.5)(images())
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", STRONG)
def test_memory_order_does_not_matter(name):
    batch = images(shape=(6, 3, 9, 12))
    turned = batch.to(memory_format=torch.channels_last)
    torch.testing.assert_close(STRONG[name]()(turned), STRONG[name]()(batch))


@pytest.mark.parametrize("name", STRONG)
def test_gradients_reach_the_images(name):
    batch = images(torch.float64).requires_grad_()
    STRONG[name](p=0.5)(batch).square().sum().backward()
    assert batch.grad.isfinite().all()
    assert batch.grad.abs().sum() > 0


def test_a_given_generator_stands_in_for_its_own():
    batch, augment = images(), nets.Rotation(30.0)
    own = augment.generator.get_state()
    out = augment(batch, torch.Generator().manual_seed(5))
    assert torch.equal(augment.generator.get_state(), own)
    assert torch.equal(out, nets.Rotation(30.0, seed=5)(batch))


def test_uniform_lies_between_its_ends_and_is_exact_where_they_meet():
    generator = torch.Generator().manual_seed(0)
    drawn = uniform(2000, (-1.0, 3.0), generator)
    assert -1.0 <= float(drawn.min()) < -0.9
    assert 2.9 < float(drawn.max()) <= 3.0
    assert set(uniform(9, (0.1, 0.1), generator).tolist()) == {0.1}


def test_a_range_is_a_number_or_a_pair():
    assert check_range("k", 0.5) == (-0.5, 0.5)
    assert check_range("k", (0.1, 0.2)) == (0.1, 0.2)


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        ([[1.0]], r"batch must be a tensor of images, got \[\[1.0\]\]: use torch.as_tensor"),
        (torch.ones(3, 4), r"batch must be \[B, C, H, W\], .* got shape \(3, 4\): a single image"),
        (torch.ones(1, 1, 1, 3, 3), r"got shape \(1, 1, 1, 3, 3\)"),
        (torch.ones(2, 3, 4, 4, dtype=torch.int64), "float32, float64 or uint8, got torch.int64"),
        (torch.ones(2, 3, 4, 4, dtype=torch.int8), "got torch.int8: convert it with .to"),
        (torch.ones(0, 3, 4, 4), r"batch must hold images, got shape \(0, 3, 4, 4\)"),
        (torch.ones(2, 3, 0, 4), "which is empty"),
    ],
)
@pytest.mark.parametrize("p", [0.0, 1.0])
def test_a_batch_that_is_none(batch, sentence, p):
    with pytest.raises(InputError, match=sentence):
        nets.HorizontalFlip(p)(batch)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: nets.HorizontalFlip(1.5), r"p must be in \[0, 1\], got 1.5"),
        (lambda: nets.HorizontalFlip(seed=-1), "seed must be a whole number, at least 0, got -1"),
        (lambda: nets.Rotation(-3.0), r"degrees must be at least 0, got -3.0: or give a pair"),
        (
            lambda: nets.Rotation((3.0, 1.0)),
            r"degrees must rise from low to high, got \(3.0, 1.0\)",
        ),
        (lambda: nets.Rotation((1.0, 2.0, 3.0)), r"degrees must be a number or a pair"),
    ],
)
def test_arguments_that_make_no_sense(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


def test_a_transform_of_ones_own_needs_one_method():
    class Invert(Transform):
        def transform(self, images, generator):
            return 1 - images

    batch = images()
    assert torch.equal(Invert()(batch), 1 - batch)
