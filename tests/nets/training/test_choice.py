import copy

import pytest
import torch
from torch import nn

import thalweg as tw
from small_nets import mlp
from thalweg.core.errors import InputError
from thalweg.nets.training.choice import known_names, name_of, optimizer_of, options_of


def test_by_name_with_options():
    model = mlp()
    made = optimizer_of("adam[lr=0.5, betas=(0.8, 0.9), clip_norm=1.0]", model)
    assert type(made) is tw.nets.Adam
    assert options_of(made)["betas"] == (0.8, 0.9)
    assert options_of(made)["clip_norm"] == 1.0
    assert "params" not in options_of(made)
    assert optimizer_of("sgd", model, lr=0.25).param_groups[0]["lr"] == 0.25
    assert optimizer_of("sgd[lr=1]", model, lr=0.25).param_groups[0]["lr"] == 1


@pytest.mark.parametrize("name", known_names())
def test_every_name_makes_its_optimizer_and_is_its_name(name):
    assert name_of(optimizer_of(name, mlp())) == name


def test_by_a_function_and_as_it_is():
    model = mlp()
    made = optimizer_of(lambda params: torch.optim.Adam(params, lr=0.1), model)
    assert name_of(made) == "Adam"
    assert optimizer_of(made, model) is made


def test_a_loss_may_bring_parameters_of_its_own():
    model, loss = mlp(), nn.Linear(1, 1)
    both = torch.optim.SGD([*model.parameters(), *loss.parameters()], lr=0.1)
    assert optimizer_of(both, model, loss) is both


def of_another():
    return torch.optim.SGD(copy.deepcopy(mlp()).parameters(), lr=0.1)


def of_two():
    return lambda params: torch.optim.SGD([*params, *nn.Linear(1, 1).parameters()], lr=0.1)


@pytest.mark.parametrize(
    ("optimizer", "says"),
    [
        (of_another(), "got SGD with none of them: it belongs to another model, or to a copy"),
        (of_two(), "with 2 of 6 that are not"),
        (lambda params: torch.optim.SGD(params[:1], lr=0.1), "without 0.bias, 2.weight, 2.bias"),
        ("adamm", "did you mean 'adam'"),
        ("adam[lr]", "options must read name=value, got 'lr'"),
        ("adam[lr=0.1", "must read name or name"),
        ("adam[rate=0.1]", "cannot be made: .*unexpected keyword argument 'rate'"),
        ("adam[lr=-1]", "lr must be at least 0"),
        (3, "must be a name, an optimizer or a function that makes one, got 3"),
        (lambda params: "sgd", "must make a torch.optim.Optimizer"),
    ],
)
def test_sentences(optimizer, says):
    with pytest.raises(InputError, match=says):
        optimizer_of(optimizer, mlp())


def test_frozen_parameters_need_no_optimizer():
    model = mlp()
    model[0].requires_grad_(False)
    assert optimizer_of(torch.optim.SGD(model[2].parameters(), lr=0.1), model)
