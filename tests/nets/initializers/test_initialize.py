import copy
import math

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

import thalweg as tw


def net():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, groups=1),
        nn.BatchNorm2d(8),
        nn.PReLU(),
        nn.Flatten(),
        nn.Linear(8 * 36, 4),
    )


def test_by_hand():
    model = net()
    nn.init.constant_(model[1].weight, 5.0)
    model[1].running_mean.fill_(3.0)
    done = tw.nets.initialize(model, "he", bias=0.01)
    assert done["0.weight"].fans == (27, 72)
    assert done["0.weight"].sigma == pytest.approx(math.sqrt(2 / 27))
    assert done["4.weight"].fans == (288, 4)
    assert model[0].bias.tolist() == pytest.approx([0.01] * 8)
    assert model[4].bias.tolist() == pytest.approx([0.01] * 4)
    assert model[1].weight.eq(1).all()
    assert model[1].bias.eq(0).all()
    assert model[1].running_mean.eq(0).all()
    assert model[2].weight.tolist() == [0.25]
    assert done["2.weight"].rule == "left as it was"
    assert (
        str(done).splitlines()[0] == "0.weight  [8, 3, 3, 3]  he normal, n_in 27, n_out 72, σ 0.272"
    )
    assert str(done).splitlines()[1] == "0.bias    [8]           0.01"


@pytest.mark.parametrize("distribution", ["normal", "uniform"])
@pytest.mark.parametrize("scheme", ["lecun", "xavier", "xavier-in", "he", "normal[sigma=0.02]"])
@pytest.mark.parametrize(
    "layer",
    [
        nn.Linear(300, 200),
        nn.Conv2d(32, 64, 5, groups=2),
        nn.ConvTranspose2d(64, 32, 5, stride=2),
        nn.Embedding(300, 200),
    ],
    ids=str,
)
def test_every_layer_has_the_variance_of_its_record(layer, scheme, distribution):
    done = tw.nets.initialize(layer, scheme, distribution=distribution, seed=3)
    w = layer.weight.detach().double()
    error = math.sqrt((2.0 if distribution == "normal" else 0.8) / w.numel())
    assert abs(w.var() / done["weight"].sigma ** 2 - 1) < 4 * error


def test_variance_of_outputs_is_that_of_inputs():
    """V[o] = n_in σ² γ²: lecun keeps it, for strided and transposed layers too."""
    generator = torch.Generator().manual_seed(0)
    for layer, shape in [
        (nn.Linear(400, 300), (500, 400)),
        (nn.Conv2d(16, 32, 3, stride=2, groups=2), (8, 16, 32, 32)),
        (nn.ConvTranspose2d(16, 32, 4, stride=2, groups=2), (8, 16, 32, 32)),
    ]:
        tw.nets.initialize(layer, "lecun")
        with torch.no_grad():
            out = layer(torch.randn(shape, generator=generator))
        inner = out if out.ndim == 2 else out[..., 4:-4, 4:-4]
        assert inner.var().item() == pytest.approx(1.0, rel=0.1)


def test_a_seed_replays_another_does_not_and_nothing_global_moves():
    models = [net() for _ in range(3)]
    before = torch.random.get_rng_state()
    for model, seed in zip(models, (0, None, 1), strict=True):
        tw.nets.initialize(model, seed=seed)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(models[0][4].weight, models[1][4].weight)
    assert not torch.equal(models[0][4].weight, models[2][4].weight)
    for model in models[1:]:
        tw.nets.initialize(model, generator=torch.Generator().manual_seed(7))
    assert torch.equal(models[1][4].weight, models[2][4].weight)


def test_weights_are_not_the_numbers_of_data_drawn_with_the_same_seed():
    layer = nn.Linear(50, 50)
    tw.nets.initialize(layer, seed=0)
    x = torch.randn(50, 50, generator=torch.Generator().manual_seed(0))
    assert abs(torch.corrcoef(torch.stack([layer.weight.flatten(), x.flatten()]))[0, 1]) < 0.1


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_types_are_kept_and_layouts_do_not_matter(dtype):
    model = net().to(dtype)
    turned = copy.deepcopy(model).to(memory_format=torch.channels_last)
    tw.nets.initialize(model)
    tw.nets.initialize(turned)
    assert model[0].weight.dtype == dtype
    assert turned[0].weight.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(model[0].weight, turned[0].weight)


def test_places_and_gradients_are_kept():
    model = net()
    model[0].weight.requires_grad_(False)
    places = [p.data_ptr() for p in model.parameters()]
    tw.nets.initialize(model)
    assert [p.data_ptr() for p in model.parameters()] == places
    assert not model[0].weight.requires_grad
    assert model[4].weight.requires_grad


