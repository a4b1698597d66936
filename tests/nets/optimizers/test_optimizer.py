"""The options that all optimizers share, and the order in which they act."""

import math

import numpy as np
import pytest
import torch
from torch import nn

import thalweg as tw
from recording import one
from thalweg.core.errors import InputError
from thalweg.nets.optimizers.adam import Adam
from thalweg.nets.optimizers.optimizer import RuleOptimizer
from thalweg.nets.optimizers.sgd import SGD

paths = pytest.mark.parametrize("fast", [True, False], ids=["compiled", "tensors"])


@pytest.fixture(autouse=True)
def path(request, monkeypatch):
    if "fast" in request.fixturenames:
        monkeypatch.setattr(RuleOptimizer, "fast", request.getfixturevalue("fast"))


def row(values, gradients, dtype=torch.float64):
    """One unit of a linear layer, with its gradient."""
    weight = nn.Parameter(torch.tensor([values], dtype=dtype))
    weight.grad = torch.tensor([gradients], dtype=dtype)
    return weight


@paths
def test_all_options_in_their_order(fast):
    w, g = np.array([3.0, -0.2, 4.0]), np.array([6.0, -2.0, 3.0])  # ‖g‖ = 7
    lr, clip, decay, l1, radius = 0.1, 3.5, 0.5, 0.3, 2.0
    weight = row(w.tolist(), g.tolist())
    SGD(
        [weight], lr=lr, clip_norm=clip, weight_decay=decay, l1=l1, max_norm=radius, maximize=True
    ).step()
    g = -g * clip / (7.0 + 1e-6)
    g = g + decay * w
    w = w - lr * g
    w = np.sign(w) * np.maximum(np.abs(w) - lr * l1, 0.0)
    w = w * min(1.0, radius / np.linalg.norm(w))
    np.testing.assert_allclose(weight.detach().numpy()[0], w, rtol=1e-12)


@paths
def test_a_decoupled_decay_is_beside_the_rule(fast):
    weight = row([2.0, -1.0], [0.5, 0.25])
    Adam([weight], lr=0.1, eps=0.0, weight_decay=0.3, decoupled_weight_decay=True).step()
    expected = np.array([2.0, -1.0]) * (1.0 - 0.03) - 0.1  # the first step is the sign of g
    np.testing.assert_allclose(weight.detach().numpy()[0], expected, rtol=1e-12)


@paths
def test_clipping_is_over_all_parameters_together(fast):
    first, second = one(0.0, 3.0), one(0.0, 4.0)
    SGD([first, second], lr=1.0, clip_norm=1.0).step()
    assert first.item() == pytest.approx(-0.6, rel=1e-6)
    assert second.item() == pytest.approx(-0.8, rel=1e-6)


@paths
def test_groups_with_other_limits_are_clipped_by_themselves(fast):
    first, second, third = one(0.0, 3.0), one(0.0, 4.0), one(0.0, 10.0)
    groups = [{"params": [first, second]}, {"params": [third], "clip_norm": 2.0}]
    SGD(groups, lr=1.0, clip_norm=1.0).step()
    values = [first.item(), second.item(), third.item()]
    assert values == pytest.approx([-0.6, -0.8, -2.0], rel=1e-6)


@paths
def test_a_gradient_without_a_finite_norm_is_not_clipped(fast):
    first, second = one(0.0, math.inf), one(0.0, 4.0)
    SGD([first, second], lr=1.0, clip_norm=1.0).step()
    assert first.item() == -math.inf
    assert second.item() == -4.0


def test_a_norm_beyond_float32_is_clipped_right():
    weight = row([0.0, 0.0], [3e30, 4e30], torch.float32)
    SGD([weight], lr=1.0, clip_norm=1.0).step()
    torch.testing.assert_close(weight.detach(), torch.tensor([[-0.6, -0.8]]))


@paths
def test_l1_gives_exact_zeros(fast):
    torch.manual_seed(0)
    X = torch.randn(200, 20, dtype=torch.float64)
    y = X[:, :2].sum(dim=1, keepdim=True)
    model = nn.Linear(20, 1, bias=False).double()
    optimizer = SGD(model.parameters(), lr=0.1, l1=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        (0.5 * (model(X) - y) ** 2).mean().backward()
        optimizer.step()
    weight = model.weight.detach()[0]
    assert (weight[2:] == 0.0).all()
    assert (weight[:2] > 0.5).all()


@paths
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_no_unit_is_ever_above_its_max_norm(fast, dtype):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(2, 5, 3), nn.ConvTranspose2d(5, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 7)
    ).to(dtype)
    optimizer = Adam(model, lr=0.1, max_norm=0.7)
    x = torch.randn(6, 2, 6, 6, dtype=dtype)
    for _ in range(10):
        optimizer.zero_grad()
        model(x).pow(2).mean().neg().exp().backward()
        optimizer.step()
        norms = [
            model[0].weight.flatten(1).norm(dim=1),
            model[1].weight.transpose(0, 1).flatten(1).norm(dim=1),
            model[3].weight.norm(dim=1),
        ]
        assert all(float(norm.max().detach()) <= 0.7 * (1 + 1e-6) for norm in norms)
    assert any(float(norm.max().detach()) > 0.69 for norm in norms)


@paths
def test_a_bias_has_no_max_norm(fast):
    bias = one(5.0, 0.0)
    SGD([bias], lr=0.1, max_norm=1.0).step()
    assert bias.item() == 5.0


