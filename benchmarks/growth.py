"""How time and memory grow with the number of rows and of columns.

    python benchmarks/growth.py                          auto and a few methods
    python benchmarks/growth.py --methods auto,lbfgs     these
    python benchmarks/growth.py --quick                  smaller sizes

Logistic regression with l2 = 1/n on standard normal features whose scales span a decade, to a
certified gap of 10⁻⁶: n from 10⁴ to 10⁶ at p = 50, and p from 10 to 10⁴ at n = 10⁴. Time is that of
one run, making the problem included, compiled code warm; memory is what the process held at most
beyond X and y, so 0 means that nothing of their size was added. The exponents are slopes of least
squares lines through (log size, log time): 1 is linear. A run beyond the cap is left out, and so is
the rest of its row.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection

import numpy as np

import thalweg as tw

METHODS = ("auto", "lbfgs", "newton", "newton-cg", "sdca", "sag")
ROWS = (10_000, 31_623, 100_000, 316_228, 1_000_000)  # at 50 columns
COLUMNS = (10, 32, 100, 316, 1_000, 3_162, 10_000)  # at 10,000 rows
CAP = 60.0  # seconds
TOL = 1e-6
SMALLEST = 1.0  # MB: less is the allocator's


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default=",".join(METHODS), help="names, by commas")
    parser.add_argument("--quick", action="store_true", help="leave out the two largest sizes")
    options = parser.parse_args()
    last = -2 if options.quick else None
    methods = options.methods.split(",")
    show("n at p = 50", [(n, 50) for n in ROWS[:last]], ROWS[:last], methods)
    show("p at n = 10,000", [(10_000, p) for p in COLUMNS[:last]], COLUMNS[:last], methods)


def show(
    title: str, shapes: Sequence[tuple[int, int]], sizes: Sequence[int], methods: list
) -> None:
    """One table: seconds and megabytes against one size."""
    print(f"{title:<20}" + "".join(f"{size:>16,}" for size in sizes) + f"{'exponents':>16}")
    for method in methods:
        found: list[tuple[float, float]] = []
        for shape in shapes:
            measured = in_child(method, *shape)
            if measured is None:
                break
            found.append(measured)
        cells = [f"{seconds:.3f} s {megabytes:5.0f} MB" for seconds, megabytes in found]
        cells += ["-"] * (len(sizes) - len(cells))
        slopes = [exponent(sizes, [pair[k] for pair in found]) for k in (0, 1)]
        print(
            f"{method:<20}"
            + "".join(f"{cell:>16}" for cell in cells)
            + "".join(f"{'-' if slope is None else f'{slope:.2f}':>8}" for slope in slopes),
            flush=True,
        )


def exponent(sizes: Sequence[float], amounts: Sequence[float]) -> float | None:
    """The slope of log amount against log size; None from fewer than three amounts."""
    pairs = [(s, a) for s, a in zip(sizes, amounts, strict=False) if a > 0]
    if len(pairs) < 3:
        return None
    x, y = np.log(np.array(pairs)).T
    return float(np.polyfit(x, y, 1)[0])


def data(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """X float64[n, p] and labels that a linear model explains in part."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    X *= np.logspace(-0.5, 0.5, p)
    w = rng.standard_normal(p) / p**0.5
    return X, np.where(X @ w + rng.standard_normal(n) > 0, 1.0, -1.0)


def in_child(method: str, n: int, p: int) -> tuple[float, float] | None:
    """Seconds and megabytes of one run in a process of its own; None if it is cut or refuses."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=run, args=(theirs, method, n, p))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(CAP) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def run(pipe: Connection, method: str, n: int, p: int) -> None:
    """What the child does: warm the code on a slice, then one run on the whole."""
    X, y = data(n, p)
    try:
        # Few columns too: what a wide problem takes must not be taken before.
        fit(X[:1000, :10].copy(), y[:1000], method)
        before = peak()
        start = time.perf_counter()
        fit(X, y, method)
        seconds = time.perf_counter() - start
    except tw.InputError:
        return
    megabytes = peak() - before
    pipe.send((seconds, megabytes if megabytes >= SMALLEST else 0.0))


def fit(X: np.ndarray, y: np.ndarray, method: str) -> tw.Run:
    """One run to the certified gap."""
    problem = tw.LinearProblem(X, y, "logistic", l2=1.0 / len(y), fit_intercept=False)
    return tw.minimize(problem, method, tol=TOL, progress=False)


def peak() -> float:
    """The most megabytes that this process held so far."""
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes / (1 << 20 if sys.platform == "darwin" else 1 << 10)


if __name__ == "__main__":
    main()
