"""What doctors named, counted: detected, right, the very cause, and false alarms.

A fault is *detected* if a doctor says anything at all, so that one that always speaks detects all:
read it beside the healthy programs in which it speaks too. A cause is *right* if it is the
program's or one of those that are no wrong answer; the *very* cause is the one that was put in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from doctor.program import Program
from doctor.wilson import wilson

Named = Mapping[str, Sequence[str]]  # causes, in order, by the name of the program


class Counts(NamedTuple):
    """Of one doctor, over some programs."""

    faults: int  # programs with one
    detected: int  # of them, those in which something was found
    first: int  # and a right cause was named first
    very: int  # and it was the very cause
    named: int  # or a right cause at all
    healthy: int  # programs
    alarms: int  # of them, those in which something was found


def count(programs: Iterable[Program], said: Named) -> Counts:
    """What one doctor said of these programs."""
    faults = detected = first = very = named = healthy = alarms = 0
    for program in programs:
        causes = said[program.name]
        if program.fault is None:
            healthy += 1
            alarms += bool(causes)
            continue
        right = {program.fault.cause, *program.fault.alternatives}
        faults += 1
        detected += bool(causes)
        first += is_right(program, causes)
        very += list(causes[:1]) == [program.fault.cause]
        named += not right.isdisjoint(causes)
    return Counts(faults, detected, first, very, named, healthy, alarms)


def is_right(program: Program, causes: Sequence[str]) -> bool:
    """Whether the first cause is no wrong answer; for a healthy program, none is right."""
    if program.fault is None:
        return not causes
    return bool(causes) and causes[0] in (program.fault.cause, *program.fault.alternatives)


def table(counts: Mapping[str, Counts]) -> str:
    """Shares in percent with Wilson's intervals, a line for each doctor."""
    heads = ("detected", "right cause first", "very cause first", "right cause named",
             "healthy with alarm")  # fmt: skip
    lines = [f"{'':<20}" + "".join(f"{head:>26}" for head in heads)]
    for name, c in counts.items():
        shares = [share(k, c.faults) for k in (c.detected, c.first, c.very, c.named)]
        shares.append(share(c.alarms, c.healthy))
        lines.append(f"{name:<20}" + "".join(f"{each:>26}" for each in shares))
    return "\n".join(lines)


def share(k: int, n: int) -> str:
    """`k` of `n` in percent, and its interval."""
    low, high = wilson(k, n)
    return f"{k}/{n} {100 * k / max(n, 1):.0f} % [{100 * low:.0f}, {100 * high:.0f}]"
