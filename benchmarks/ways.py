"""Ways to disturb a process: signals, and a clock of the day that steps to and fro."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import NamedTuple


class Way(NamedTuple):
    """How a training is disturbed."""

    name: str
    signals: Sequence[signal.Signals]  # a moment apart
    is_asked: bool = False  # it must end in order, and say how to go on
    steps: bool = False  # the clock of the day does


KILL = Way("SIGKILL", [signal.SIGKILL])
INTERRUPT = Way("SIGINT", [signal.SIGINT], is_asked=True)
WAYS = {way.name: way for way in (
    KILL, INTERRUPT, Way("SIGTERM", [signal.SIGTERM]),
    Way("twice", [signal.SIGINT, signal.SIGINT], is_asked=True),
    Way("SIGSTOP", [signal.SIGSTOP, signal.SIGCONT]), Way("clock", [], steps=True),
)}  # fmt: skip
MOMENT = 0.1  # seconds between two signals
STEPS = "THALWEG_KILLS_CLOCK"  # set for a process whose clock steps
