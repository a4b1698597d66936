"""All programs, and which of them are held out.

A third of the fault families and a third of the healthy programs is held out, by the order of the
SHA-256 of their names: nobody chose. Thresholds are set on the rest. The list is written down in
`held_out.json`, and a test says when rule and list part.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from doctor.faulty import FAULTY
from doctor.healthy import HEALTHY
from doctor.program import Program

PROGRAMS = [*HEALTHY, *FAULTY]
WRITTEN = Path(__file__).with_name("held_out.json")


def families() -> list[str]:
    """All fault families, in the order of the zoo."""
    return list(dict.fromkeys(program.family for program in FAULTY))


def third(names: Iterable[str]) -> list[str]:
    """The third of the names whose hashes come first."""
    ranked = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return sorted(ranked[: round(len(ranked) / 3)])


def by_rule() -> dict[str, list[str]]:
    """What the rule holds out."""
    return {
        "families": third(families()),
        "healthy": third(program.name for program in HEALTHY),
    }


@cache
def written() -> dict[str, list[str]]:
    """What is held out."""
    return json.loads(WRITTEN.read_text())


def is_held_out(program: Program) -> bool:
    """Whether no threshold may be set on this program."""
    if program.is_healthy:
        return program.name in written()["healthy"]
    return program.family in written()["families"]
