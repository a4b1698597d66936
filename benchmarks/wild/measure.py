"""Time `auto` and every other method on a case, side by side in one process.

    auto      tw.minimize(problem, "auto"), planning included
    a method  tw.minimize(problem, method), cut off at max(4·auto, 0.2 s), or sooner where the case
              has little left of its allowance of seconds, but never before auto's own time

Only a run whose certificate holds has a time. It is the median of up to three runs, or of seven
where those take less than 50 ms, and the repeats of auto and of the methods that come near the
fastest take turns, so that noise hits them alike: the least of many short times is too short by
luck. Each run begins with a fresh problem, built outside of the clock: what one has found out about
the data is of no use to the next. auto's first run warms up. A run in which a kernel was compiled,
or read from disk, is no measurement and is made again.
"""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import thalweg as tw
from thalweg.core.clock import Clock as OwnClock
from wild.cases import Case

METHODS = (
    *("cholesky", "newton", "newton-cg", "lbfgs", "cd", "fista", "sdca", "saga", "sag", "svrg"),
)
AUTO = "auto"
TIMES_AUTO = 4.0
SHORTEST = 0.2  # seconds that every method is given
LONGEST = 15.0  # seconds that auto is given
ALLOWANCE = 60.0  # seconds of a case, compiling apart
WARM = 1.0  # seconds after which a first run has warmed up itself
REPEATS, OFTEN = 3, 7
BRIEF = 0.05  # seconds of the fastest up to which methods are timed more often
NEAR = 2.0  # times the fastest: methods that are timed again
MANY = 10**9  # iterations: time ends a run, not their number
ATTEMPTS = 5  # to have a run without compiling

Clock = Callable[[], float]


@dataclass
class Timing:
    """What one method has done so far."""

    times: list[float] = field(default_factory=list)  # of runs whose certificate holds
    ending: str = ""  # of runs that have no time: their outcome, or why there was none
    run: Any = None  # the shortest, or one without a certificate
    shortest: float = math.inf

    @property
    def seconds(self) -> float | None:
        """The median time."""
        return statistics.median(self.times) if self.times else None

    def add(self, seconds: float, run: Any) -> None:
        """Take note of a run."""
        if not run.certificate.holds:
            self.ending = run.outcome.name
            self.run = self.run or run
            return
        if seconds < self.shortest:
            self.run, self.shortest = run, seconds
        self.times.append(seconds)


@dataclass
class Bench:
    """One case on which methods are timed."""

    case: Case
    tol: float
    allowance: float
    clock: Clock = time.perf_counter
    found: dict[str, Timing] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.began = self.clock()
        self.compiling = 0.0  # seconds

    @property
    def left(self) -> float:
        """Seconds of the allowance, which compiling takes nothing of."""
        return self.allowance - (self.clock() - self.began - self.compiling)

    def once(self, method: str, cap: float) -> tuple[float, Any, bool]:
        """Seconds of a run, the run, and whether nothing was compiled in it."""
        problem = tw.LinearProblem(self.case.X, self.case.y, **self.case.arguments)
        many: dict[str, Any] = {} if method == AUTO else {"max_iter": MANY}
        own = OwnClock()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of overflow where a method diverges
            start = self.clock()
            run = tw.minimize(problem, method, tol=self.tol, time_limit=cap, progress=False, **many)
            seconds = self.clock() - start
        self.compiling += own.compiled
        return seconds, run, own.compiled == 0.0

    def time(self, method: str, cap: float) -> None:
        """Run a method, again if something was compiled, and take note of it."""
        timing = self.found.setdefault(method, Timing())
        try:
            for _ in range(ATTEMPTS):
                seconds, run, is_clean = self.once(method, cap)
                if is_clean:
                    break
            timing.add(seconds, run)
        except tw.InputError as error:
            timing.ending = f"refused: {error}"
        except Exception as error:  # one method's fault should not end a table of hundreds
            timing.ending = f"broke: {type(error).__name__}: {error}"

    def warm_up(self) -> None:
        """Time auto once it is warm."""
        self.time(AUTO, LONGEST)
        auto = self.found[AUTO]
        if auto.seconds is not None and auto.seconds < WARM:
            self.found.clear()
            self.time(AUTO, LONGEST)

    def cap(self, methods_left: int) -> float:
        """Seconds that a method is given when so many are still to come."""
        auto, fair = self.found[AUTO].seconds, self.left / methods_left
        wanted = fair if auto is None else min(TIMES_AUTO * auto, max(auto, fair))
        return max(SHORTEST, wanted)

    @property
    def least(self) -> float:
        """Seconds of the fastest method; 0 without one."""
        times = (t.seconds for name, t in self.found.items() if name != AUTO)
        return min((s for s in times if s is not None), default=0.0)

    def contenders(self) -> list[str]:
        """auto, if it is certified, and the methods whose time is near the least."""
        times = {name: t.seconds for name, t in self.found.items() if t.seconds is not None}
        least = self.least
        return [name for name, s in times.items() if name == AUTO or s <= NEAR * least]


def measure(
    case: Case, tol: float = 1e-6, allowance: float = ALLOWANCE, clock: Clock = time.perf_counter
) -> dict[str, Any]:
    """The record of a case: numbers, words, and lists and dictionaries of them."""
    bench = Bench(case, tol, allowance, clock)
    bench.warm_up()
    for position, method in enumerate(METHODS):
        bench.time(method, bench.cap(len(METHODS) - position))
    for _ in range(1, OFTEN if 0.0 < bench.least <= BRIEF else REPEATS):
        for method in bench.contenders():
            if bench.left > (bench.found[method].seconds or 0.0):
                bench.time(method, LONGEST)
    return told(bench)


def foretold(bench: Bench) -> dict[str, list[float]]:
    """Iterations and seconds that a plan of all methods expects of each, made outside the clock."""
    problem = tw.LinearProblem(bench.case.X, bench.case.y, **bench.case.arguments)
    rows = (row for row in tw.plan(problem, bench.tol).rows if row.eligible)
    return {row.method: [row.predicted_iterations, row.predicted_seconds] for row in rows}


def told(bench: Bench) -> dict[str, Any]:
    """What was found, as plain values."""
    auto = bench.found[AUTO]
    run, plan = auto.run, getattr(auto.run, "plan", None)
    row = plan.row(plan.best) if plan else None
    others = {name: timing for name, timing in bench.found.items() if name != AUTO}
    times = {name: t.seconds for name, t in others.items() if t.seconds is not None}
    return {
        "description": bench.case.description,
        "loss": bench.case.loss,
        "penalty": bench.case.penalty,
        "auto": auto.seconds,
        "ending": auto.ending,
        "planned": plan.best if plan else None,
        "method": run.method if run else None,
        "changes": list(plan.changes) if plan else [],
        "plan_seconds": plan.seconds if plan else None,
        "predicted": row.predicted_seconds if row else None,
        "actual": run.seconds if run else None,
        "times": times,
        "iterations": {name: t.run.iterations for name, t in others.items() if t.run},
        "foretold": foretold(bench),
        "endings": {name: t.ending for name, t in others.items() if t.ending},
        "fastest": min(times, key=times.__getitem__, default=None),
        "spent": bench.clock() - bench.began,
        "compiling": bench.compiling,
    }
