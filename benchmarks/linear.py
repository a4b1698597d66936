"""How long a pass over the data takes, beside copying the data and beside two BLAS calls.

For dense X of about 50 and about 800 features, float32 and float64, each row times

    gradient   value and gradient of the logistic loss, one fused pass
    hessian    a Hessian-vector product, one fused pass
    copy       np.copyto of the bytes of X, on as many threads
    BLAS       X @ w and X.T @ r, as a solver without fused kernels would

the first three interleaved, and shows medians and the median of the paired ratios to the copy.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import thalweg as tw
from thalweg.kernels.elementwise import available_threads
from thalweg.kernels.linear import in_row_blocks

SHAPES = ((500_000, 54), (40_000, 800))


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=11, help="timed rounds")
    repeats = parser.parse_args().repeats
    print(f"{available_threads()} threads, milliseconds, median of {repeats}")
    heads = ("gradient", "hessian", "copy", "BLAS")
    print(f"{'X':<26}" + "".join(f"{head:>10}" for head in heads) + f"{'gradient/copy':>15}")
    for dtype in (np.float64, np.float32):
        for n, p in SHAPES:
            jobs = prepare(n, p, dtype)
            for job in jobs.values():
                job()
            times: dict[str, list[float]] = {name: [] for name in jobs}
            # The threads of BLAS go on spinning on the cores of the next job: it comes last.
            blas = jobs.pop("BLAS")
            for _ in range(repeats):
                for name, job in jobs.items():
                    times[name].append(seconds(job))
            times["BLAS"] = [seconds(blas) for _ in range(repeats)]
            medians = "".join(f"{1e3 * statistics.median(times[name]):>10.1f}" for name in heads)
            pairs = zip(times["gradient"], times["copy"], strict=True)
            ratio = statistics.median(mine / copy for mine, copy in pairs)
            print(f"{n:>7,} × {p:<4}{np.dtype(dtype).name:<12}{medians}{ratio:>15.2f}")


def prepare(n: int, p: int, dtype: type) -> dict[str, Callable[[], object]]:
    """The four jobs on one matrix."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)).astype(dtype)
    w = (rng.standard_normal(p) / p**0.5).astype(dtype)
    problem = tw.LinearProblem(X, X @ w > 0, "logistic", l2=1e-4, fit_intercept=False)
    v, r = rng.standard_normal(p).astype(dtype), rng.standard_normal(n).astype(dtype)
    target = np.ones_like(X)
    return {
        "gradient": lambda: problem.value_and_gradient(w),
        "hessian": lambda: problem.hessian_vector(w, v),
        "copy": lambda: in_row_blocks(
            lambda start, stop: np.copyto(target[start:stop], X[start:stop]), n, X.size
        ),
        "BLAS": lambda: (X @ w, X.T @ r),
    }


def seconds(job: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
