"""Dropout: both forms by hand, the expectation, what is drawn from where."""

import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg.core.errors import InputError

FORMS = ["inverted", "weights"]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(("scaling", "kept"), [("inverted", 2.5), ("weights", 2.0)])
def test_units_are_dropped_or_kept(scaling, kept, own, dtype):
    torch.manual_seed(0)
    layer = tw.nets.Dropout(0.8, scaling, generator=generator() if own else None)
    out = layer(torch.full((100, 100), 2.0, dtype=dtype))
    assert out.dtype == dtype
    assert sorted(set(out.flatten().tolist())) == pytest.approx([0.0, kept])
    assert float((out != 0).double().mean()) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(("scaling", "factor"), [("inverted", 1.0), ("weights", 0.8)])
def test_at_inference_all_units_stay(scaling, factor):
    x = torch.randn(5, 7, generator=generator())
    assert torch.equal(tw.nets.Dropout(0.8, scaling).eval()(x), factor * x)


@pytest.mark.parametrize("scaling", FORMS)
@pytest.mark.parametrize("keep", [0.5, 0.8])
def test_inference_is_the_mean_of_training_for_a_linear_unit(keep, scaling):
    # Figure 2 of the paper: the output at test time is the expected output at training time.
    torch.manual_seed(0)
    unit = nn.Sequential(tw.nets.Dropout(keep, scaling, generator=generator()), nn.Linear(20, 1))
    x, draws = torch.randn(20), 40_000
    outputs = unit(x.expand(draws, 20)).detach()
    error = float(outputs.std()) / draws**0.5
    expected = float(unit.eval()(x).detach())
    assert abs(float(outputs.mean()) - expected) < 4 * error
    # A wrong factor would be seen: it moves the weighted sum by more than these errors.
    weighted = expected - float(unit[1].bias.detach())
    assert abs((keep - 1) * weighted) > 8 * error


def test_the_weights_form_is_weights_times_keep():
    torch.manual_seed(0)
    linear, x = nn.Linear(6, 3).double(), torch.randn(4, 6).double()
    scaled = nn.Sequential(tw.nets.Dropout(0.6, "weights"), linear).eval()(x)
    torch.testing.assert_close(scaled, x @ (0.6 * linear.weight).T + linear.bias)


def test_gradients_pass_where_units_stay():
    x = torch.ones(8, 8, requires_grad=True)
    out = tw.nets.Dropout(0.5, generator=generator())(x)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


@pytest.mark.parametrize("scaling", FORMS)
def test_a_generator_of_its_own_replays_and_leaves_the_global_one(scaling):
    x, before = torch.ones(9, 9), torch.get_rng_state()
    first, second = (tw.nets.Dropout(0.5, scaling, generator=generator(3)) for _ in range(2))
    assert torch.equal(first(x), second(x))
    assert not torch.equal(first(x), first(x))
    assert torch.equal(torch.get_rng_state(), before)


def test_keep_1_is_no_dropout():
    x = torch.randn(3, 3, generator=generator())
    assert tw.nets.Dropout(1.0)(x) is x


def test_it_says_what_it_is():
    assert repr(tw.nets.Dropout(0.5)) == "Dropout(keep=0.5, scaling='inverted')"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: tw.nets.Dropout(1.5),
            r"keep must be in \(0, 1\], got 1.5: it is the share of units that stay",
        ),
        (lambda: tw.nets.Dropout(0.0), r"keep must be in \(0, 1\], got 0.0"),
        (lambda: tw.nets.Dropout(0.5, "inverse"), "did you mean 'inverted'"),
    ],
)
def test_arguments_that_make_no_sense(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()
