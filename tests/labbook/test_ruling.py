from itertools import product

import numpy as np
import pytest

import thalweg as tw
from thalweg.labbook.ruling import (
    CLAIM,
    CONDITION,
    CORRECTED,
    NOTED,
    WRITTEN,
    Check,
    Ruling,
    judge,
)


def checks(**held):
    """Checks by role: checks(claim=[True], written=[False])."""
    roles = {
        "claim": CLAIM, "written": WRITTEN, "condition": CONDITION, "corrected": CORRECTED,
        "noted": NOTED,
    }  # fmt: skip
    return [Check("s", each, "m", roles[name]) for name, all_ in held.items() for each in all_]


@pytest.mark.parametrize(
    ("held", "verdict"),
    [
        ({"claim": [True, True]}, Ruling.HOLDS),
        ({"claim": [True, False]}, Ruling.FAILS),
        ({"claim": [True], "noted": [False]}, Ruling.HOLDS),
        ({"claim": [True], "written": [False], "condition": [True]}, Ruling.HOLDS_IF),
        ({"written": [False], "condition": [True, False]}, Ruling.FAILS),
        ({"written": [False], "corrected": [True]}, Ruling.FAILS_AS_WRITTEN),
        ({"written": [False], "condition": [True], "corrected": [True]}, Ruling.FAILS_AS_WRITTEN),
        ({"written": [False], "corrected": [False]}, Ruling.FAILS),
        ({"written": [False], "claim": [True]}, Ruling.FAILS),
        ({"written": [True], "condition": [True]}, Ruling.HOLDS),
        ({"claim": [False], "written": [False], "condition": [True]}, Ruling.FAILS),
    ],
)
def test_verdict_follows_from_the_checks(held, verdict):
    assert judge(checks(**held)) is verdict


def test_a_failed_part_is_never_hidden_by_another():
    for claim, written, condition, corrected in product([True, False], repeat=4):
        found = judge(
            checks(claim=[claim], written=[written], condition=[condition], corrected=[corrected])
        )
        assert (found is Ruling.FAILS) == (not (claim and condition and corrected))


def test_undecided_needs_more_unless_something_failed():
    assert judge(checks(claim=[True]), undecided=True) is Ruling.NEEDS_FULL
    assert judge(checks(claim=[False]), undecided=True) is Ruling.FAILS


def test_something_must_be_judged():
    with pytest.raises(tw.InputError, match="a claim is missing"):
        judge(checks(noted=[True]))


def test_a_check_holds_plain_truth_and_a_known_role():
    assert Check("s", np.bool_(True), "m").holds is True
    with pytest.raises(tw.InputError, match="role must be"):
        Check("s", True, "m", "claimed")
