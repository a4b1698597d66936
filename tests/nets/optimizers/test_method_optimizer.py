"""What L-BFGS and truncated Newton share."""

import copy

import pytest
import torch
from torch import nn

from thalweg.core.errors import InputError
from thalweg.nets.optimizers.lbfgs import LBFGS
from thalweg.nets.optimizers.truncated_newton import TruncatedNewton

FAMILY = [LBFGS, TruncatedNewton]
family = pytest.mark.parametrize("make", FAMILY)


def problem(seed=0):
    """A network, and a closure as each of the family wants it."""
    torch.manual_seed(seed)
    X, y = torch.randn(60, 5, dtype=torch.float64), torch.randint(3, (60,))
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)).double()

    def loss():
        return nn.functional.cross_entropy(model(X), y)

    def closure(make):
        if make is TruncatedNewton:
            return loss

        def backward():
            model.zero_grad()
            value = loss()
            value.backward()
            return value

        return backward

    return model, loss, closure


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


@family
def test_every_step_lowers_the_loss(make):
    model, loss, closure = problem()
    optimizer = make(model.parameters(), weight_decay=1e-3)
    before = loss().item()
    for _ in range(5):
        returned = optimizer.step(closure(make))
        assert returned.item() == pytest.approx(before)
        now = loss().item()
        assert now < before
        before = now


@family
def test_goes_on_from_a_state_dict(make):
    whole, _, closure = problem()
    optimizer = make(whole.parameters())
    for _ in range(4):
        optimizer.step(closure(make))
    halves, _, closure = problem()
    first = make(halves.parameters())
    for _ in range(2):
        first.step(closure(make))
    saved = copy.deepcopy(first.state_dict())
    second = make(halves.parameters())
    second.load_state_dict(saved)
    for _ in range(2):
        second.step(closure(make))
    torch.testing.assert_close(weights(whole), weights(halves), rtol=1e-9, atol=1e-11)


@family
def test_parameters_stay_where_they_are_and_groups_have_their_own(make):
    model, loss, closure = problem()
    places = [p.data_ptr() for p in model.parameters()]
    groups = [
        {"params": list(model[0].parameters()), "lr": 0.1, "weight_decay": 0.1},
        {"params": list(model[2].parameters())},
    ]
    optimizer = make(groups)
    before = loss().item()
    for _ in range(3):
        optimizer.step(closure(make))
    assert loss().item() < before
    assert [p.data_ptr() for p in model.parameters()] == places


@family
def test_max_norm_holds_after_every_step(make):
    model, _, closure = problem()
    optimizer = make(model, max_norm=0.3)
    for _ in range(3):
        optimizer.step(closure(make))
        for layer in (model[0], model[2]):
            assert float(layer.weight.detach().norm(dim=1).max()) <= 0.3 * (1 + 1e-6)


@family
def test_parameters_may_be_added_later(make):
    model, loss, closure = problem()
    optimizer = make(model[0].parameters())
    optimizer.step(closure(make))
    before, last = loss().item(), model[2].weight.detach().clone()
    optimizer.add_param_group({"params": list(model[2].parameters())})
    optimizer.step(closure(make))
    assert loss().item() < before
    assert not torch.equal(model[2].weight, last)


@family
def test_a_loss_that_is_no_number_leaves_the_weights(make):
    model, _, _ = problem()
    before = weights(model)

    def closure():
        value = model[0].weight.sum() * float("nan")
        if make is LBFGS:
            value.backward()
        return value

    assert torch.isnan(make(model.parameters()).step(closure))
    assert torch.equal(weights(model), before)


@family
def test_float32_stays_float32(make):
    model, _, _ = problem()
    torch.manual_seed(0)
    single = copy.deepcopy(model).float()
    X, y = torch.randn(60, 5), torch.randint(3, (60,))

    def given():
        single.zero_grad()
        value = nn.functional.cross_entropy(single(X), y)
        if make is LBFGS:
            value.backward()
        return value

    optimizer = make(single.parameters())
    first = optimizer.step(given).item()
    assert given().item() < first
    assert all(p.dtype == torch.float32 for p in single.parameters())


@family
def test_bad_input_is_refused(make):
    model, _, _ = problem()
    with pytest.raises(InputError, match="step needs a closure"):
        make(model.parameters()).step()
    for name in ("clip_norm", "l1"):
        with pytest.raises(InputError, match=f"{name} is not for {make.__name__}"):
            make(model.parameters(), **{name: 1.0})
    with pytest.raises(TypeError, match="no argument 'wrong'"):
        make(model.parameters(), wrong=1)
    with pytest.raises(InputError, match="lr must be above 0"):
        make(model.parameters(), lr=0.0)
    with pytest.raises(InputError, match="params must be real"):
        make([nn.Parameter(torch.zeros(1, dtype=torch.complex64))])
