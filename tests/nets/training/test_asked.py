import inspect

import pytest
import torch

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.nets.training.asked import Companions, Goal, Limits, More, Rows, more_of


def test_the_groups_are_the_arguments_of_fit():
    groups = [name for group in (Goal, Rows, Companions, Limits) for name in group._fields]
    assert len(set(groups)) == len(groups)
    listed = set(inspect.signature(tw.nets.fit).parameters) - {"more"}
    assert listed.isdisjoint(More.__annotations__)
    assert {"model", *groups} == listed | set(More.__annotations__)


def test_what_is_seldom_asked_goes_to_its_group():
    more = More(shuffle=False, accumulate=2, scheduler="s", precision="bfloat16")
    assert more_of(Rows, more) == {"shuffle": False, "accumulate": 2}
    assert more_of(Goal, more) == {"precision": "bfloat16"}
    assert Companions((), (), **more_of(Companions, more)).scheduler == "s"
    assert more_of(Limits, more) == {}


def test_a_name_that_fit_does_not_know_is_refused_with_the_nearest():
    data = torch.zeros(4, 1), torch.zeros(4, 1)
    with pytest.raises(InputError, match="'shufle': did you mean 'shuffle'"):
        tw.nets.fit(torch.nn.Linear(1, 1), data, "sgd", "squared", shufle=False)
