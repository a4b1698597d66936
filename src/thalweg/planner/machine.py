"""How fast this machine is: three small jobs, timed once in a process.

    calling       a few hundred operations on eight numbers
    reading       the dot product of two vectors that leave the inner caches
    multiplying   a product of two square matrices by one thread

as multiples of what they take on the machine that the constants of `planner.cost` were found on.
The shortest of a few times counts, since a clock only errs upwards, and what is near that machine
is taken for it, so that the noise of a clock does not change a plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from thalweg.core.clock import now
from thalweg.kernels.threads import blas_threads

REPEATS = 5
ALIKE = 2.5  # times
SLOWEST = 16.0  # times: what is beyond is no machine, but something else that runs on it
# Seconds of the three jobs on an AMD EPYC, with the clock that it has when nothing else runs.
CALLING, READING, MULTIPLYING = 4.4e-5, 2.4e-5, 2.5e-4


class Rates(NamedTuple):
    """Times as long as elsewhere."""

    calling: float = 1.0
    reading: float = 1.0
    multiplying: float = 1.0


@cache
def rates() -> Rates:
    """Those of this machine."""
    few, many, square = np.ones(8), np.ones(250_000), np.ones((200, 200))

    def call() -> None:
        for _ in range(200):
            np.add(few, few)

    with blas_threads(1):
        found = (
            _shortest(call) / CALLING,
            _shortest(lambda: many @ many) / READING,
            _shortest(lambda: square @ square) / MULTIPLYING,
        )
    return Rates(*map(_rounded, found))


def _rounded(ratio: float) -> float:
    """1 if it is near that, else the next power of two."""
    if 1.0 / ALIKE < ratio < ALIKE or ratio <= 0.0:  # a clock that stands tells nothing
        return 1.0
    return float(min(max(2.0 ** round(math.log2(ratio)), 1.0 / SLOWEST), SLOWEST))


def _shortest(job: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        start = now()
        job()
        times.append(now() - start)
    return min(times)
