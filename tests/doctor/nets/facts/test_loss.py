import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from thalweg.doctor.nets.facts.loss import last_activation, loss_facts

X = torch.randn(96, 4, generator=torch.Generator().manual_seed(0))
Y = torch.arange(96) % 3


def net(*tail, outputs=3):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, outputs), *tail)


def facts(model, loss=functional.cross_entropy, y=Y):
    return loss_facts(model, loss, X, y)


def test_cross_entropy_begins_at_log_k_and_can_reach_zero():
    found = facts(net())
    assert found.constant_loss == pytest.approx(math.log(3), abs=1e-3)
    assert found.reachable_loss < 0.02
    assert found.first_loss == pytest.approx(functional.cross_entropy(net()(X), Y).item())
    assert found.output_columns == 3.0


def test_unequal_classes_have_their_entropy():
    y = (torch.arange(96) % 4 == 0).long()
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert facts(net(outputs=2), y=y).constant_loss == pytest.approx(entropy, abs=1e-3)


def test_softmax_before_cross_entropy():
    least = math.log(2 + math.e) - 1
    assert facts(net(nn.Softmax(1))).reachable_loss == pytest.approx(least, abs=0.01)


def test_softmax_inside_forward_is_seen_in_the_outputs():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = net()

        def forward(self, x):
            return self.inner(x).softmax(1)

    found = facts(Model())
    assert found.reachable_loss == pytest.approx(math.log(2 + math.e) - 1, abs=0.01)


def test_log_probabilities_are_taken_as_such():
    found = facts(net(nn.LogSoftmax(1)), functional.nll_loss)
    assert found.constant_loss == pytest.approx(math.log(3), abs=1e-3)


def test_scores_given_to_a_loss_of_log_probabilities_have_no_least_value():
    assert facts(net(), functional.nll_loss).reachable_loss < -5


def test_a_flipped_sign_has_no_least_value():
    found = facts(net(), lambda z, y: -functional.cross_entropy(z, y))
    assert found.reachable_loss < -5


def test_squares_begin_at_the_variance():
    y = torch.linspace(-2.0, 2.0, 96)[:, None]
    found = facts(net(outputs=1), lambda z, t: functional.mse_loss(z, t) / 2, y)
    assert found.constant_loss == pytest.approx(float(y.var(correction=0)) / 2, rel=1e-3)
    assert found.reachable_loss < 1e-3
    tanh = facts(net(nn.Tanh(), outputs=1), lambda z, t: functional.mse_loss(z, t) / 2, y)
    beyond = (y.abs() - 1).clamp(min=0).square().mean() / 2
    assert tanh.reachable_loss == pytest.approx(float(beyond), abs=0.02)


def test_absolute_distances_are_reached_too():
    y = torch.linspace(-2.0, 2.0, 96)[:, None]
    assert facts(net(outputs=1), functional.l1_loss, y).reachable_loss < 0.02


def test_a_loss_of_probabilities_alone():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = net(outputs=1)

        def forward(self, x):
            return torch.sigmoid(self.inner(x))

    y = (Y == 1).float()[:, None]
    model = Model()
    tail = last_activation(model, model(X).detach(), functional.binary_cross_entropy, y)
    assert isinstance(tail, nn.Sigmoid)
    assert facts(model, functional.binary_cross_entropy, y).reachable_loss < 0.05


def test_nothing_is_left_changed():
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 3))
    before, state = {k: v.clone() for k, v in model.state_dict().items()}, torch.get_rng_state()
    facts(model)
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())
    assert all(p.grad is None for p in model.parameters())


def test_outputs_that_are_not_finite():
    model = net()
    nn.init.constant_(model[0].weight, math.inf)
    assert facts(model).constant_loss is None
