"""Thalweg and other solvers of linear models, side by side: time to a relative suboptimality.

    python benchmarks/compare.py                              everything, at most 30 minutes
    python benchmarks/compare.py --problems lasso,ridge       problems whose names begin so
    python benchmarks/compare.py --methods lbfgs,newton       methods of Thalweg besides auto
    python benchmarks/compare.py --methods all                every method that takes the problem
    python benchmarks/compare.py --peers-from benchmarks/results/linear.json   Thalweg alone
    python benchmarks/compare.py --shared                     one thread, processor time

Suboptimality is (F(w) − F*) / (F(0) − F*) with F evaluated in float64 outside the tools and F* the
lowest value that any tool reached, a long run of Thalweg included. Every tool gets two threads and
the same numbers in the layout that it prefers; its own tolerance (or number of passes) is swept
from loose to tight, and the time to a level is that of the fastest fit that reached it. What making
a `LinearProblem` and planning cost is part of Thalweg's time; what a peer's layout costs is not
part of the peer's. Results are kept in benchmarks/results, from where a later run can take them.

On a machine that others use at the same time, `--shared` measures the processor time of one thread
instead, which they hardly change.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from peers import machine, table  # machine first: it says how many threads there are
from peers.problems import SPECS, Problem, Spec, build
from peers.timing import LEVELS, PROCESSOR, WALL, Fit, Sweep, limit, sweep, time_to
from peers.tools import METHODS, Tool, missing, peers_for, thalweg

RESULTS = Path(__file__).parent / "results" / "linear.json"
JUDGED = 1e-6
CLOCK = PROCESSOR if machine.SHARED else WALL
REFERENCE = ({"tol": 1e-13, "time_limit": 12.0},)


@dataclass
class Comparison:
    """All that was measured on one problem."""

    name: str
    is_ridge: bool
    at_zero: float  # F(0)
    best: float  # F*
    own: list[Sweep] = field(default_factory=list)  # of Thalweg, auto first
    peers: list[Sweep] = field(default_factory=list)

    def fastest(self, sweeps: list[Sweep]) -> float | None:
        """The least time of these to the tightest level."""
        known = [time_to(LEVELS[-1], s.fits, self.at_zero, self.best) for s in sweeps]
        return min((t for t in known if t is not None), default=None)

    def add(self, to: list[Sweep], tool: Tool, problem: Problem) -> None:
        """Sweep one more tool, and say so where someone is looking."""
        if sys.stderr.isatty():
            print(f"\r\033[K  {tool.name}", end="\r", file=sys.stderr, flush=True)
        cap = limit(self.fastest(self.peers), self.fastest(self.own))
        done = sweep(tool, problem, self.best, cap, CLOCK)
        to.append(done)
        self.best = min([self.best, *(fit.value for fit in done.fits)])


def main() -> None:
    """Measure, print, keep."""
    options = arguments()
    for absent in missing():
        print(f"left out, not installed: {absent}")
    kept = read(options.peers_from) if options.peers_from else {}
    done = []
    for spec in chosen(options.problems):
        start = time.perf_counter()
        done.append(measure(spec, options.methods, kept.get(spec.name)))
        print(f"  {time.perf_counter() - start:.0f} s\n", flush=True)
        write(options.output, done)
    summary(done)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = lambda text: tuple(filter(None, text.split(",")))  # noqa: E731
    parser.add_argument("--problems", type=names, default=(), help="beginnings of their names")
    parser.add_argument("--methods", type=names, default=(), help="of Thalweg, or all")
    parser.add_argument("--peers-from", type=Path, help="results to take the peers' times from")
    parser.add_argument("--shared", action="store_true", help="one thread, processor time")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where results are kept")
    return parser.parse_args()


def chosen(beginnings: tuple[str, ...]) -> list[Spec]:
    """The problems asked for, all without a wish."""
    return [spec for spec in SPECS if not beginnings or spec.name.startswith(beginnings)]


def measure(spec: Spec, methods: tuple[str, ...], kept: Comparison | None) -> Comparison:
    """Time Thalweg and the peers on one problem, and print it."""
    problem = build(spec)
    print(problem, flush=True)
    is_ridge = problem.loss == "squared" and not problem.l1
    found = Comparison(spec.name, is_ridge, problem.at_zero, problem.at_zero)
    if kept is None:
        found.best = reference(problem)
    else:
        found.best, found.peers = kept.best, kept.peers
    for method in ("auto", *(METHODS if methods == ("all",) else methods)):
        found.add(found.own, thalweg(method), problem)
    if kept is None:
        for tool in peers_for(problem):
            found.add(found.peers, tool, problem)
    found.own[1:] = [done for done in found.own[1:] if done.fits or "InputError" not in done.note]
    print(table.heading(""))
    for line in table.rows(found.own + found.peers, found.at_zero, found.best):
        print(line)
    return found


def reference(problem: Problem) -> float:
    """The value after a long run of the method that suits the problem."""
    if problem.l1:
        method = "cd"
    elif problem.loss == "squared":
        method = "cholesky"
    else:
        method = "newton-cg"
    long = replace(thalweg(method), settings=REFERENCE, compiles=False)
    fits = sweep(long, problem, -math.inf, limit(None, None), CLOCK).fits
    return min([problem.at_zero, *(fit.value for fit in fits)])


def read(path: Path) -> dict[str, Comparison]:
    """Results of an earlier run by problem."""
    found = {}
    for record in json.loads(path.read_text()):
        for part in ("own", "peers"):
            record[part] = [
                Sweep(s["tool"], [Fit(**fit) for fit in s["fits"]], s["note"]) for s in record[part]
            ]
        found[record["name"]] = Comparison(**record)
    return found


def write(path: Path, done: list[Comparison]) -> None:
    """Keep what is measured so far."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(comparison) for comparison in done]))


