"""A clock that stands while kernels are compiled: what is done once is no part of what work takes.

    now = time passed − time in which some thread compiled a kernel, or read one from disk

Numba compiles a kernel when it is first called, in the middle of whatever calls it, and a run that
happens to be the first on a machine would be charged seconds for milliseconds of work. `now` stands
in for `time.perf_counter` wherever work is timed; a `Clock` also tells what compiling took.
`kernels.compile` says when that is, by `COMPILING`.

While one thread compiles, others mostly wait for the same kernel: the clocks of all stand.
"""

from __future__ import annotations

import threading
from time import perf_counter
from types import TracebackType


class Compiling:
    """The time in which at least one thread compiles, and the context in which it does.

    A kernel is compiled within that which calls it, and two threads may need the same: pieces that
    are nested, or overlap, count once.
    """

    def __init__(self) -> None:
        self._change = threading.Lock()
        self._depth = 0
        # Of pieces that are over, and when the present one began. One object, so that it is read
        # whole without the lock: a clock is read several times an iteration.
        self._spent: tuple[float, float | None] = (0.0, None)

    def begin(self) -> None:
        """A thread begins to compile."""
        with self._change:
            self._depth += 1
            if self._depth == 1:
                self._spent = (self._spent[0], perf_counter())

    def end(self) -> None:
        """A thread is done with what it began."""
        with self._change:
            self._depth -= 1
            if self._depth == 0:
                self._spent = (self.until(perf_counter()), None)

    def until(self, moment: float) -> float:
        """Seconds of compiling up to a moment of `perf_counter`."""
        over, since = self._spent
        return over if since is None else over + max(0.0, moment - since)

    def __enter__(self) -> None:
        self.begin()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.end()


COMPILING = Compiling()  # of this process


def now() -> float:
    """Seconds since some moment in the past, compiling left out."""
    moment = perf_counter()
    return moment - COMPILING.until(moment)


class Clock:
    """The seconds since it was made, in two parts: of work, and of compiling."""

    def __init__(self) -> None:
        moment = perf_counter()
        self._compiled_at = COMPILING.until(moment)
        self._begun_at = moment - self._compiled_at

    def go_on(self, seconds: float, compiled: float) -> None:
        """Count on from what was spent before a resume."""
        self._begun_at -= seconds
        self._compiled_at -= compiled

    def leave_out(self, seconds: float) -> None:
        """Count so many that have passed as no work."""
        self._begun_at += seconds

    @property
    def seconds(self) -> float:
        """Of work."""
        return now() - self._begun_at

    @property
    def compiled(self) -> float:
        """Of compiling, and of reading from disk what was compiled before."""
        return COMPILING.until(perf_counter()) - self._compiled_at