def test_both_ways_give_the_same(monkeypatch):
    results = []
    for fast in (True, False):
        monkeypatch.setattr(RuleOptimizer, "fast", fast)
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(30, 40), nn.ReLU(), nn.Linear(40, 3)).double()
        options = {"clip_norm": 0.1, "weight_decay": 0.1, "l1": 1e-3, "max_norm": 0.5}
        optimizer = tw.nets.Nadam(model, lr=0.01, **options)
        X = torch.randn(50, 30, dtype=torch.float64)
        for _ in range(20):
            optimizer.zero_grad()
            model(X).pow(2).mean().backward()
            optimizer.step()
        results.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    torch.testing.assert_close(*results, rtol=1e-10, atol=1e-14)


def test_half_precision_goes_by_tensor_operations():
    weight = nn.Parameter(torch.ones(4, dtype=torch.bfloat16))
    weight.grad = torch.ones(4, dtype=torch.bfloat16)
    SGD([weight], lr=0.5).step()
    assert weight.dtype == torch.bfloat16
    assert weight.tolist() == [0.5] * 4


def test_an_empty_parameter_is_no_obstacle():
    empty, weight = nn.Parameter(torch.zeros(0)), nn.Parameter(torch.ones(1))
    empty.grad, weight.grad = torch.zeros(0), torch.ones(1)
    Adam([empty, weight], lr=0.5, clip_norm=1.0, max_norm=1.0).step()
    assert weight.item() == pytest.approx(0.5)


def test_a_step_without_gradients_does_nothing():
    weight = nn.Parameter(torch.ones(3))
    Adam([weight]).step()
    assert weight.tolist() == [1.0] * 3


def test_a_buffer_that_was_replaced_is_seen():
    weight = row([1.0], [1.0])
    optimizer = tw.nets.HeavyBall([weight], lr=0.1, momentum=0.5)
    optimizer.step()
    optimizer.state[weight]["momentum_buffer"] = torch.full((1, 1), 10.0, dtype=torch.float64)
    optimizer.step()  # m = 0.5·10 + 1
    assert weight.item() == pytest.approx(1.0 - 0.1 - 0.6)


def test_weights_that_were_moved_are_followed():
    weight = row([1.0], [1.0])
    optimizer = SGD([weight], lr=0.1)
    optimizer.step()
    weight.data = torch.full((1, 1), 5.0, dtype=torch.float64)
    optimizer.step()
    assert weight.item() == pytest.approx(4.9)


def test_kl_sparsity_holds_the_activations_of_a_model():
    torch.manual_seed(0)
    X = torch.randn(100, 5)
    means = {}
    for strength in (0.0, 1.0):
        model = nn.Sequential(nn.Linear(5, 8), nn.Sigmoid(), nn.Linear(8, 1))
        sparsity = tw.nets.KLSparsity(target=0.1, strength=strength)
        optimizer = Adam(model, lr=0.05, kl_sparsity=sparsity)
        for _ in range(200):
            optimizer.zero_grad()
            (model(X) - X[:, :1]).pow(2).mean().backward()
            optimizer.step()
        means[strength] = float(torch.sigmoid(model[0](X)).detach().mean())
    assert means[1.0] == pytest.approx(0.1, abs=0.03)
    assert means[0.0] > 0.3


def test_kl_sparsity_without_a_model_is_refused():
    with pytest.raises(InputError, match="kl_sparsity needs the model"):
        SGD([one()], kl_sparsity=tw.nets.KLSparsity())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"clip_norm": 0.0}, "clip_norm must be above 0, got 0.0: None is no limit"),
        ({"max_norm": -1.0}, "max_norm must be above 0"),
        ({"l1": -1.0}, "l1 must be at least 0"),
        ({"weight_decay": -1.0}, "weight_decay must be at least 0"),
        ({"lr": math.nan}, "lr must be"),
    ],
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        SGD([one()], **options)


def test_a_group_that_was_refused_is_not_added():
    optimizer = SGD([one()], lr=0.1)
    with pytest.raises(InputError):
        optimizer.add_param_group({"params": [one()], "lr": -1.0})
    assert len(optimizer.param_groups) == 1


@paths
def test_a_state_that_was_replaced_or_removed_begins_anew(fast):
    first, second, untouched = (row([1.0, 2.0], [0.5, -0.25]) for _ in range(3))
    optimizer = Adam([first, second, untouched], lr=0.1)
    for _ in range(3):
        optimizer.step()
    before = first.detach().clone()
    optimizer.state[first] = {}
    del optimizer.state[second]
    optimizer.step()
    for weight in (first, second):  # the first step is the sign of g
        np.testing.assert_allclose((weight - before).detach().numpy()[0], [-0.1, 0.1], rtol=1e-6)
        assert optimizer.state[weight]["step"] == 1
    assert optimizer.state[untouched]["step"] == 4


@paths
def test_a_buffer_that_was_replaced_is_used(fast):
    weight = row([0.0], [1.0])
    optimizer = SGD([weight], lr=1.0, momentum=0.5)
    optimizer.step()  # m = 1
    optimizer.state[weight]["momentum_buffer"] = torch.tensor([[4.0]], dtype=torch.float64)
    optimizer.step()  # m = 0.5·4 + 1
    assert weight.item() == -4.0
