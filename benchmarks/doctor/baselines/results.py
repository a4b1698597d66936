"""What the four detectors said of every program, put down in `baselines.json`, and counted.

    results("held-out")["UMLAUT"].detected

A cause is right if it is the program's, or one of those that are no wrong answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from doctor.baselines.run import DETECTORS
from doctor.baselines.verdict import Verdict, verdict
from doctor.program import Program
from doctor.wilson import wilson
from doctor.zoo import PROGRAMS, is_held_out

STORED = Path(__file__).parents[1] / "baselines.json"
PARTS = ("held-out", "rest", "all")


class Counts(NamedTuple):
    """Of one detector, over some programs."""

    faults: int  # programs with one
    detected: int  # of them, those it found something in
    first: int  # and named a right cause first
    anywhere: int  # or at all
    healthy: int  # programs
    alarms: int  # of them, those it found something in


def part_of(part: str) -> list[Program]:
    """The programs of "held-out", "rest" or "all"."""
    return [p for p in PROGRAMS if part == "all" or is_held_out(p) == (part == "held-out")]


def results(part: str = "held-out") -> dict[str, Counts]:
    """The counts of each detector, from what was put down."""
    said, programs = stored(), part_of(part)
    if missing := sum(program.name not in said for program in programs):
        raise ValueError(
            f"{STORED.name} must have all programs of the part, {missing} of {part!r} are not in "
            "it: run python benchmarks/baselines.py --part all --write --missing"
        )
    return {name: count(programs, {p: said[p][name] for p in said}) for name in DETECTORS}


def count(programs: Iterable[Program], said: Mapping[str, Verdict]) -> Counts:
    """The counts of one detector, from its verdicts by the names of programs."""
    faults = detected = first = anywhere = healthy = alarms = 0
    for program in programs:
        found = said[program.name]
        if program.fault is None:
            healthy += 1
            alarms += found.detected
            continue
        right = {program.fault.cause, *program.fault.alternatives}
        faults += 1
        detected += found.detected
        first += found.causes[0] in right if found.causes else False
        anywhere += not right.isdisjoint(found.causes)
    return Counts(faults, detected, first, anywhere, healthy, alarms)


def table(counts: Mapping[str, Counts]) -> str:
    """Shares in percent with Wilson's intervals, a line for each detector."""
    heads = ("faults detected", "right cause first", "right cause named", "healthy with alarm")
    lines = [f"{'':<16}" + "".join(f"{head:>30}" for head in heads)]
    for name, c in counts.items():
        shares = ((c.detected, c.faults), (c.first, c.faults), (c.anywhere, c.faults),
                  (c.alarms, c.healthy))  # fmt: skip
        lines.append(f"{name:<16}" + "".join(f"{share(k, n):>30}" for k, n in shares))
    return "\n".join(lines)


def share(k: int, n: int) -> str:
    """`k` of `n` in percent, and its interval."""
    low, high = wilson(k, n)
    return f"{k}/{n} {100 * k / max(n, 1):.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def stored() -> dict[str, dict[str, Verdict]]:
    """By the name of the program and of the detector."""
    if not STORED.exists():
        return {}
    return {
        program: {name: verdict(causes) for name, causes in said.items()}
        for program, said in json.loads(STORED.read_text()).items()
    }


def store(said: Mapping[str, Mapping[str, Verdict]]) -> None:
    """Put verdicts down, a line for each program."""
    lines = [
        f"{json.dumps(program)}: {json.dumps({n: v.causes for n, v in by_name.items()})}"
        for program, by_name in sorted(said.items())
    ]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
