"""What the fixed tree of sums costs: a pass by leaves beside the same pass in one block a thread.

Rows in one block a thread is what passes did before sums had the same bits on any number of
threads (docs/decisions/0022). The kernels are the same; each number is the time of a pass by leaves
divided by that of a pass by blocks, the median of pairs that were timed one after the other.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from linear import SHAPES, matrix, seconds

import thalweg as tw
from thalweg.kernels.threads import available_threads
from thalweg.objectives import gram, rows

HEADS = ("value", "gradient", "hessian product", "gram")


def main() -> None:
    """Print one table for one thread and one for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=25, help="timed pairs")
    repeats = parser.parse_args().repeats
    for threads in sorted({1, available_threads()}):
        print(f"time by leaves / by blocks, {threads} threads, median of {repeats} pairs")
        print(f"{'X':<34}" + "".join(f"{head:>17}" for head in HEADS))
        for dtype in (np.float64, np.float32):
            for n, p in SHAPES:
                ratios = measure(matrix(n, p, dtype), threads, repeats)
                kind = f"{n:>7,} × {p:<6,} {np.dtype(dtype).name}"
                cells = "".join(f"{ratio:>17.3f}" for ratio in ratios)
                print(f"{kind:<34}{cells}", flush=True)


def measure(X, threads: int, repeats: int) -> list[float]:
    """The ratio for each of `HEADS`; NaN for a Gram matrix of too many columns."""
    rng = np.random.default_rng(1)
    w, v = rng.standard_normal(X.shape[1]), rng.standard_normal(X.shape[1])
    data = tw.LinearProblem(X, X @ w > 0, "logistic", l2=1e-4, fit_intercept=False, threads=threads)
    scores = data.scores(w)
    jobs = [
        lambda: data.value(w),
        lambda: data.value_and_gradient(w),
        lambda: data.hessian_vector(w, v),
    ]
    if data.p <= 1_000:
        jobs.append(lambda: data.hessian_at(scores).matrix())
    ratios = []
    for job in jobs:
        job()
        pairs = []
        for _ in range(repeats if len(ratios) < 3 else max(3, repeats // 5)):
            with in_blocks(threads):
                before = seconds(job)
            pairs.append(seconds(job) / before)
        ratios.append(statistics.median(pairs))
    return ratios + [float("nan")] * (len(HEADS) - len(ratios))


@contextmanager
def in_blocks(threads: int) -> Iterator[None]:
    """Cut rows into one block a thread."""
    kept = rows.leaf_edges, gram.leaf_edges

    def edges(count: int, *_sizes: int) -> tuple[int, ...]:
        return tuple(count * k // threads for k in range(threads + 1))

    rows.leaf_edges = gram.leaf_edges = edges
    try:
        yield
    finally:
        rows.leaf_edges, gram.leaf_edges = kept


if __name__ == "__main__":
    main()
