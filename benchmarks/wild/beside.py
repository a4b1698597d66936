"""Time `auto` and the peers on a case: seconds to a relative suboptimality.

Each tool is swept in a process of its own (`peers.timing`), from loose to tight, until a fit is
within half of 10⁻⁶; the least time of repeats counts, on both sides. A fit may take so many seconds
as the fastest peer so far and a fifth more, ten times what auto took, or the tool's share of what
is left of the case's allowance, whichever is least, but always half a second and twice auto's time.

Where features are float32, a peer that ends before it is at 10⁻⁶ gets them in float64 as well.

    F*       the least value that any tool reached, a long run of auto included
    seconds  of the fastest fit of a tool that reached a level; None where none did
    bound    where no peer reached 10⁻⁶, seconds that the fastest takes at least: the least at
             which one was cut; None where all ended by themselves
"""

from __future__ import annotations

import math
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from peers.problems import Problem
from peers.timing import LEAST, SHORTEST, WALL, Clock, Sweep, limit, sweep, time_to
from peers.tools import Tool, minimized, peers_for, thalweg

LEVELS = (1e-2, 1e-6)
JUDGED = LEVELS[-1]
ALLOWANCE = 60.0  # seconds of a case
LONGEST = 12.0  # seconds that a fit of auto is given
TIMES_OWN = 2.0  # what a peer's fit is given at least
BUDGET = 3.0  # longest fits: what all of a tool may take
REFERENCE = ({"tol": 1e-11, "time_limit": 5.0},)
LEAST_FALL = 1e-9  # of F(0): where F* is not further below, float64 cannot tell levels apart


@dataclass
class Beside:
    """What is known of a case so far."""

    problem: Problem
    clock: Clock = WALL
    allowance: float = ALLOWANCE
    best: float = -math.inf  # F*
    own: list[Sweep] = field(default_factory=list)
    peers: list[Sweep] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began = time.perf_counter()
        self.asked: list[tuple[list[Sweep], int, Tool, Problem]] = []

    @property
    def left(self) -> float:
        """Seconds of the allowance."""
        return self.allowance - (time.perf_counter() - self.began)

    def seconds(self, done: Sweep, level: float = JUDGED) -> float | None:
        """Of a tool to a level."""
        return time_to(level, done.fits, self.problem.at_zero, self.best)

    def fastest(self, sweeps: list[Sweep], level: float = JUDGED) -> tuple[float | None, str]:
        """The least seconds to a level, and whose they are."""
        known = [(s, done.tool) for done in sweeps if (s := self.seconds(done, level)) is not None]
        return min(known, default=(None, ""))

    def cap(self, tools_left: int) -> float:
        """Seconds that a peer's fit is given when so many tools are still to come."""
        own = self.fastest(self.own)[0]
        known = limit(self.fastest(self.peers)[0], own)
        share = max(self.left / tools_left, TIMES_OWN * (own or 0.0))
        return max(SHORTEST, min(known, share))

    def time(self, to: list[Sweep], tool: Tool, problem: Problem, cap: float) -> Sweep:
        """Sweep one more tool."""
        done = sweep(
            *(tool, problem, self.best, cap, self.clock),
            repeats=LEAST,
            tightest=JUDGED,
            budget=BUDGET,
            every_kind=True,
        )
        to.append(done)
        self.asked.append((to, len(to) - 1, tool, problem))
        self.best = min([self.best, *(fit.value for fit in done.fits)])
        return done

    def time_again(self) -> None:
        """Sweep those again that ended at 10⁻⁶ above what was the least then, and is no more."""
        asked, self.asked = self.asked, []
        for to, place, tool, problem in asked:
            done = to[place]
            has_settings = len(done.fits) < len(tool.settings)
            if not done.note and has_settings and self.seconds(done) is None:
                again: list[Sweep] = []
                self.time(again, tool, problem, LONGEST if to is self.own else self.cap(1))
                to[place] = again[0]


def measure(
    problem: Problem, allowance: float = ALLOWANCE, clock: Clock = WALL
) -> dict[str, Any] | str:
    """The record of a problem, plain values, or why there is none."""
    tools = peers_for(problem)
    if not tools:
        return "no peer"
    bench = Beside(problem, clock)
    bottom = reference(problem, clock)
    if problem.at_zero - bottom <= LEAST_FALL * abs(problem.at_zero):
        return "w = 0 is as good as any"
    bench.best = bottom
    bench.time(bench.own, thalweg(), problem, LONGEST)
    bench.allowance = allowance + (time.perf_counter() - bench.began)  # compiling apart
    for position, tool in enumerate(tools):
        warm(tool, problem)
        cap = bench.cap(len(tools) - position)
        done = bench.time(bench.peers, tool, problem, cap)
        if problem.X.dtype == np.float32 and done.cut is None and bench.seconds(done) is None:
            double = replace(tool, name=f"{tool.name} float64")
            warm(double, problem.in_double)
            bench.time(bench.peers, double, problem.in_double, cap)
    bench.time_again()
    return recorded(bench)


def reference(problem: Problem, clock: Clock = WALL) -> float:
    """The value after a long run of auto; all that it compiles is on disk from then on."""
    long = replace(thalweg(), settings=REFERENCE, compiles=False)
    fits = sweep(long, problem, -math.inf, limit(None, None), clock).fits
    return min([problem.at_zero, *(fit.value for fit in fits)])


def warm(tool: Tool, problem: Problem) -> None:
    """Compile what a peer compiles here, once for all processes: skglm keeps nothing on disk."""
    if tool.compiles:
        part = problem.slice()
        tool.fit(tool.prepare(part), part, **tool.settings[0])


def method(bench: Beside) -> str:
    """What auto chose where it was the fastest to 10⁻⁶; asked once more, as a fit says only w."""
    fits = sorted(bench.own[0].fits, key=lambda fit: fit.seconds)
    reached = [f for f in fits if time_to(JUDGED, [f], bench.problem.at_zero, bench.best)]
    if not reached:
        return ""
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as process:
        return process.submit(chosen, bench.problem, reached[0].setting).result()


def chosen(problem: Problem, setting: dict[str, Any]) -> str:
    """The method that auto runs."""
    return str(minimized(problem, "auto", **setting)[1].method)


def recorded(bench: Beside) -> dict[str, Any]:
    """What was found."""
    problem, own = bench.problem, bench.own[0]
    reached = {done.tool: bench.seconds(done) for done in bench.peers}
    cut = [done.cut for done in bench.peers if done.cut is not None]
    has_peer = any(seconds is not None for seconds in reached.values())
    return {
        "description": problem.name,
        "loss": problem.loss,
        "entries": int(problem.X.nnz if problem.is_sparse else problem.X.size),
        "at_zero": problem.at_zero,
        "best": bench.best,
        "own": {f"{level:g}": bench.seconds(own, level) for level in LEVELS},
        "own_note": own.note,
        "method": method(bench),
        "peer": {f"{level:g}": bench.fastest(bench.peers, level) for level in LEVELS},
        "bound": None if has_peer else min(cut, default=None),
        "peers": reached,
        "notes": {done.tool: done.note for done in bench.peers if done.note},
        "spent": time.perf_counter() - bench.began,
    }
