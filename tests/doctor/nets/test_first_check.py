import pytest
import torch
from torch import nn

import thalweg as tw
from small_nets import digits
from thalweg.core.errors import InputError
from thalweg.core.finding import Severity
from thalweg.doctor import causes


def net(*tail, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10), *tail)


def checked(model, data=None, loss="cross-entropy", **asked):
    return tw.doctor.check(model, digits() if data is None else data, loss, **asked)


def acts(*given, **asked):
    return [f.name for f in checked(*given, **asked) if f.severity is Severity.ACT]


def test_nothing_is_wrong():
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    assert checked(model, optimizer=optimizer) == []


def test_a_softmax_too_many():
    assert acts(net(nn.Softmax(1)))[0] == causes.WRONG_LOSS


def test_weights_of_zero_and_of_one_number():
    model = net()
    for p in model.parameters():
        nn.init.zeros_(p)
    assert acts(model)[0] == causes.SYMMETRIC
    model = net()
    nn.init.constant_(model[0].weight, 0.5)
    assert acts(model)[0] == causes.SYMMETRIC


def test_data_that_is_not_what_it_should_be():
    x, y = digits()
    assert acts(net(), (torch.zeros_like(x), y))[0] == causes.CONSTANT
    assert acts(net(), (torch.full_like(x, torch.nan), y))[0] == causes.NAN
    order = torch.randperm(400, generator=torch.Generator().manual_seed(0))
    torn, held = (x[:400], y[:400][order]), (x[400:], y[400:])
    assert acts(net(), torn, validation=held) == [causes.SHUFFLED]
    assert acts(net(), (x, y), validation=(x[:100], y[:100])) == [causes.LEAKING]
    copied = x.clone()
    copied[:, 5] = y
    assert acts(net(), (copied, y)) == [causes.LEAKING]


def test_nothing_can_be_learnt():
    class Cut(nn.Module):
        def forward(self, x):
            return 0 * x

    first, relu, last = net()
    assert acts(nn.Sequential(first, relu, Cut(), last)) == [causes.UNDERFITTING]


def test_a_rate_too_small_is_told_and_scores_too_large():
    model = net()
    timid = torch.optim.SGD(model.parameters(), lr=1e-7)
    assert [f.name for f in checked(model, optimizer=timid)] == [causes.RATE_SMALL]
    with torch.no_grad():
        model[2].weight.mul_(300)
    (finding,) = (f for f in checked(model) if f.name == causes.WRONG_LOSS)
    assert finding.severity is Severity.WARN


def test_nothing_is_left_changed():
    model = net(nn.BatchNorm1d(10), nn.Dropout(0.5))
    optimizer = torch.optim.Adam(model.parameters())
    before, state = {k: v.clone() for k, v in model.state_dict().items()}, torch.get_rng_state()
    checked(model, optimizer=optimizer)
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())
    assert all(p.grad is None for p in model.parameters())
    assert not optimizer.state
    assert model.training


def test_bad_input():
    with pytest.raises(InputError, match=r"check needs data, a pair \(x, y\), and the loss"):
        tw.doctor.check(net(), None, "cross-entropy")
    with pytest.raises(InputError, match=r"model must be a torch.nn.Module"):
        tw.doctor.check(3, digits(), "cross-entropy")
    with pytest.raises(InputError, match="labels of data must be in 0 … 1"):
        tw.doctor.check(nn.Linear(64, 2), digits(), "cross-entropy")
