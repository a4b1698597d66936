"""What holds for every optimizer that follows a rule, as a table."""

import copy
import functools
import warnings

import pytest
import torch
from torch import nn

import thalweg as tw
from recording import conv_net, digits, distance, mlp, recorded
from thalweg.nets.optimizers.optimizer import RuleOptimizer

nets = tw.nets
momentum = functools.partial(torch.optim.SGD, momentum=0.9)
look_ahead = functools.partial(torch.optim.SGD, momentum=0.9, nesterov=True)

# Ours, torch's, and options that both have.
TABLE = [
    (nets.SGD, torch.optim.SGD, {}),
    (nets.SGD, torch.optim.SGD, {"momentum": 0.9, "dampening": 0.3}),
    (nets.SGD, torch.optim.SGD, {"momentum": 0.8, "nesterov": True}),
    (nets.HeavyBall, momentum, {}),
    (nets.Nesterov, look_ahead, {}),
    (nets.AdaGrad, torch.optim.Adagrad, {}),
    (nets.AdaGrad, torch.optim.Adagrad, {"lr_decay": 0.1, "initial_accumulator_value": 0.5}),
    (nets.RMSProp, torch.optim.RMSprop, {}),
    (nets.RMSProp, torch.optim.RMSprop, {"momentum": 0.9, "alpha": 0.9}),
    (nets.Adam, torch.optim.Adam, {}),
    (nets.Adam, torch.optim.Adam, {"betas": (0.8, 0.95), "eps": 1e-4}),
    (nets.Adam, torch.optim.Adam, {"decoupled_weight_decay": True}),
    (nets.Nadam, torch.optim.NAdam, {}),
    (nets.Nadam, torch.optim.NAdam, {"momentum_decay": 0.1}),
    (nets.Nadam, torch.optim.NAdam, {"decoupled_weight_decay": True}),
]
EVERY = [
    nets.SGD, nets.HeavyBall, nets.Nesterov, nets.AdaGrad, nets.RMSProp, nets.Adam, nets.Nadam,
]  # fmt: skip
every = pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__)


def trained(model, optimizer, steps=5, dtype=torch.float64, scheduler=None):
    """The model after some steps on the first digits."""
    X, y = digits()
    X = X.to(dtype)
    for k in range(steps):
        rows = slice(20 * k, 20 * k + 20)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(X[rows]), y[rows]).backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
    return model


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def fresh(dtype=torch.float64, make=mlp):
    return copy.deepcopy(recorded(make)[0]).to(dtype)


@pytest.mark.parametrize("clip", [None, 0.5])
@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
@pytest.mark.parametrize(("ours", "theirs", "options"), TABLE)
@pytest.mark.parametrize("make", [mlp, conv_net])
def test_equals_torch(make, ours, theirs, options, weight_decay, clip):
    options = {"lr": 0.01, "weight_decay": weight_decay, **options}
    assert distance(make, ours, theirs, options, clip=clip) <= 1e-9


@pytest.mark.parametrize(("ours", "theirs", "options"), TABLE)
def test_equals_torch_by_tensor_operations(ours, theirs, options, monkeypatch):
    monkeypatch.setattr(RuleOptimizer, "fast", False)
    options = {"lr": 0.01, "weight_decay": 0.01, **options}
    assert distance(mlp, ours, theirs, options, clip=0.5, steps=100) <= 1e-9


@every
def test_maximizes_as_torch_does(make):
    theirs = {
        "HeavyBall": momentum, "Nesterov": look_ahead, "AdaGrad": torch.optim.Adagrad,
        "RMSProp": torch.optim.RMSprop, "Nadam": torch.optim.NAdam,
    }.get(make.__name__) or getattr(torch.optim, make.__name__)  # fmt: skip
    options = {"lr": 0.01, "weight_decay": 0.1, "maximize": True}
    assert distance(mlp, make, theirs, options, steps=20) <= 1e-9


@every
def test_parameters_stay_where_they_are(make):
    model = fresh(torch.float32)
    before = [p.data_ptr() for p in model.parameters()]
    trained(model, make(model.parameters(), lr=0.01, max_norm=1.0), dtype=torch.float32)
    assert [p.data_ptr() for p in model.parameters()] == before


@every
def test_float32_is_within_its_rounding_of_float64(make):
    single, double = fresh(torch.float32), fresh(torch.float32).double()
    trained(single, make(single.parameters(), lr=0.01), dtype=torch.float32)
    trained(double, make(double.parameters(), lr=0.01))
    assert weights(single).dtype == torch.float32
    torch.testing.assert_close(weights(single).double(), weights(double), rtol=0, atol=2e-5)


@every
def test_goes_on_from_a_state_dict(make):
    whole, halves = fresh(), fresh()
    trained(whole, make(whole.parameters(), lr=0.01), steps=4)
    first = make(halves.parameters(), lr=0.01)
    X, y = digits()
    for k in range(4):
        if k == 2:
            saved = copy.deepcopy(first.state_dict())
            first = make(halves.parameters(), lr=0.5)
            first.load_state_dict(saved)
        rows = slice(20 * k, 20 * k + 20)
        first.zero_grad()
        nn.functional.cross_entropy(halves(X[rows]), y[rows]).backward()
        first.step()
    assert torch.equal(weights(whole), weights(halves))


