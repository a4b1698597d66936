import math

import pytest
import torch
from torch import nn
from torch.nn import functional

import thalweg as tw
from records import facts_of
from thalweg.core.finding import Severity
from thalweg.doctor.nets.facts.network_facts import network_facts
from thalweg.doctor.nets.symptoms.not_finite import not_finite

X, Y = torch.linspace(-1.0, 1.0, 32).reshape(16, 2), torch.arange(16) % 2


def watched(model, x=X, lr=0.1, steps=4, loss=functional.cross_entropy):
    """The record of a plain loop, every step of it."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    with tw.watch(model, optimizer, every=1) as w:
        for _ in range(steps):
            optimizer.zero_grad()
            value = loss(model(x), Y)
            value.backward()
            optimizer.step()
            w.step(value)
    return w.record


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))


def test_a_healthy_training_has_none():
    assert not_finite(network_facts(watched(net()))) == []


def test_a_step_far_too_long_overflows_in_the_forward_pass():
    def squared(z, y):
        return ((z - y[:, None]) ** 2).sum()

    (finding,) = not_finite(network_facts(watched(net(), lr=1e12, steps=6, loss=squared)))
    assert finding.severity is Severity.ACT
    assert finding.evidence["where"] in ("forward", "loss", "gradient")
    assert finding.measured == finding.evidence["step"] >= 2
    assert finding.advice


def test_inputs_come_first():
    x = X.clone()
    x[3, 1] = torch.nan
    (finding,) = not_finite(network_facts(watched(net(), x)))
    assert finding.evidence["where"] == "inputs"
    assert finding.evidence["step"] == 1
    assert "before training" in finding.advice


def test_a_root_at_zero_spoils_the_gradient_alone():
    def rooted(z, y):
        return torch.sqrt((z - z.detach()) ** 2).sum()  # 0, and its derivative 0/0

    (finding,) = not_finite(network_facts(watched(net(), loss=rooted, steps=1)))
    assert finding.evidence["where"] == "gradient"


@pytest.mark.parametrize("healthy", [True, False])
def test_diagnose_has_it(healthy):
    record = watched(net(), X if healthy else X / 0.0)
    names = [finding.name for finding in tw.doctor.diagnose(record)]
    assert ("not a number" in names) is not healthy


def test_a_batch_that_was_not_seen_is_not_to_blame():
    (finding,) = not_finite(facts_of(bad_step=2, bad_where="gradient", input_not_finite=math.nan))
    assert finding.evidence["where"] == "gradient"
