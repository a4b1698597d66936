"""How long one pass of each kernel takes, beside reading X once and beside two BLAS calls.

For dense X of about 50 and about 800 features and a sparse one of the shape of a text corpus, each
number is the time of a pass divided by that of `np.copyto` of the bytes of X, the median of pairs
that were timed one after the other. What runs on several threads is beside a copy on as many.

    gradient   value and gradient of the logistic loss, one fused pass     all threads
    hessian    a Hessian-vector product, one fused pass                    all threads
    BLAS       X @ w and X.T @ r, as without fused kernels                 all threads
    sag …      n samples visited in the order and by the step of default   one thread
    cd         a sweep over all features, each minimised in turn           one thread
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

import thalweg as tw
from thalweg.kernels.cd import Held, descend
from thalweg.kernels.leaves import each_leaf, leaf_edges
from thalweg.kernels.sdca import dual_pass
from thalweg.kernels.threads import available_threads
from thalweg.methods.incremental import visit
from thalweg.methods.problem import Problem
from thalweg.methods.registry import resolve
from thalweg.methods.sdca import _samples
from thalweg.objectives.columns import gather

SHAPES = ((500_000, 54), (40_000, 800), (50_000, 45_000))
ENTRIES = 130  # stored ones of a sparse row
THREADED = ("gradient", "hessian", "BLAS")
HEADS = ("gradient", "BLAS", "hessian", "sgd", "sag", "sag-cyclic", "saga", "svrg", "sdca", "cd")


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9, help="timed rounds")
    repeats = parser.parse_args().repeats
    print(f"time of a pass / time to copy X, {available_threads()} threads, median of {repeats}")
    print(f"{'X':<24}{'copy':>8}" + "".join(f"{head:>11}" for head in HEADS))
    for dtype in (np.float64, np.float32):
        for n, p in SHAPES:
            X = matrix(n, p, dtype)
            ratios, copy = measure(X, repeats)
            kind = f"{n:>7,} × {p:<6,} {np.dtype(dtype).name}"
            cells = "".join(f"{ratios[head]:>11.2f}" for head in HEADS)
            print(f"{kind:<24}{1e3 * copy:>5.1f} ms{cells}", flush=True)


def measure(X: Any, repeats: int) -> tuple[dict[str, float], float]:
    """Ratios by the name of the job, and the seconds of a copy on all threads."""
    jobs = prepare(X)
    alone, together = copies(X)
    for job in jobs.values():
        job()
    ratios, seconds_of_copies = {}, []
    # The threads of BLAS go on spinning on the cores of the next job: it comes last.
    for name in sorted(jobs, key=lambda name: name == "BLAS"):
        pairs = []
        for _ in range(repeats):
            copy = seconds(together if name in THREADED else alone)
            pairs.append(seconds(jobs[name]) / copy)
            if name == "gradient":
                seconds_of_copies.append(copy)
        ratios[name] = statistics.median(pairs)
    return ratios, statistics.median(seconds_of_copies)


def matrix(n: int, p: int, dtype: type) -> Any:
    """Random numbers; with many columns, a sparse matrix with some columns far more frequent."""
    rng = np.random.default_rng(0)
    if p < 10_000:
        return rng.standard_normal((n, p), dtype=dtype)
    columns = (p * rng.random((n, 2 * ENTRIES)) ** 3).astype(np.int32)
    columns.sort(axis=1)
    is_first = np.diff(columns, axis=1, prepend=-1) > 0
    indptr = np.append(0, np.cumsum(is_first.sum(axis=1))).astype(np.int32)
    data = rng.standard_normal(indptr[-1]).astype(dtype)
    return scipy.sparse.csr_array((data, columns[is_first], indptr), shape=(n, p))


def copies(X: Any) -> tuple[Callable[[], object], Callable[[], object]]:
    """Copying all that X holds, on one thread and on all."""
    parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices]
    targets = [np.ones_like(part) for part in parts]

    def block(start: int, stop: int) -> None:
        for part, target in zip(parts, targets, strict=True):
            np.copyto(target[start:stop], part[start:stop])

    rows, entries = len(parts[0]), sum(part.size for part in parts)
    return lambda: block(0, rows), lambda: each_leaf(block, leaf_edges(rows, entries))


def prepare(X: Any) -> dict[str, Callable[[], object]]:
    """The jobs on one matrix."""
    (n, p), dtype = X.shape, X.dtype
    rng = np.random.default_rng(1)
    w, v, r = (rng.standard_normal(size).astype(dtype) for size in (p, p, n))
    data = tw.LinearProblem(X, X @ w > 0, "logistic", l1=1e-4, l2=1e-4, fit_intercept=False)
    smooth = data.smooth
    jobs = {
        "gradient": lambda: smooth.value_and_gradient(w),
        "hessian": lambda: smooth.hessian_vector(w, v),
        "BLAS": lambda: (X @ w, X.T @ r),
        "sdca": dual_job(smooth),
        "cd": sweep_job(data),
    }
    for name in ("sag", "sag-cyclic", "saga", "svrg"):
        method = resolve(name.replace("-cyclic", "[sampling=cyclic]"))
        jobs[name] = visits(method, smooth)
    jobs["sgd"] = averaged(smooth)
    return jobs


def visits(method: Any, data: tw.LinearProblem) -> Callable[[], object]:
    """n samples visited by one of the methods that remember slopes."""
    problem = Problem(data, data.dim, data.start.dtype)
    state = method.init(problem, data.start, np.random.default_rng(0))
    state = method.advance(problem, state)  # all later passes find every slope known
    return lambda: visit(method, problem, state, data.n, None)


def averaged(data: tw.LinearProblem) -> Callable[[], object]:
    """n samples visited by `sgd`."""
    method, problem = resolve("sgd"), Problem(data, data.dim, data.start.dtype)
    state = method.init(problem, data.start, np.random.default_rng(0))
    steps = np.full(data.n, state.step)
    return lambda: method._pass(problem, steps, state, state.total)


def dual_job(data: tw.LinearProblem) -> Callable[[], object]:
    """n samples visited by `sdca`."""
    samples, size = _samples(data), resolve("sdca").block
    order = np.random.default_rng(0).permutation(-(-data.n // size))
    scores, u, b = np.zeros(data.n), np.zeros(data.p), np.zeros(1)
    return lambda: dual_pass(samples, 0.0, order, size, scores, u, b)


def sweep_job(data: tw.LinearProblem) -> Callable[[], object]:
    """All features minimised in turn, by `cd`'s own loop, stopped after its first sweep."""
    features = np.arange(min(data.p, 2_000))
    A = gather(data, features, np.zeros(data.p))
    r, u = np.zeros(data.n), np.sqrt(data.weights) * np.random.default_rng(0).random(data.n)
    share = data.p / features.size
    held = Held(*(np.full(features.size, number) for number in (0.0, 1.0, -np.inf, np.inf)))

    def sweep() -> None:
        for _ in range(round(share)):
            w = np.zeros(len(features))
            descend(A, r, features, held, np.inf, np.inf, 1.0, 1.0, False, w, u)

    return sweep


def seconds(job: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
