"""How long a tool takes to reach a level: a sweep of its settings in a process of its own.

The parent holds the data and judges; a child, forked so that the data is shared, fits. The child
lays the data out as its tool wants it, fits once on a slice, and once, loosely, on the whole where
the tool compiles, so that its code is warm, and then times one setting at a time, from loose to
tight; a short fit is repeated and its median, or its least time, taken. Nothing else runs while it
does: F is evaluated between fits. The parent ends a sweep when

    F(w) is within the tightest level,
    a fit takes longer than the limit (the child is killed), or
    the settings are used up or take too long together.

A level's time is the smallest over the fits of the sweep that reached it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from peers.problems import Problem
from peers.tools import Tool

LEVELS = (1e-2, 1e-4, 1e-6, 1e-8)
SETTLED = 0.5  # of the tightest level: F* may still fall a little
LONGEST = 36.0  # seconds: no fit may take longer
SHORTEST = 0.5  # seconds: every fit may take that long
# Slower than the fastest known to the last level, no fit is the fastest to any: so much slower, and
# it is cut. As long as no peer is known, Thalweg's time is multiplied instead.
TIMES_FASTEST = 1.2
TIMES_OWN = 10.0
BUDGET = 2.0  # longest fits: what all fits of one tool on one problem may take
COMPILE = 90.0  # seconds for a fit on a slice
COMPILE_AGAIN = 20.0  # seconds that it may add to the first fit on the whole
LAY_OUT = 20.0  # seconds for the layout that a tool wants
MEMORY = 8 << 30  # bytes that a child may ask for, data included
REPEATS = 2.0  # seconds that repeats may add


@dataclass(frozen=True)
class Clock:
    """What time is."""

    read: Callable[[], float]
    slack: float  # how many times longer a second of it may be on the wall


def processor_seconds() -> float:
    """What this process and the children that it waited for have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


WALL = Clock(time.perf_counter, 1.0)
PROCESSOR = Clock(processor_seconds, 5.0)  # for one thread on a machine that others use


class Repeats(NamedTuple):
    """How often a fit is made, and which of its times counts."""

    counts: tuple[tuple[float, int], ...]  # shorter than so many seconds: so many times
    pick: Callable[[list[float]], float]


MEDIAN = Repeats(((0.1, 5), (0.5, 3)), statistics.median)
# For fits of less than a millisecond too; a first that read kernels from disk does not count.
LEAST = Repeats(((0.01, 11), (0.1, 5), (0.5, 3), (1.5, 2)), min)


@dataclass(frozen=True)
class Fit:
    """One setting of one tool."""

    setting: dict[str, Any]
    seconds: float  # median, or least
    value: float  # F(w)


@dataclass
class Sweep:
    """All fits of one tool on one problem."""

    tool: str
    fits: list[Fit] = field(default_factory=list)
    note: str = ""  # why it ended before its settings did
    cut: float | None = None  # seconds that tighter settings take at least, where time ended it


def suboptimality(value: float, at_zero: float, best: float) -> float:
    """(F(w) − F*) / (F(0) − F*)."""
    return (value - best) / (at_zero - best)


def time_to(level: float, fits: Iterable[Fit], at_zero: float, best: float) -> float | None:
    """Seconds of the fastest fit that reached the level; None where none did."""
    reached = [f.seconds for f in fits if suboptimality(f.value, at_zero, best) <= level]
    return min(reached, default=None)


def limit(peer: float | None, own: float | None) -> float:
    """Seconds that a fit may take, given the fastest known to the tightest level."""
    bounds = [LONGEST]
    if peer is not None:
        bounds.append(TIMES_FASTEST * peer)
    if own is not None:
        bounds.append(TIMES_OWN * own)
    return max(SHORTEST, min(bounds))


