"""Every optimizer against torch's own of that name, on recorded gradients; options and their order."""

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg import rules
from thalweg.nets.optimizers.optimizer import RuleOptimizer

PAIRS = {
    "SGD": (tw.nets.SGD, torch.optim.SGD, [{}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}]),
    "SGD-nesterov": (tw.nets.SGD, torch.optim.SGD, [{"momentum": 0.8, "nesterov": True}]),
    "HeavyBall": (tw.nets.HeavyBall, lambda p, **o: torch.optim.SGD(p, momentum=0.9, **o), [{}]),
    "Nesterov": (
        tw.nets.Nesterov,
        lambda p, **o: torch.optim.SGD(p, momentum=0.9, nesterov=True, **o),
        [{}],
    ),
    "AdaGrad": (tw.nets.AdaGrad, torch.optim.Adagrad, [{}, {"lr_decay": 0.1, "initial_accumulator_value": 0.5}]),
    "RMSProp": (tw.nets.RMSProp, torch.optim.RMSprop, [{}, {"momentum": 0.9, "alpha": 0.9}]),
    "Adam": (tw.nets.Adam, torch.optim.Adam, [{}, {"betas": (0.8, 0.95), "eps": 1e-4}, {"decoupled_weight_decay": True}]),
    "Nadam": (tw.nets.Nadam, torch.optim.NAdam, [{}, {"momentum_decay": 0.1}, {"decoupled_weight_decay": True}]),
}
CASES = [(name, options) for name, (_, _, given) in PAIRS.items() for options in given]


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 20), nn.Tanh(), nn.Linear(20, 10))


def conv_net():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))


@pytest.fixture(scope="module", params=[mlp, conv_net])
def recorded(request):
    """A net, and its gradients over 500 batches of digits under torch's own SGD."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X, y = torch.tensor(X / 16.0).reshape(-1, 1, 8, 8), torch.tensor(y)
    torch.manual_seed(0)
    model = request.param().double()
    first = copy.deepcopy(model)
    steps = torch.optim.SGD(model.parameters(), lr=0.05)
    gradients = []
    for _ in range(500):
        rows = torch.randint(len(X), (16,))
        steps.zero_grad()
        nn.functional.cross_entropy(model(X[rows]), y[rows]).backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
        steps.step()
    return first, gradients


def feed(model, optimizer, gradients, clip=None):
    for step in gradients:
        for parameter, gradient in zip(model.parameters(), step, strict=True):
            parameter.grad = gradient.clone()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
    return torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("clip", [None, 0.5])
@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_equals_torch(recorded, name, options, weight_decay, clip, fast, monkeypatch):
    monkeypatch.setattr(RuleOptimizer, "fast", fast)
    first, gradients = recorded
    ours, theirs, _ = PAIRS[name]
    gradients = gradients if fast else gradients[:100]
    models = copy.deepcopy(first), copy.deepcopy(first)
    options = {"lr": 0.01, "weight_decay": weight_decay, **options}
    own = feed(models[0], ours(models[0].parameters(), clip_norm=clip, **options), gradients)
    other = feed(models[1], theirs(models[1].parameters(), **options), gradients, clip)
    assert float((own - other).norm() / other.norm()) <= 1e-9
