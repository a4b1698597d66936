import math

import pytest

from thalweg.core.errors import InputError
from thalweg.methods.schedule import SCHEDULES, check_schedule, check_step, scheduled


@pytest.mark.parametrize(
    ("schedule", "formula"),
    [
        ("constant", lambda t: 0.3),
        ("1/t", lambda t: 0.3 / t),
        ("1/sqrt(t)", lambda t: 0.3 / math.sqrt(t)),
        ("1/√t", lambda t: 0.3 / math.sqrt(t)),
    ],
)
def test_steps_follow_the_formula_and_begin_with_the_one_given(schedule, formula):
    steps = [scheduled(0.3, schedule, t) for t in range(1, 50)]
    # A root can be taken as a power, which is rounded otherwise.
    assert steps == pytest.approx([formula(t) for t in range(1, 50)], rel=1e-15, abs=0)
    assert scheduled(0.3, schedule, 1) == 0.3


def test_every_schedule_has_a_formula_above():
    assert set(SCHEDULES) == {"constant", "1/t", "1/sqrt(t)"}


def test_unknown_schedules_suggest_the_nearest():
    with pytest.raises(InputError, match=r"schedule must be a known name, got '1/tt'.*'1/t'\?"):
        check_schedule("1/tt")


@pytest.mark.parametrize("schedule", [name for name in SCHEDULES if name != "constant"])
def test_a_shrinking_step_needs_a_first_one(schedule):
    check_step(0.1, schedule)
    check_step(None, "constant")
    with pytest.raises(InputError) as caught:
        check_step(None, schedule)
    assert str(caught.value) == (
        f"schedule {schedule!r} needs a first step to shrink, got step=None: "
        "give step a number, or leave schedule out"
    )


@pytest.mark.parametrize("bad", [0, -0.1, float("nan"), "0.1"])
def test_a_step_is_positive_or_left_out(bad):
    with pytest.raises(InputError, match=r"step must be .*: leave it out to have it chosen"):
        check_step(bad)
