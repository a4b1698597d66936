import math

import pytest
import torch

import thalweg as tw
from thalweg.nets.initializers.fans import Fans
from thalweg.nets.initializers.schemes import Scheme, scheme_of

N = Fans(200.0, 50.0)
SHAPE = torch.Size((200, 500))
VARIANCES = {
    "lecun": 1 / 200,
    "xavier": 2 / 250,
    "xavier-in": 1 / 200,
    "he": 2 / 200,
    "normal[sigma=0.3]": 0.09,
}


def draw(name, distribution, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return scheme_of(name).draw(SHAPE, N, distribution, generator, dtype)


@pytest.mark.parametrize(("name", "variance"), VARIANCES.items())
def test_variance_by_hand(name, variance):
    assert scheme_of(name).variance(N) == pytest.approx(variance, rel=1e-15)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("distribution", ["normal", "uniform"])
@pytest.mark.parametrize(("name", "variance"), VARIANCES.items())
def test_drawn_mean_and_variance_lie_within_sampling_error(name, variance, distribution, dtype):
    w = draw(name, distribution, dtype=dtype).double()
    n = w.numel()
    # V[w̄] = V/n, V[s²] = (κ − 1)V²/n with κ = 3 for a normal, 9/5 for a uniform distribution.
    kurtosis = 3.0 if distribution == "normal" else 1.8
    assert abs(w.mean()) < 4 * math.sqrt(variance / n)
    assert abs(w.var() / variance - 1) < 4 * math.sqrt((kurtosis - 1) / n)
    measured = ((w - w.mean()) ** 4).mean() / w.var() ** 2
    assert measured == pytest.approx(kurtosis, rel=0.05)


def test_uniform_fills_its_interval_and_never_leaves_it():
    w = draw("he", "uniform")
    reach = math.sqrt(3 * 2 / 200)
    assert 0.999 * reach < w.abs().max() <= reach


def test_constants():
    assert draw("zeros", "normal").eq(0.0).all()
    assert draw("constant[value=0.5]", "uniform").eq(0.5).all()
    assert draw("constant[value=-2]", "uniform").eq(-2.0).all()


def test_a_seed_replays_and_the_global_generator_is_left_alone():
    before = torch.random.get_rng_state()
    assert torch.equal(draw("he", "normal"), draw("he", "normal"))
    assert not torch.equal(draw("he", "normal"), draw("he", "normal", seed=1))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_schemes_pass_through_by_themselves():
    assert scheme_of(Scheme("normal", 0.3)) == scheme_of(" normal[ sigma = 0.3 ]")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hee", "scheme must be a known name, got 'hee': did you mean 'he'"),
        (3, "scheme must be a known name, got 3"),
        ("normal", r"scheme must be written normal\[sigma=…\], got 'normal'"),
        ("constant[sigma=1]", r"scheme must be written constant\[value=…\]"),
        ("he[gain=2]", "scheme must be written he, got"),
        ("normal[sigma=-1]", "sigma must be at least 0, got -1"),
        ("normal[sigma=wide]", "sigma must be a finite number, got 'wide'"),
        ("constant[value=nan]", "value must be finite, got nan"),
    ],
)
def test_bad_names(text, said):
    with pytest.raises(tw.InputError, match=said):
        scheme_of(text)
