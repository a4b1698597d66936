"""The constants that plans count by, fitted anew on problems of even seeds, beside those in use.

    python benchmarks/laws.py --seeds 200000:201000:2 --limit 900
    python benchmarks/laws.py --read laws.json

Every method is run on every problem (`wild/cases.py`), cut off at a few times the fastest so far,
and what it took is regressed on what a plan knows:

    lbfgs, newton-cg    log passes = log c + a·log k + b·log r      k of a pilot, r = L_mean/(nμ)
    cd, with l1         log passes = log c − a·log s                s = l1/l1_max
    all                 log(seconds foretold / seconds taken), its middle and its spread

A run that was cut off took more than it had: it counts as the law's own value, or half a spread
more than what it had, whichever is more, and the law is fitted again until that stands still.
`in 2` is the share within a factor of two, of the runs that were not cut off.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from wild import seeds
from wild.cases import Case, problem
from wild.measure import Bench

import thalweg as tw
from thalweg.certificates.duality import constant_value
from thalweg.methods.cd import SWEEPS
from thalweg.methods.expectation import telling
from thalweg.methods.lbfgs import LAWS as OF_LBFGS
from thalweg.methods.newton_cg import LAWS as OF_NEWTON_CG
from thalweg.planner.geometry import geometry
from thalweg.planner.pilot import pilot
from thalweg.planner.prediction import difficulty

METHODS = ("cholesky", "newton", "newton-cg", "lbfgs", "cd", "sdca")
TOL, LONGEST, SHORTEST, TIMES = 1e-6, 8.0, 0.12, 2.5  # seconds, and times the fastest
A_PILOT = 0.05  # seconds of a fit that it is to be worth
ROUNDS, UNSURE = 30, 0.7  # of fits where runs were cut off, and how much such a one counts
FEWEST = 8  # runs of which a law is made
Record = dict[str, Any]


def main() -> None:
    """Run the seeds that the command line names, or read records, and print what is fitted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=seeds, default=range(200_000, 201_000, 2))
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for all")
    parser.add_argument("--out", type=Path, help="write all records here, as JSON")
    parser.add_argument("--read", type=Path, help="fit records that were written")
    asked = parser.parse_args()
    if asked.read:
        records = json.loads(asked.read.read_text())
    else:
        end = time.perf_counter() + asked.limit
        records = []
        for seed in asked.seeds:
            if time.perf_counter() > end:
                break
            records.append({"seed": seed} | measured(problem(seed)))
        if asked.out:
            asked.out.write_text(json.dumps(records))
    print(page(records))


def measured(case: Case) -> Record:
    """What is known of a problem, what was foretold of each method, and what it took."""
    data = _made(case).centred
    hard = difficulty(data, geometry(data), TOL)
    steps = pilot(data, TOL, constant_value(data), A_PILOT)
    foretold = {row.method: row.predicted_seconds for row in tw.plan(_made(case), TOL).rows}
    runs: dict[str, list[float]] = {}
    bench = Bench(case, TOL, math.inf)
    for name in METHODS:
        bench.time(name, max(SHORTEST, TIMES * (bench.least or LONGEST)))
        if (run := bench.found[name].run) is not None:
            passes = max(1.0, float(run.trace.last["passes"]))
            runs[name] = [run.seconds, passes, float(run.certificate.holds)]
    known = {"k": steps or hard.steps, "r": telling(hard.r), "s": hard.share}
    return {"loss": case.loss, "l1": case.l1} | known | {"foretold": foretold, "runs": runs}


def _made(case: Case) -> tw.LinearProblem:
    return tw.LinearProblem(case.X, case.y, **case.arguments)


def page(records: list[Record]) -> str:
    """The laws, and how far off predictions of seconds are."""
    lines = [f"{len(records)} problems", "", f"{'law':<26}{'runs':>6}{'in 2':>6}  fitted (in use)"]
    for name, laws in (("newton-cg", OF_NEWTON_CG), ("lbfgs", OF_LBFGS)):
        for loss, law in laws.items():
            some = [r for r in records if r["loss"] == loss and name in r["runs"]]
            lines.append(told(f"{name} {loss}", some, name, [_log("k"), _log("r")], law))
    for loss, (c, a) in SWEEPS.items():
        some = [r for r in records if r["loss"] == loss and r["l1"] > 0 and "cd" in r["runs"]]
        lines.append(told(f"cd {loss}", some, "cd", [_log("s")], (c, -a)))
    lines += ["", f"{'seconds':<26}{'runs':>6}{'in 2':>6}  middle of foretold/taken, spread"]
    for name in METHODS:
        off = np.array([
            math.log(r["foretold"][name] / r["runs"][name][0])
            for r in records
            if name in r["runs"] and r["runs"][name][2] and math.isfinite(r["foretold"][name])
        ])  # fmt: skip
        if off.size:
            middle = math.exp(float(np.median(off)))
            lines.append(
                f"{name:<26}{off.size:>6}{_in_two(off):>6.2f}  {middle:.2f}, {off.std():.2f}"
            )
    return "\n".join(lines)


def told(
    title: str,
    records: list[Record],
    name: str,
    features: list[Callable[[Record], float]],
    used: tuple[float, ...],
) -> str:
    """One law, as it comes out here and as it is in use."""
    runs = [r["runs"][name] for r in records]
    is_done = np.array([run[2] == 1.0 for run in runs], dtype=bool)
    if is_done.sum() < FEWEST:
        return f"{title:<26}{is_done.sum():>6}"
    Z = np.array([[1.0, *(feature(r) for feature in features)] for r in records])
    y = np.log([run[1] for run in runs])
    powers, off = fitted(Z, y, is_done)
    now = [math.exp(powers[0]), *powers[1:]]
    numbers = "  ".join(f"{a:.2f} ({b:.2f})" for a, b in zip(now, used, strict=True))
    return f"{title:<26}{is_done.sum():>6}{_in_two(off):>6.2f}  {numbers}"


def fitted(Z: np.ndarray, y: np.ndarray, is_done: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Powers by ridge regression, and what is left of the runs that were not cut off."""
    held = np.diag([1e-6, *np.ones(Z.shape[1] - 1)])
    done = Z[is_done]
    powers = np.linalg.solve(done.T @ done + held, done.T @ y[is_done])
    weight = np.where(is_done, 1.0, UNSURE)
    for _ in range(ROUNDS):
        spread = (y - Z @ powers)[is_done].std()
        goal = np.where(is_done, y, np.maximum(Z @ powers, y + 0.5 * spread))
        # A residual beyond e times counts by its size, not by its square.
        w = weight / np.maximum(1.0, np.abs(goal - Z @ powers))
        powers = np.linalg.solve((Z * w[:, None]).T @ Z + held, Z.T @ (w * goal))
    return powers, (y - Z @ powers)[is_done]


def _log(key: str) -> Callable[[Record], float]:
    return lambda record: math.log(max(record[key], 1e-4))


def _in_two(off: np.ndarray) -> float:
    return float(np.mean(np.abs(off) < math.log(2.0)))


if __name__ == "__main__":
    main()
