import math

import numpy as np
import pytest
import torch

import thalweg as tw
from thalweg.nets.initializers.log_odds import log_odds


def test_by_hand():
    b = log_odds([0, 0, 0, 1])
    np.testing.assert_allclose(b, [math.log(3) / 2, -math.log(3) / 2])
    assert (b[1] - b[0]).item() == pytest.approx(math.log(0.25 / 0.75))


@pytest.mark.parametrize("labels", [[0, 1, 1, 2, 2, 2], torch.tensor([0, 1, 1, 2, 2, 2.0])])
def test_softmax_gives_the_shares_back(labels):
    b = log_odds(labels)
    np.testing.assert_allclose(torch.softmax(b, 0), np.array([1, 2, 3]) / 6)
    assert b.sum().item() == pytest.approx(0.0)
    np.testing.assert_allclose(b, log_odds(shares=[1 / 6, 1 / 3, 1 / 2]))


def test_balanced_classes_have_no_bias():
    assert log_odds(np.repeat(np.arange(10), 7)).abs().max() < 1e-15


def test_a_class_without_a_sample_counts_as_one():
    np.testing.assert_allclose(torch.softmax(log_odds([0, 0, 1], classes=3), 0), [0.5, 0.25, 0.25])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "log_odds needs labels or shares"),
        ({"labels": [0, 1], "shares": [0.5, 0.5]}, "log_odds needs labels or shares"),
        ({"labels": "abc"}, "labels must be numbers, got 'abc'"),
        ({"labels": []}, "at least one label"),
        ({"labels": [0.5, 1.0]}, "labels must be whole numbers"),
        ({"labels": [0.0, float("nan")]}, "labels must be whole numbers"),
        ({"labels": [0, 3], "classes": 3}, r"labels must lie in 0, …, 2, got 3"),
        ({"labels": [-1, 3]}, r"labels must lie in 0, …, 3, got -1"),
        ({"shares": [1.0, 0.0]}, "shares must be two positive numbers or more"),
        ({"shares": [0.5, 0.5], "classes": 3}, "shares must be 3, as classes are, got 2"),
    ],
)
def test_bad_input(arguments, said):
    with pytest.raises(tw.InputError, match=said):
        log_odds(**arguments)
