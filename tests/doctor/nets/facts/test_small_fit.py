import torch
from torch import nn
from torch.nn import functional

from thalweg.doctor.nets.facts import small_fit as module
from thalweg.doctor.nets.facts.measured import Measured
from thalweg.doctor.nets.facts.small_fit import SAMPLES, _rows, small_fit

X = torch.randn(64, 6, generator=torch.Generator().manual_seed(1))
Y = torch.arange(64) % 4


def net(*layers):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), *layers, nn.Linear(32, 4))


def fit(model, **settings):
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    return small_fit(model, functional.cross_entropy, X, Y, optimizer)


def test_a_good_rate_fits_sixteen_samples():
    found = fit(net(), lr=0.3, momentum=0.9)
    assert found.small_fit < 0.02
    assert found.small_fit_standard < 0.1


def test_the_optimizer_is_at_fault():
    timid = fit(net(), lr=1e-6)
    assert timid.small_fit > 0.9
    assert timid.small_fit_standard < 0.1
    wild = fit(net(), lr=1e6)
    assert wild.small_fit > 1.0


def test_the_network_is_at_fault():
    class Zero(nn.Module):
        def forward(self, x):
            return 0 * x

    found = fit(net(Zero()), lr=0.3)
    assert found.small_fit > 0.9
    assert found.small_fit_standard > 0.9


def test_nothing_is_left_changed():
    model = net(nn.Dropout(0.5), nn.BatchNorm1d(32))
    before, state = {k: v.clone() for k, v in model.state_dict().items()}, torch.get_rng_state()
    optimizer = torch.optim.Adam(model.parameters())
    small_fit(model, functional.cross_entropy, X, Y, optimizer)
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())
    assert not optimizer.state


def test_adamw_is_made_again():
    model = net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    assert small_fit(model, functional.cross_entropy, X, Y, optimizer).small_fit < 0.1


def test_without_an_optimizer_only_adam():
    found = small_fit(net(), functional.cross_entropy, X, Y, None)
    assert set(found.scalars()) == {"small_fit_standard"}


def test_classes_take_turns():
    y = torch.tensor([0] * 50 + [1] * 3 + [2])
    rows = _rows(y)
    assert len(rows) == SAMPLES
    assert y[rows].bincount().tolist() == [12, 3, 1]
    assert _rows(torch.zeros(5)) == [0, 1, 2, 3, 4]


def test_a_network_that_takes_long_is_left_out(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.0)
    assert fit(net(), lr=0.3) == Measured()
