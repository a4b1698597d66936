"""Schedules: by hand, from 0 to 1, by name."""

import math
import pickle

import pytest

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.nets.regularizers.schedule import SCHEDULES, schedule_of


@pytest.mark.parametrize(
    ("schedule", "values"),
    [
        ("constant", [1.0, 1.0, 1.0, 1.0, 1.0]),
        ("linear", [0.0, 0.25, 0.5, 0.75, 1.0]),
        ("cosine", [0.0, (1 - math.sqrt(0.5)) / 2, 0.5, (1 + math.sqrt(0.5)) / 2, 1.0]),
        ("towards the end", [0.0, 0.0, 0.0, 0.0, 1.0]),
        (tw.nets.TowardsEnd(0.5), [0.0, 0.0, 1.0, 1.0, 1.0]),
        (tw.nets.LinearRamp(0.25, 0.75), [0.0, 0.0, 0.5, 1.0, 1.0]),
        (tw.nets.CosineRamp(0.5, 1.0), [0.0, 0.0, 0.0, 0.5, 1.0]),
        (lambda t: t * t, [0.0, 0.0625, 0.25, 0.5625, 1.0]),
    ],
)
def test_by_hand(schedule, values):
    found = schedule_of(schedule)
    assert [found(t / 4) for t in range(5)] == pytest.approx(values, abs=1e-15)


@pytest.mark.parametrize("name", SCHEDULES)
def test_never_falls_ends_at_one_and_pickles(name):
    values = [SCHEDULES[name](t / 100) for t in range(101)]
    assert values == sorted(values)
    assert values[-1] == 1.0
    assert pickle.loads(pickle.dumps(SCHEDULES[name])) == SCHEDULES[name]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: schedule_of("towards end"), "did you mean 'towards the end'"),
        (lambda: schedule_of(3), "schedule must be a known name, got 3"),
        (lambda: tw.nets.TowardsEnd(1.5), r"after must be in \[0, 1\], got 1.5"),
        (lambda: tw.nets.LinearRamp(0.5, 0.5), "stop must come after start, 0.5, got 0.5"),
    ],
)
def test_arguments_that_make_no_sense(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()