def summary(done: list[Comparison]) -> None:
    """Thalweg beside the fastest peer, and its own fastest method beside auto."""
    print(table.heading("fastest peer / thalweg", 24) + f"   {'at 1e-06':<36}verdict")
    columns: list[list[float | None]] = []
    for found in done:
        peers = table.fastest(found.peers, found.at_zero, found.best)
        own = table.times(found.own[0], found.at_zero, found.best)
        columns.append(
            [table.ratio(peer, time) for (peer, _), time in zip(peers, own, strict=True)]
        )
        (peer, name), time = peers[LEVELS.index(JUDGED)], own[LEVELS.index(JUDGED)]
        print(
            f"  {found.name:<24}"
            + "".join(f"{table.shown(ratio):>10}" for ratio in columns[-1])
            + f"   {name + ' ' + table.seconds(peer) + ' against ' + table.seconds(time):<44}"
            + ("ok" if table.holds(peer, time, is_ridge=found.is_ridge) else "behind")
        )
    means = [table.geometric_mean(column) for column in zip(*columns, strict=True)]
    print(f"  {'geometric mean':<24}" + "".join(f"{table.shown(mean):>10}" for mean in means))
    known = [sum(r is not None for r in column) for column in zip(*columns, strict=True)]
    print(f"  {'problems in it':<24}" + "".join(f"{count:>10}" for count in known))
    if any(len(found.own) > 1 for found in done):
        methods_summary(done)


def methods_summary(done: list[Comparison]) -> None:
    """The same for the fastest of Thalweg's methods."""
    print("\n" + table.heading("fastest peer / fastest method", 30) + "   fastest method at each")
    columns: list[list[float | None]] = []
    for found in done:
        peers = table.fastest(found.peers, found.at_zero, found.best)
        own = table.fastest(found.own, found.at_zero, found.best)
        columns.append([table.ratio(p, t) for (p, _), (t, _) in zip(peers, own, strict=True)])
        print(
            f"  {found.name:<30}"
            + "".join(f"{table.shown(ratio):>10}" for ratio in columns[-1])
            + "   "
            + ", ".join(f"{name.removeprefix('thalweg ')} {table.seconds(t)}" for t, name in own)
        )
    means = [table.geometric_mean(column) for column in zip(*columns, strict=True)]
    print(f"  {'geometric mean':<30}" + "".join(f"{table.shown(mean):>10}" for mean in means))


if __name__ == "__main__":
    main()