def sweep(
    tool: Tool,
    problem: Problem,
    best: float,
    cap: float,
    clock: Clock = WALL,
    *,
    repeats: Repeats = MEDIAN,
    tightest: float = LEVELS[-1],
    budget: float = BUDGET,
    every_kind: bool = False,
) -> Sweep:
    """Time the settings of `tool`, `cap` seconds a fit, given the lowest F that is known.

    With `every_kind`, a tool whose settings are passes and then tolerances is asked for both: a
    loose tolerance may take less time than the few passes that were within the tightest level.
    """
    found, ended = Sweep(tool.name), set()
    with Worker(tool, problem, clock, repeats) as worker:
        found.note = worker.obstacle(cap)
        if found.note:
            found.cut = cap if found.note.startswith("cut") else None
            return found
        for setting in tool.settings:
            if tuple(setting) in ended:
                continue
            worker.ask(setting)
            reply = worker.reply(cap + REPEATS)
            if not isinstance(reply, tuple):
                found.note = reply or f"cut after {cap:.2g} s at {spelled(setting)}"
                found.cut = None if reply else cap
                break
            seconds, w = reply
            value = problem.value(w) if np.isfinite(w).all() else float("inf")
            found.fits.append(Fit(setting, seconds, value))
            # Below `best` by more than that, the tool may find still better.
            if abs(suboptimality(value, problem.at_zero, best)) <= SETTLED * tightest:
                if not every_kind:
                    break
                ended.add(tuple(setting))
            if seconds > cap or sum(fit.seconds for fit in found.fits) > budget * cap:
                found.note = f"cut after {seconds:.2g} s at {spelled(setting)}"
                found.cut = seconds
                break
    return found


def spelled(setting: dict[str, Any]) -> str:
    """A setting as it is typed."""
    return ", ".join(f"{name}={value:g}" for name, value in setting.items()) or "its only setting"


class Worker:
    """The child process: asked for a setting, it replies (seconds, fitted) or with a sentence."""

    def __init__(
        self, tool: Tool, problem: Problem, clock: Clock = WALL, repeats: Repeats = MEDIAN
    ) -> None:
        self.slack, self.compiles = clock.slack, tool.compiles
        fork = multiprocessing.get_context("fork")
        self.pipe, theirs = fork.Pipe()
        given = (theirs, self.pipe, tool, problem, clock, repeats)
        self.process = fork.Process(target=work, args=given)

    def __enter__(self) -> Worker:
        self.process.start()
        return self

    def __exit__(self, *_: object) -> None:
        # All of its group: cyanure starts processes of its own.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()

    def obstacle(self, cap: float, again: float = COMPILE_AGAIN) -> str:
        """Why it cannot be asked for fits, which may take `cap` seconds; empty once it can.

        What compiles may do so `again` on the whole data.
        """
        stages = [("compile", COMPILE), ("lay out", LAY_OUT)]
        if self.compiles:
            stages.append(("warm up", cap + again))
        for stage, seconds in stages:
            reply = self.reply(seconds)
            if reply != stage:
                return reply or f"cut after {seconds:.2g} s: {stage}"
        return ""

    def ask(self, setting: dict[str, Any]) -> None:
        """Let it fit."""
        self.pipe.send(setting)

    def reply(self, timeout: float) -> Any:
        """What it says, or None if it does not within so many seconds."""
        deadline = time.perf_counter() + timeout * self.slack
        while not self.pipe.poll(0.2):
            if not self.process.is_alive():
                return f"its process ended with code {self.process.exitcode}"
            if time.perf_counter() > deadline:
                return None
        try:
            return self.pipe.recv()
        except EOFError:
            return "its process ended"


def work(
    pipe: Connection,
    parents: Connection,
    tool: Tool,
    problem: Problem,
    clock: Clock,
    repeats: Repeats,
) -> None:
    """What the child does."""
    parents.close()  # or the parent's end would never be seen here
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        part = problem.slice()
        tool.fit(tool.prepare(part), part, **tool.settings[0])
        pipe.send("compile")
        prepared = tool.prepare(problem)
        pipe.send("lay out")
        if tool.compiles:
            tool.fit(prepared, problem, **tool.settings[0])
            pipe.send("warm up")
        while True:
            setting = pipe.recv()
            job = lambda given=setting: tool.fit(prepared, problem, **given)  # noqa: E731
            pipe.send(timed(clock, job, repeats))
    except EOFError:
        return
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}".splitlines()[0][:150])


def timed(clock: Clock, job: Callable[[], Any], repeats: Repeats = MEDIAN) -> tuple[float, Any]:
    """The seconds of a job, made once or more often, and its last result."""
    times: list[float] = []
    while len(times) < wanted(times, repeats):
        start = clock.read()
        result = job()
        times.append(clock.read() - start)
    return repeats.pick(times), result


def wanted(times: list[float], repeats: Repeats = MEDIAN) -> int:
    """How often a job is made whose first time is known."""
    if not times:
        return 1
    return next((count for below, count in repeats.counts if times[0] < below), 1)