@pytest.mark.parametrize(("ours", "theirs", "options"), TABLE)
def test_takes_over_from_torch(ours, theirs, options):
    both, alone = fresh(), fresh()
    trained(alone, theirs(alone.parameters(), lr=0.01, **options), steps=3)
    other = theirs(both.parameters(), lr=0.01, **options)
    trained(both, other, steps=3)
    own = ours(both.parameters(), lr=0.01, **options)
    groups = own.state_dict()["param_groups"]
    learnt = copy.deepcopy(other.state_dict()["state"])
    own.load_state_dict({"state": learnt, "param_groups": groups})
    goes_on = theirs(alone.parameters(), lr=0.01, **options)
    goes_on.load_state_dict(other.state_dict())
    X, y = digits()
    for model, optimizer in ((alone, goes_on), (both, own)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(X[:50]), y[:50]).backward()
        optimizer.step()
    torch.testing.assert_close(weights(alone), weights(both), rtol=1e-6, atol=1e-9)


SCHEDULES = {
    "StepLR": {"step_size": 2},
    "ExponentialLR": {"gamma": 0.9},
    "CosineAnnealingLR": {"T_max": 5},
    "OneCycleLR": {"max_lr": 0.1, "total_steps": 10, "cycle_momentum": False},
    "CyclicLR": {"base_lr": 0.01, "max_lr": 0.1, "cycle_momentum": False},
    "LinearLR": {},
    "PolynomialLR": {},
}


@every
@pytest.mark.parametrize("name", SCHEDULES)
def test_follows_the_schedules_of_torch(make, name):
    model = fresh()
    optimizer = make(model.parameters(), lr=0.01)
    scheduler = getattr(torch.optim.lr_scheduler, name)(optimizer, **SCHEDULES[name])
    rates = []
    trained(model, optimizer, steps=3, scheduler=scheduler)
    rates.append(optimizer.param_groups[0]["lr"])
    other = torch.optim.SGD(fresh().parameters(), lr=0.01, momentum=0.9)
    theirs = getattr(torch.optim.lr_scheduler, name)(other, **SCHEDULES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no step came before the schedule's
        for _ in range(3):
            theirs.step()
    assert rates == [pytest.approx(other.param_groups[0]["lr"])]


@every
def test_a_rate_that_a_schedule_set_to_zero_moves_nothing(make):
    model = fresh()
    optimizer = make(model.parameters(), lr=0.01)
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    before = weights(model)
    trained(model, optimizer, steps=1)
    assert torch.equal(weights(model), before)


@every
def test_works_with_a_gradient_scaler(make):
    plain, scaled = fresh(torch.float32), fresh(torch.float32)
    trained(plain, make(plain.parameters(), lr=0.01), steps=1, dtype=torch.float32)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    optimizer = make(scaled.parameters(), lr=0.01)
    X, y = digits()
    loss = nn.functional.cross_entropy(scaled(X[:20].float()), y[:20])
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    torch.testing.assert_close(weights(plain), weights(scaled), rtol=1e-4, atol=1e-6)


@every
def test_parameters_without_a_gradient_are_left_alone(make):
    model = fresh()
    frozen = model[1].weight.detach().clone()
    model[1].weight.requires_grad_(False)
    trained(model, make(model.parameters(), lr=0.01, weight_decay=0.1))
    assert torch.equal(model[1].weight, frozen)


@every
def test_parameters_may_be_added_later(make):
    model = fresh()
    optimizer = make(model[1].parameters(), lr=0.01)
    trained(model, optimizer, steps=2)
    last = model[3].weight.detach().clone()
    optimizer.add_param_group({"params": list(model[3].parameters()), "lr": 0.02})
    trained(model, optimizer, steps=1)
    assert not torch.equal(model[3].weight, last)
    assert optimizer.state[model[3].weight]["step"] == 1
    assert optimizer.state[model[1].weight]["step"] == 3


@every
def test_a_sparse_gradient_counts_as_the_dense_one(make):
    results = []
    for sparse in (True, False):
        torch.manual_seed(0)
        table = nn.Embedding(10, 3, sparse=sparse)
        optimizer = make(table.parameters(), lr=0.1)
        for rows in ([1, 2, 2], [4, 1, 0]):
            optimizer.zero_grad()
            table(torch.tensor(rows)).pow(2).sum().backward()
            optimizer.step()
        results.append(table.weight.detach().clone())
    torch.testing.assert_close(*results)


@every
def test_a_complex_parameter_is_refused(make):
    with pytest.raises(tw.InputError, match="params must be real, got a parameter of torch"):
        make([nn.Parameter(torch.zeros(2, dtype=torch.complex64))], lr=0.1)


@every
def test_a_closure_is_called_once_with_gradients(make):
    model = fresh()
    optimizer = make(model.parameters(), lr=0.01)
    calls = []
    X, y = digits()

    def closure():
        calls.append(torch.is_grad_enabled())
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X[:20]), y[:20])
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    assert calls == [True]
    assert loss.item() > 0.0


@every
def test_layouts_give_the_same_step(make):
    plain = nn.Conv2d(3, 4, 3).double()
    turned = copy.deepcopy(plain).to(memory_format=torch.channels_last)
    x = torch.randn(2, 3, 8, 8, dtype=torch.float64)
    for model in (plain, turned):
        optimizer = make(model.parameters(), lr=0.1, max_norm=0.5)
        model(x).pow(2).sum().backward()
        optimizer.step()
    torch.testing.assert_close(plain.weight, turned.weight)


@every
def test_a_copy_and_a_pickle_go_on(make, tmp_path):
    model = fresh()
    optimizer = make(model.parameters(), lr=0.01)
    trained(model, optimizer, steps=2)
    model2, optimizer2 = copy.deepcopy((model, optimizer))
    trained(model, optimizer, steps=2)
    trained(model2, optimizer2, steps=2)
    assert torch.equal(weights(model), weights(model2))
