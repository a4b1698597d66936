"""Memory of the incremental methods: what a fit adds to X, as vectors of n and of p numbers.

Fits a logistic model to imdb.npz, 50,000 × 44,798 with 6.7 million entries, from the folder that
the environment variable THALWEG_DATA names or from ../shared/data; where there is none, to random
numbers of that shape. The indices are made 64-bit first. Peaks are those of tracemalloc, which
sees NumPy's arrays and Numba's, over building the problem and fitting it, gap and verdict included.

    added       bytes at the peak
    vectors     the same as float64 vectors of n + p numbers: 1 is one of each
    of n, of p  vectors of n and of p numbers apart, from the peaks of two other fits: the same
                entries in ten times as many columns, and in ten times as many rows
    of X        what was added, as a part of the bytes of X
    copied      whether the problem holds other arrays than those of X
"""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import thalweg as tw

METHODS = ("sgd", "iag", "sag", "saga", "svrg", "sdca", "catalyst")
SHAPE, ENTRIES = (50_000, 44_798), 135  # of imdb.npz, entries a row
ITERATIONS = 12  # at most: the duality gap has been asked for twice by then
INDICES = ("indices", "indptr")


def data_folder() -> Path:
    """Where imdb.npz is, if it is anywhere."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("THALWEG_DATA", beside))


def load() -> tuple[scipy.sparse.csr_array, np.ndarray, str]:
    """X with 64-bit indices, y, and what they are."""
    file = data_folder() / "imdb.npz"
    if file.exists():
        with np.load(file) as arrays:
            parts = arrays["data"], *(arrays[name].astype(np.int64) for name in INDICES)
            X = scipy.sparse.csr_array(parts, shape=tuple(arrays["shape"]))
            return X, arrays["y"], "imdb.npz"
    rng = np.random.default_rng(0)
    n, p = SHAPE
    columns = rng.integers(0, p // ENTRIES, (n, ENTRIES)) + (p // ENTRIES) * np.arange(ENTRIES)
    values = rng.random(n * ENTRIES, dtype=np.float32) / ENTRIES**0.5
    parts = values, columns.ravel(), np.arange(0, n * ENTRIES + 1, ENTRIES)
    return scipy.sparse.csr_array(parts, shape=SHAPE), rng.random(n) > 0.5, "random numbers"


def wider(X: Any, times: int) -> scipy.sparse.csr_array:
    """The same entries in `times` as many columns, spread over all of them."""
    indices = X.indices * times
    return scipy.sparse.csr_array(
        (X.data, indices, X.indptr), shape=(X.shape[0], times * X.shape[1])
    )


def taller(X: Any, times: int) -> scipy.sparse.csr_array:
    """The same entries in `times` as many rows, of which each is a part of one."""
    pieces = [X.indptr[:-1] + np.diff(X.indptr) * k // times for k in range(times)]
    indptr = np.append(np.stack(pieces, axis=1).ravel(), X.indptr[-1])
    return scipy.sparse.csr_array(
        (X.data, X.indices, indptr), shape=(times * X.shape[0], X.shape[1])
    )


def peak(method: str, X: Any, y: np.ndarray) -> tuple[float, bool]:
    """Bytes added at the peak of a fit, and whether X was copied."""
    tracemalloc.start()
    problem = tw.LinearProblem(X, y, "logistic", l2=1.0 / X.shape[0], fit_intercept=False)
    tw.minimize(problem, method, max_iter=ITERATIONS, progress=False)
    added = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pairs = zip(problem.matrix.rows, (X.data, X.indices, X.indptr), strict=True)
    return added, not all(np.shares_memory(*pair) for pair in pairs)


def main() -> None:
    """Print the table."""
    X, y, name = load()
    n, p = X.shape
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    print(f"{name}: {n:,} × {p:,}, {X.nnz:,} entries of {X.dtype}, indices of {X.indices.dtype}")
    print(f"{'':9} {'added':>9} {'vectors':>8} {'of n':>6} {'of p':>6} {'of X':>6}  copied")
    small = X[:200].copy()
    for method in METHODS:
        peak(method, small, y[::250])  # what is compiled or imported stays out of it
        added, is_copied = peak(method, X, y)
        wide, tall = (
            peak(method, *data)[0]
            for data in ((wider(X, 10), y), (taller(X, 10), np.repeat(y, 10)))
        )
        of_n, of_p = np.linalg.solve([[n, 10 * p], [10 * n, p]], [wide / 8, tall / 8])
        print(
            f"{method:9} {added / 1e6:6.2f} MB {added / 8 / (n + p):8.2f} {of_n:6.2f} {of_p:6.2f} "
            f"{added / size:6.1%}  {'yes' if is_copied else 'no'}", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
