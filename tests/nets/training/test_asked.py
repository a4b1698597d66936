import inspect

import thalweg as tw
from thalweg.nets.training.asked import Companions, Goal, Limits, Rows


def test_the_groups_are_the_arguments_of_fit():
    groups = [name for group in (Goal, Rows, Companions, Limits) for name in group._fields]
    assert len(set(groups)) == len(groups)
    assert {"model", *groups} == set(inspect.signature(tw.nets.fit).parameters)
