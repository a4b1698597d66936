import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from thalweg.doctor.nets.facts.outcome import outcome, outputs
from thalweg.doctor.nets.facts.task import task_of

X = torch.eye(4).repeat(8, 1)
Y = torch.arange(32) % 4


def perfect(gain=9.0):
    model = nn.Linear(4, 4, bias=False)
    nn.init.eye_(model.weight)
    with torch.no_grad():
        model.weight.mul_(gain)
    return model


def test_by_hand():
    task = task_of(X, Y, np.random.default_rng(0))
    found = outcome(perfect(), functional.cross_entropy, X, Y, task)
    assert found.score == found.skill == found.recall == 1.0
    expected = float(functional.cross_entropy(9.0 * X, Y))
    assert found.loss == pytest.approx(expected, rel=1e-5)


def test_a_class_that_is_never_told():
    model = perfect()
    with torch.no_grad():
        model.weight[3] = -1.0
    task = task_of(X, Y, np.random.default_rng(0))
    found = outcome(model, functional.cross_entropy, X, Y, task)
    assert found.score == 0.75
    assert found.recall == 0.0


def test_outputs_are_those_of_eval_mode_and_modes_stay():
    model = nn.Sequential(perfect(), nn.Dropout(0.5))
    model.train()
    assert torch.equal(outputs(model, X), 9.0 * X)
    assert model[1].training