def test_the_last_bias_makes_the_first_predictions_the_shares():
    X = torch.randn(50, 10, generator=torch.Generator().manual_seed(0))
    model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 3))
    y = torch.tensor([0] * 80 + [1] * 15 + [2] * 5)
    done = tw.nets.initialize(model, "normal[sigma=0.0]", last_bias=tw.nets.log_odds(y))
    shares = torch.softmax(model(X), 1)
    torch.testing.assert_close(shares, torch.tensor([[0.8, 0.15, 0.05]]).expand(50, 3))
    assert model[0].bias.eq(0).all()
    assert done["2.bias"].rule == "last_bias"


def test_a_single_output_takes_the_odds_of_class_one():
    model = nn.Sequential(nn.Linear(4, 1))
    tw.nets.initialize(model, "zeros", last_bias=tw.nets.log_odds([0, 0, 0, 1]))
    assert torch.sigmoid(model(torch.zeros(1, 4))).item() == pytest.approx(0.25)
    tw.nets.initialize(model, "zeros", last_bias=0.5)
    assert model[0].bias.item() == 0.5


def test_shared_weights_are_drawn_once_with_the_fans_of_the_layer():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(50, 8, padding_idx=0)
            self.head = nn.Linear(8, 50, bias=False)
            self.head.weight = self.embed.weight

    done = tw.nets.initialize(Tied(), "lecun")
    assert [(t.name, t.fans) for t in done.tensors] == [("head.weight", (8, 50))]


def test_padding_rows_of_an_embedding_stay_zero():
    table = nn.Embedding(5, 3, padding_idx=2)
    tw.nets.initialize(table, "lecun")
    assert table.weight[2].eq(0).all()
    assert table.weight[[0, 1, 3, 4]].ne(0).all()


def test_tokens_and_biases_of_modules_without_weights_are_left():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.token = nn.Parameter(torch.ones(1, 4))
            self.bias = nn.Parameter(torch.ones(4))
            self.layer = nn.Linear(4, 4)

    model = Odd()
    tw.nets.initialize(model, bias=0.1)
    assert model.token.eq(1).all()
    assert model.bias.eq(1).all()
    assert model.layer.bias.tolist() == pytest.approx([0.1] * 4)


def test_recurrent_and_attention_weights_are_found():
    model = nn.ModuleList([nn.LSTM(5, 6), nn.MultiheadAttention(8, 2)])
    done = tw.nets.initialize(model, "he", bias=0.5)
    assert done["0.weight_hh_l0"].fans == (6, 24)
    assert done["1.in_proj_weight"].fans == (8, 24)
    assert model[0].bias_ih_l0.eq(0.5).all()
    assert model[1].in_proj_bias.eq(0.5).all()


@pytest.mark.parametrize(
    ("model", "arguments", "said"),
    [
        (nn.Linear(2, 2), {"scheme": "hee"}, "scheme must be a known name"),
        (nn.Linear(2, 2), {"distribution": "cauchy"}, "distribution must be a known name"),
        (nn.Linear(2, 2), {"bias": math.nan}, "bias must be finite, got nan"),
        (nn.Linear(2, 2), {"last_bias": [1, 2, 3]}, "last_bias must have 2 numbers, as 'bias' has"),
        (nn.Linear(2, 2), {"last_bias": [1, math.inf]}, "last_bias must be finite"),
        (nn.Linear(2, 2, bias=False), {"last_bias": 1.0}, "last_bias needs a layer with a bias"),
        (nn.Linear(2, 2), {"seed": -1}, "seed must be a whole number, at least 0, got -1"),
        (nn.Linear(2, 2), {"seed": 1, "generator": torch.Generator()}, "seed must be left out"),
        (nn.ReLU(), {}, "model must have a layer with a weight of two axes or more"),
        (nn.Linear(2, 2, dtype=torch.complex64), {}, "weights must be real floating-point"),
    ],
)
def test_bad_input(model, arguments, said):
    with pytest.raises(tw.InputError, match=said):
        tw.nets.initialize(model, **arguments)


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (nn.LazyLinear(3), "model must know its sizes, got '1.weight' without a shape"),
        (parametrizations.weight_norm(nn.Linear(2, 2)), "of a parametrization: initialize first"),
    ],
)
def test_a_refused_model_is_left_as_it_was(odd, said):
    model = nn.Sequential(nn.Linear(2, 2), odd)
    before = model[0].weight.clone()
    with pytest.raises(tw.InputError, match=said):
        tw.nets.initialize(model)
    assert torch.equal(model[0].weight, before)
