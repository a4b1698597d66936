"""A family of faults: one way to go wrong, done to several healthy programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doctor.healthy import HEALTHY
from doctor.program import Fault, Program, changed
from thalweg.doctor.causes import CAUSES

TWINS = {program.name: program for program in HEALTHY}


def family(
    name: str,
    cause: str,
    alternatives: tuple[str, ...],
    why: str,
    source: str,
    cases: Mapping[str, Mapping[str, Any]],
    harm: str = "score",
    margin: float = 0.08,
) -> list[Program]:
    """A faulty program for each of `cases`: a twin's name, and what is changed in it."""
    assert {cause, *alternatives} <= set(CAUSES), name
    fault = Fault(name, cause, alternatives, why, source, harm, margin)
    return [
        changed(
            TWINS[twin], name=f"{name}/{twin}", fault=fault, twin=TWINS[twin], floor=None, **new
        )
        for twin, new in cases.items()
    ]
