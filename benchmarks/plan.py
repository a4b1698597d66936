"""Is the plan right? What `auto` chose, beside the fastest of Thalweg's methods.

    python benchmarks/plan.py                           all benchmark problems, to 10⁻⁶
    python benchmarks/plan.py --problems lasso,ridge    problems whose names begin so
    python benchmarks/plan.py --tol 1e-4

`auto` is timed to a certified gap of `tol`, from arrays to w, planning included; then every method
that takes the problem, without planning. One that needs 1.5 times as long as the fastest so far, or
as auto, is cut. `ratio` is the time of the chosen method over that of the fastest; `predicted` is
what the plan said that it would take, `actual` what it took in the run of `auto`. A dash: not
known.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from peers.problems import SPECS, Problem, build
from peers.timing import REPEATS, Worker, limit
from peers.tools import MANY, METHODS, Tool

import thalweg as tw

NEAR, FAR = 1.25, 2.0  # times the fastest: what the choice should be within
FORETOLD = 2.0  # times, either way: what the prediction should be within
FROM_DISK = 2.0  # seconds in which kernels are read that were compiled before
HEADINGS = (
    "problem", "chosen", "its s", "auto s", "fastest", "its s", "ratio", "predicted", "actual",
)  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """What a child tells of one run."""

    method: str
    converged: bool
    seconds: float  # of the run itself
    predicted: float | None  # by its plan, for the method that ran


@dataclass(frozen=True)
class Row:
    """One problem."""

    name: str
    auto: float | None  # seconds, planning included
    run: Ended | None  # of auto
    times: dict[str, float]  # seconds of each method that reached the gap

    @property
    def fastest(self) -> str:
        """The method with the least time."""
        return min(self.times, key=self.times.__getitem__, default="-")

    @property
    def ratio(self) -> float | None:
        """How many times slower than the fastest the chosen method is."""
        if self.run is None or self.run.method not in self.times:
            return None
        return self.times[self.run.method] / self.times[self.fastest]

    @property
    def error(self) -> float | None:
        """How many times too long or too short the prediction was."""
        if self.run is None or not self.run.predicted or not self.run.seconds:
            return None
        return max(self.run.predicted / self.run.seconds, self.run.seconds / self.run.predicted)

    def cells(self) -> tuple[Any, ...]:
        """What the table shows."""
        chosen = self.run.method if self.run else "-"
        return (
            *(self.name, chosen, self.times.get(chosen), self.auto),
            *(self.fastest, self.times.get(self.fastest), self.ratio),
            *((self.run.predicted, self.run.seconds) if self.run else (None, None)),
        )


def main() -> None:
    """Print one table and what share of it is right."""
    options = arguments()
    print(line(HEADINGS))
    rows = []
    for spec in SPECS:
        if not options.problems or spec.name.startswith(options.problems):
            rows.append(measure(build(spec), options.tol))
            print(line(rows[-1].cells()), flush=True)
    ratios, errors = [row.ratio for row in rows], [row.error for row in rows]
    print(f"within {NEAR}× of the fastest: {share(ratios, NEAR)}; {FAR:g}×: {share(ratios, FAR)}")
    print(f"predicted within {FORETOLD:g}×: {share(errors, FORETOLD)}")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = lambda text: tuple(filter(None, text.split(",")))  # noqa: E731
    parser.add_argument("--problems", type=names, default=(), help="beginnings of their names")
    parser.add_argument("--tol", type=float, default=1e-6, help="the certified gap to reach")
    return parser.parse_args()


def measure(problem: Problem, tol: float) -> Row:
    """Time auto, then every method."""
    auto, chosen = timed_run("auto", problem, tol, limit(None, None))
    times: dict[str, float] = {}
    for method in METHODS:
        known = [seconds for seconds in (auto, *times.values()) if seconds is not None]
        seconds, run = timed_run(method, problem, tol, limit(min(known, default=None), None))
        if run is not None and run.converged and seconds is not None:
            times[method] = seconds
    return Row(problem.name, auto, chosen, times)


def timed_run(
    method: str, problem: Problem, tol: float, cap: float
) -> tuple[float | None, Ended | None]:
    """Seconds from arrays to w and how the run ended; Nones where it did not within `cap`."""
    loose, wanted = {"tol": 0.1}, {"tol": tol}

    def fit(prepared: Any, problem: Problem, tol: float) -> Ended:
        own = tw.LinearProblem(
            problem.X, problem.y, problem.loss, l1=problem.l1, l2=problem.l2, fit_intercept=False
        )
        return ended(tw.minimize(own, method, tol=tol, max_iter=MANY, progress=False))

    tool = Tool(method, (loose, wanted), lambda problem: None, fit, compiles=True)
    with Worker(tool, problem) as worker:
        if worker.obstacle(cap, FROM_DISK):
            return None, None
        worker.ask(wanted)
        reply = worker.reply(cap + REPEATS)
    return reply if isinstance(reply, tuple) else (None, None)


def ended(run: tw.Run) -> Ended:
    """What of a run is told."""
    plan = getattr(run, "plan", None)
    predicted = {row.method: row.predicted_seconds for row in plan.rows} if plan else {}
    return Ended(run.method, run.converged, run.seconds, predicted.get(run.method))


def line(cells: Iterable[Any]) -> str:
    """One line of the table."""
    shown = ["-" if c is None else c if isinstance(c, str) else f"{c:.3g}" for c in cells]
    return f"{shown[0]:<24}{shown[1]:<11}{shown[2]:>8}{shown[3]:>8}  {shown[4]:<11}" + "".join(
        f"{cell:>10}" for cell in shown[5:]
    )


def share(values: list[float | None], bound: float) -> str:
    """How many of the known values are within a bound."""
    known = [value for value in values if value is not None]
    return f"{sum(value <= bound for value in known)} of {len(values)}"


if __name__ == "__main__":
    main()
