"""What an experiment says of a claim: checks, and the verdict that follows from them.

claim        part of the claim that is to hold
as written   the claim as it stands in the lecture, where that needs a condition or is wrong
condition    the same under its condition
corrected    the statement that is true instead
noted        measured and shown; decides nothing

FAILS              a claim, a condition's or a corrected statement does not hold
HOLDS              all hold, as written too
HOLDS IF           as written it does not hold, under the condition it does
FAILS AS WRITTEN   as written it does not hold, corrected it does
NEEDS --full       nothing failed, and the budget is too small to tell
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from thalweg.core.checks import check_choice
from thalweg.core.errors import InputError

CLAIM, WRITTEN, CONDITION, CORRECTED, NOTED = ROLES = (
    "claim", "as written", "condition", "corrected", "noted",
)  # fmt: skip


class Ruling(StrEnum):
    """What was found about a claim."""

    HOLDS = "holds"
    HOLDS_IF = "holds if"
    FAILS_AS_WRITTEN = "fails as written"
    NEEDS_FULL = "needs --full"
    FAILS = "fails"


@dataclass(frozen=True)
class Check:
    """One statement, whether it held, and the numbers that show it."""

    statement: str  # "the gap is below the bound at every T"
    holds: bool | np.bool_  # kept as a plain bool
    measured: str  # "at most 0.71 of it, at T = 3"
    role: str = CLAIM

    def __post_init__(self) -> None:
        check_choice("role", self.role, ROLES)
        object.__setattr__(self, "holds", bool(self.holds))


def judge(checks: Sequence[Check], *, undecided: bool = False) -> Ruling:
    """The verdict on a claim; `undecided` where only a larger budget can tell."""
    held = {role: [bool(each.holds) for each in checks if each.role == role] for role in ROLES}
    if not any(held[role] for role in (CLAIM, WRITTEN, CONDITION, CORRECTED)):
        raise InputError("checks must judge something, got none but noted ones: a claim is missing")
    if not all(held[CLAIM] + held[CONDITION] + held[CORRECTED]):
        return Ruling.FAILS
    if undecided:
        return Ruling.NEEDS_FULL
    if all(held[WRITTEN]):
        return Ruling.HOLDS
    if held[CORRECTED]:
        return Ruling.FAILS_AS_WRITTEN
    return Ruling.HOLDS_IF if held[CONDITION] else Ruling.FAILS
