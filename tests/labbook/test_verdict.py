from itertools import product

import numpy as np
import pytest

import thalweg as tw
from thalweg.labbook.verdict import (
    CLAIM,
    CONDITION,
    CORRECTED,
    NOTED,
    WRITTEN,
    Check,
    Verdict,
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
        ({"claim": [True, True]}, Verdict.HOLDS),
        ({"claim": [True, False]}, Verdict.FAILS),
        ({"claim": [True], "noted": [False]}, Verdict.HOLDS),
        ({"claim": [True], "written": [False], "condition": [True]}, Verdict.HOLDS_IF),
        ({"written": [False], "condition": [True, False]}, Verdict.FAILS),
        ({"written": [False], "corrected": [True]}, Verdict.FAILS_AS_WRITTEN),
        ({"written": [False], "condition": [True], "corrected": [True]}, Verdict.FAILS_AS_WRITTEN),
        ({"written": [False], "corrected": [False]}, Verdict.FAILS),
        ({"written": [False], "claim": [True]}, Verdict.FAILS),
        ({"written": [True], "condition": [True]}, Verdict.HOLDS),
        ({"claim": [False], "written": [False], "condition": [True]}, Verdict.FAILS),
    ],
)
def test_verdict_follows_from_the_checks(held, verdict):
    assert judge(checks(**held)) is verdict


def test_a_failed_part_is_never_hidden_by_another():
    for claim, written, condition, corrected in product([True, False], repeat=4):
        found = judge(
            checks(claim=[claim], written=[written], condition=[condition], corrected=[corrected])
        )
        assert (found is Verdict.FAILS) == (not (claim and condition and corrected))


def test_undecided_needs_more_unless_something_failed():
    assert judge(checks(claim=[True]), undecided=True) is Verdict.NEEDS_FULL
    assert judge(checks(claim=[False]), undecided=True) is Verdict.FAILS


def test_something_must_be_judged():
    with pytest.raises(tw.InputError, match="a claim is missing"):
        judge(checks(noted=[True]))


def test_a_check_holds_plain_truth_and_a_known_role():
    assert Check("s", np.bool_(True), "m").holds is True
    with pytest.raises(tw.InputError, match="role must be"):
        Check("s", True, "m", "claimed")
