"""The role: nothing by default, the strength over time, and which weights are held back."""

import pytest
import torch
from torch import nn

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.nets.regularizers.regularizer import regularized


def network():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 5), nn.LayerNorm((5, 1))
    )


def test_does_nothing_by_default():
    model, regularizer = network(), tw.nets.Regularizer(1.0)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    regularizer.attach(model)
    assert regularizer.penalty(model, 0.5) == 0.0
    regularizer.after_step(model, 0.5, 0.1)
    regularizer.detach()
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_the_strength_follows_its_schedule():
    regularizer = tw.nets.Regularizer(3.0, "linear")
    assert [regularizer.strength_at(t) for t in (0.0, 0.5, 1.0)] == [0.0, 1.5, 3.0]


def test_biases_norms_and_frozen_weights_are_left_out():
    model = network()
    names = {id(p): name for name, p in model.named_parameters()}
    # The scale of this LayerNorm has two dimensions, and is one all the same.
    assert [names[id(p)] for p in regularized(model)] == ["0.weight", "3.weight"]
    assert len(regularized(model, biases=True)) == len(names)
    model[0].weight.requires_grad_(False)
    assert [names[id(p)] for p in regularized(model)] == ["3.weight"]


def test_a_negative_strength():
    with pytest.raises(InputError, match=r"strength must be at least 0, got -1.0"):
        tw.nets.Regularizer(-1.0)
