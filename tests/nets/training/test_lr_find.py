import copy

import numpy as np
import pytest
import torch
from torch import nn

import thalweg as tw
from small_nets import digits, mlp, weights
from thalweg.core.errors import InputError
from thalweg.nets.training.lr_find import judge, running_median

X, Y = digits()
RATES = np.geomspace(1e-6, 10.0, 100)


def curve(rng, noise, spikes=()):
    """Flat to 1e-3, falling to 0.1, then rising; with noise and spikes."""
    log = np.log10(RATES)
    loss = 2.3 - 1.8 * np.clip((log + 3) / 2, 0, 1) + 30 * np.clip(log + 0.5, 0, None) ** 2
    loss = loss + noise * rng.standard_normal(100)
    loss[list(spikes)] = 50.0
    return loss


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("spikes", [(), (2, 40), (60,)])
def test_a_known_curve_with_noise_and_spikes(noise, spikes):
    rng = np.random.default_rng(0)
    found = judge(RATES, np.array([curve(rng, noise, spikes) for _ in range(3)]))
    assert found.is_usable
    assert 3e-4 < found.lowest < 1e-2
    assert 0.05 < found.highest < 0.6
    assert found.lowest < found.suggested < found.highest


def test_running_median_by_hand():
    assert running_median(np.array([1.0, 9.0, 2.0, 3.0]), 3).tolist() == [5.0, 2.0, 3.0, 2.5]


def test_noise_alone_is_no_range():
    usable = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        found = judge(RATES, 2.3 + 0.2 * rng.standard_normal((3, 100)))
        usable += found.is_usable
        assert found.is_usable or "its noise is" in found.reason
    assert usable == 0


def test_a_loss_that_only_rises_and_one_that_is_ruined_at_once():
    rising = np.tile(np.linspace(1.0, 9.0, 100), (3, 1))
    assert not judge(RATES, rising).is_usable
    ruined = np.full((3, 100), np.inf)
    ruined[:, :2] = 2.0
    found = judge(RATES, ruined)
    assert (found.suggested, found.lowest, found.highest) == (None, None, None)
    assert "ruined at rates as small as 1e-06" in found.reason
    assert repr(found).startswith("NO USABLE RANGE")


def test_a_loss_that_still_falls_says_so():
    log = np.log10(RATES)
    found = judge(RATES, np.tile(2.3 - np.clip(log + 3, 0, None), (3, 1)))
    assert found.is_usable
    assert "still falls at the end" in found.reason


@pytest.mark.parametrize(("optimizer", "low", "high"), [("sgd", 1e-2, 10), ("adam", 1e-4, 1e-1)])
def test_the_rate_that_it_suggests_trains(optimizer, low, high):
    found = tw.nets.lr_find(mlp(), (X, Y), optimizer)
    assert low <= found.suggested <= high, found
    model = mlp()
    run = tw.nets.fit(model, (X, Y), f"{optimizer}[lr={found.suggested}]", epochs=5)
    assert run.trace["training_loss"][-1] < 0.6 * run.trace["training_loss"][0]
    assert repr(found).startswith(f"lr = {found.suggested:.2g}  for {optimizer}")


def test_model_optimizer_and_generators_are_left_exactly_as_they_were():
    model = nn.Sequential(nn.BatchNorm1d(64), *mlp(dropout=0.2)).eval()
    adam = tw.nets.Adam(model, lr=0.125)
    model(X[:4]).sum().backward()
    adam.step()
    before, state = copy.deepcopy(model.state_dict()), copy.deepcopy(adam.state_dict())
    gradient, generator = model[1].weight.grad.clone(), torch.random.get_rng_state()
    tw.nets.lr_find(model, (X, Y), adam, steps=20, seeds=1)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])
    after = adam.state_dict()
    assert after["param_groups"] == state["param_groups"]
    for key, moments in state["state"].items():
        for name, value in moments.items():
            assert torch.equal(torch.as_tensor(after["state"][key][name]), torch.as_tensor(value))
    assert torch.equal(model[1].weight.grad, gradient)
    assert torch.equal(torch.random.get_rng_state(), generator)
    assert not model.training


def test_groups_keep_their_proportions():
    model = mlp()
    seen = []

    class Noted(torch.optim.SGD):
        def step(self, closure=None):
            seen.append([group["lr"] for group in self.param_groups])
            return super().step(closure)

    groups = [{"params": model[0].parameters(), "lr": 0.2}, {"params": model[2].parameters()}]
    tw.nets.lr_find(model, (X, Y), Noted(groups, lr=0.1), steps=20, seeds=1)
    assert seen[0] == pytest.approx([1e-7, 5e-8])
    assert all(pair[1] == pytest.approx(0.5 * pair[0]) for pair in seen)


def test_labels_without_pattern_and_zero_weights_give_no_rate():
    model = nn.Linear(3, 2)
    rng = torch.Generator().manual_seed(0)
    x, y = torch.randn(20000, 3, generator=rng), torch.randint(2, (20000,), generator=rng)
    with torch.no_grad():
        model.weight.zero_(), model.bias.zero_()
    found = tw.nets.lr_find(model, (x, y), "sgd")
    assert not found.is_usable
    assert torch.equal(weights(model), torch.zeros(8))


def test_sentences():
    with pytest.raises(InputError, match="highest must be above 1"):
        tw.nets.lr_find(mlp(), (X, Y), lowest=1.0, highest=0.1)
    with pytest.raises(InputError, match="steps must be a whole number, at least 20"):
        tw.nets.lr_find(mlp(), (X, Y), steps=3)
    with pytest.raises(InputError, match="got a generator"):
        tw.nets.lr_find(mlp(), iter([(X, Y)]))
    with pytest.raises(InputError, match="got 10 in row"):
        tw.nets.lr_find(mlp(), (X, Y + 1))
