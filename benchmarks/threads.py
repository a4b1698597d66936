"""What a second thread gains, beside what it gains BLAS on the same matrix.

Logistic regression on covtype (581,012 × 54, dense; from the folder that THALWEG_DATA names or
../shared/data, else random numbers of that shape): the time of a job on one thread over its time on
all, the median of rounds in which each job is timed once on either.

    X @ w        BLAS's own product
    gradient     value and gradient, one fused pass
    Hessian      the whole Hessian at a point
    fit          from a problem to a certified gap of 10⁻⁶, method newton

`share` is the gain of a job over that of X @ w; 0.8 or more is asked for. `off by` is how far the
results of one and of all threads are apart, relative to their size.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from peers.data import is_at_hand, load
from threadpoolctl import threadpool_limits

import thalweg as tw
from thalweg.kernels.threads import available_threads

SHAPE = (581_012, 54)


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="timed rounds")
    rounds = parser.parse_args().rounds
    X, y = data()
    jobs = prepare(X, y)
    many = available_threads()
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in jobs}
    results: dict[str, list[Any]] = {}
    # One job after another: a thread of BLAS looks for work for some 20 ms after its last, on the
    # core that the job after it should have.
    for name, job in jobs.items():
        for turn in range(rounds + 1):
            found = []
            for threads, kept in zip((1, many), times[name], strict=True):
                begun = time.perf_counter()
                found.append(job(threads))
                if turn:  # the first one compiles
                    kept.append(time.perf_counter() - begun)
            results[name] = found
    print(f"one thread / {many} threads, median of {rounds}")
    print(f"{'':<12}{'one':>10}{'all':>10}{'gain':>8}{'share':>8}{'off by':>10}")
    gains = {}
    for name, (one, several) in times.items():
        gains[name] = statistics.median(a / b for a, b in zip(one, several, strict=True))
        a, b = (np.asarray(result) for result in results[name])
        apart = float(np.max(np.abs(a - b)) / np.max(np.abs(a)))
        medians = "".join(f"{1e3 * statistics.median(kept):>7.1f} ms" for kept in (one, several))
        share = gains[name] / gains["X @ w"]
        print(f"{name:<12}{medians}{gains[name]:>8.2f}{share:>8.2f}{apart:>10.1e}")


def data() -> tuple[np.ndarray, np.ndarray]:
    """covtype, or random numbers of its shape."""
    if is_at_hand():
        return load("covtype")
    print("covtype is not at hand: random numbers of its shape")
    rng = np.random.default_rng(0)
    X = rng.standard_normal(SHAPE)
    return X, np.sign(X[:, 0] + rng.standard_normal(SHAPE[0]))


def prepare(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[int], Any]]:
    """The jobs, each a function of the number of threads."""
    w = np.random.default_rng(0).standard_normal(X.shape[1]) / 10.0

    def problem(threads: int) -> tw.LinearProblem:
        return tw.LinearProblem(
            X, y, "logistic", l2=1.0 / len(y), fit_intercept=False, threads=threads
        )

    ready = {threads: problem(threads) for threads in (1, available_threads())}

    def product(threads: int) -> np.ndarray:
        with threadpool_limits(threads):
            return X @ w

    def fit(threads: int) -> np.ndarray:
        with threadpool_limits(threads):
            return tw.minimize(ready[threads], "newton", progress=False).w

    return {
        "X @ w": product,
        "gradient": lambda threads: ready[threads].gradient(w),
        "Hessian": lambda threads: ready[threads].hessian(w),
        "fit": fit,
    }


if __name__ == "__main__":
    main()
