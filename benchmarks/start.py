"""What the first fit of a process takes, beside a warm one: imports, and kernels.

    import      `import thalweg` beyond an interpreter that imports nothing, the least of 5
    very first  the first fit with nothing compiled, as after installing (kernels are kept in an
                empty folder); everything that it imports is part of it
    first       the first fit of a new process, with the kernels on disk, the median of 5
    warm        the third fit of that process

Every number is taken in processes of its own, on data that ships with scikit-learn: dense rows, and
the same ones as a sparse matrix. `first − warm` should stay below 1.0 s, `very first` below 20 s,
`import` below 0.3 s.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

FIT = """
import time
import thalweg as tw
from sklearn.datasets import load_breast_cancer, load_digits, load_diabetes
from scipy.sparse import csr_matrix
X, y = {load}(return_X_y=True)
X = {storage}(X)

def fit():
    begun = time.perf_counter()
    tw.{model}.fit(X, y)
    return time.perf_counter() - begun

times = [fit() for _ in range(3)]
print(times[0], times[-1])
"""
CASES = (
    ("logistic, dense", "load_breast_cancer", "LogisticRegression()", ""),
    ("logistic, sparse", "load_breast_cancer", "LogisticRegression()", "csr_matrix"),
    ("multinomial, dense", "load_digits", "LogisticRegression()", ""),
    ("lasso, dense", "load_diabetes", "Lasso()", ""),
    ("ridge, dense", "load_diabetes", "Ridge()", ""),
)
TIMES = 5


def main() -> None:
    """Print two tables."""
    bare, imported = (least_seconds(code) for code in ("pass", "import thalweg"))
    print(f"import {imported - bare:.3f} s")
    print(f"{'':<22}{'very first':>12}{'first':>10}{'warm':>10}{'first − warm':>14}")
    for name, load, model, storage in CASES:
        code = FIT.format(load=load, model=model, storage=storage)
        with tempfile.TemporaryDirectory() as empty:
            coldest, _ = fits(code, empty)
            again = [fits(code, empty) for _ in range(TIMES)]
        first, warm = (statistics.median(times) for times in zip(*again, strict=True))
        cells = f"{coldest:>10.2f} s{first:>8.2f} s{1e3 * warm:>7.1f} ms{first - warm:>12.2f} s"
        print(f"{name:<22}{cells}", flush=True)


def fits(code: str, kernels: str) -> tuple[float, float]:
    """Seconds of the first and the third fit of a new process that keeps its kernels there."""
    environment = os.environ | {"NUMBA_CACHE_DIR": kernels}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    first, warm = done.stdout.split()
    return float(first), float(warm)


def least_seconds(code: str) -> float:
    """Of a process that runs this."""
    times = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - begun)
    return min(times)


if __name__ == "__main__":
    main()
