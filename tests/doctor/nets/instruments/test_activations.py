import math

import pytest
import torch
from torch import nn

from thalweg.doctor.nets.instruments.activations import ENTRIES, NAMES, Collector, saturation_of

NAN = math.nan


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def collect(module, *outputs, axis=None, training=True):
    collector = Collector(generator())
    collector.axis = axis
    for output in outputs:
        collector.add("a", module, output, training)
    numbers = collector.numbers()
    return dict(zip(NAMES, numbers["a"], strict=True)) if numbers else None


def test_a_relu_by_hand():
    a = torch.tensor([[0.0, 1.0, 0.0, 3.0], [0.0, 0.0, 0.0, 4.0]])
    found = collect(nn.ReLU(), a)
    assert found["mean"] == 1.0
    assert found["std"] == pytest.approx((26 / 8 - 1) ** 0.5)
    assert (found["p15"], found["p50"], found["p85"]) == (0.0, 0.0, 3.0)
    assert found["dead"] == 0.5
    assert math.isnan(found["saturated"])
    assert found["not_finite"] == 0


@pytest.mark.parametrize(
    ("module", "a", "flat"),
    [
        (nn.Sigmoid(), [0.005, 0.011, 0.5, 0.985, 0.995], [1, 0, 0, 0, 1]),
        (nn.Tanh(), [-0.99, -0.97, 0.0, 0.97, 0.99], [1, 0, 0, 0, 1]),
        (nn.Softsign(), [-0.9, -0.7, 0.0, 0.9], [1, 0, 0, 1]),
        (nn.Hardtanh(-2, 2), [-2.0, -1.9, 0.0, 2.0], [1, 0, 0, 1]),
        (nn.Hardsigmoid(), [0.0, 0.1, 1.0], [1, 0, 1]),
        (nn.ReLU6(), [0.0, 5.9, 6.0], [0, 0, 1]),
    ],
)
def test_ends_by_hand(module, a, flat):
    assert saturation_of(module)(torch.tensor([a])).int().tolist() == [flat]


@pytest.mark.parametrize("module", [nn.Sigmoid(), nn.Tanh(), nn.Softsign()])
def test_at_an_end_the_slope_is_below_a_twenty_fifth_of_its_largest(module):
    x = torch.linspace(-60, 60, 100_001, dtype=torch.float64, requires_grad=True)
    a = module(x)
    (slope,) = torch.autograd.grad(a.sum(), x)
    flat = saturation_of(module)(a.detach()[None])[0]
    at_border = (slope / slope.max() - 0.04).abs() < 1e-9
    assert torch.equal(flat | at_border, (slope < 0.04 * slope.max()) | at_border)


def test_saturated_units_are_so_on_nearly_the_whole_batch():
    a = torch.full((100, 3), 0.5)
    a[:, 0] = 0.999
    a[:96, 1] = 0.001
    a[:90, 2] = 0.001
    found = collect(nn.Sigmoid(), a)
    assert found["saturated"] == pytest.approx(2 / 3)
    assert found["saturation"] == pytest.approx((100 + 96 + 90) / 300)


def test_a_softmax_is_saturated_where_it_is_sure():
    a = torch.tensor([[0.995, 0.005], [0.6, 0.4], [0.001, 0.999], [0.5, 0.5]])
    assert collect(nn.Softmax(1), a)["saturation"] == 0.5


def test_channels_are_units():
    a = torch.zeros(2, 3, 4, 4)
    a[1, 2, 3, 3] = 1.0
    assert collect(nn.ReLU(), a)["dead"] == pytest.approx(2 / 3)
    assert collect(nn.ReLU(), a.flatten(2), axis=1)["dead"] == pytest.approx(2 / 3)
    assert collect(nn.ReLU(), a.flatten(2))["dead"] == pytest.approx(15 / 16)  # features


def test_percentiles_of_many_entries_are_near_the_true_ones():
    a = torch.randn(100, 500, generator=generator(1))
    assert a.numel() > ENTRIES
    found = collect(nn.Linear(1, 1), a)
    for name, p in (("p15", 0.15), ("p50", 0.5), ("p85", 0.85)):
        true = torch.quantile(a, p).item()
        assert found[name] == pytest.approx(true, abs=0.08)
    assert found["mean"] == pytest.approx(a.mean().item(), abs=1e-6)


def test_calls_of_one_step_are_one_batch_in_parts():
    whole = torch.randn(64, 5, generator=generator(2), dtype=torch.float64).relu()
    whole[:, 3] = 0
    whole[:48, 4] = 0
    once = collect(nn.ReLU(), whole)
    parts = collect(nn.ReLU(), *whole.split(16))
    for name in ("mean", "std", "dead"):
        assert parts[name] == pytest.approx(once[name], rel=1e-12), name


def test_no_more_than_four_calls_count():
    ones = [torch.ones(2, 2)] * 4
    assert collect(nn.ReLU(), *ones, torch.full((2, 2), 100.0))["mean"] == 1.0


def test_a_pass_in_eval_mode_gives_way_to_training():
    collector = Collector(generator())
    linear = nn.Linear(1, 1)
    collector.add("a", linear, torch.full((2, 1), 5.0), False)
    assert collector.numbers()["a"][0] == 5.0
    collector.add("a", linear, torch.full((2, 1), 1.0), True)
    collector.add("a", linear, torch.full((2, 1), 9.0), False)
    assert collector.numbers()["a"][0] == 1.0
    collector.clear()
    assert collector.numbers() == {}


@pytest.mark.parametrize("bad", [math.inf, -math.inf, NAN])
def test_what_is_not_finite_is_told(bad):
    assert collect(nn.ReLU(), torch.tensor([[1.0, bad]]))["not_finite"] == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_any_precision(dtype):
    found = collect(nn.Tanh(), torch.tensor([[0.5, -0.5], [0.5, 1.0]], dtype=dtype))
    assert found["mean"] == 0.375
    assert found["saturation"] == 0.25


def test_odd_shapes():
    assert collect(nn.ReLU(), torch.tensor(2.0))["mean"] == 2.0
    assert collect(nn.ReLU(), torch.tensor([0.0, 2.0]))["dead"] == 0.5
    assert collect(nn.ReLU(), torch.ones(0, 3)) is None
    turned = torch.arange(6.0).reshape(2, 3).T
    assert collect(nn.ReLU(), turned)["p50"] in (2.0, 3.0)
