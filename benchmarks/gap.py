"""How many iterations of fista a certified gap of 10⁻⁶ takes, with the slopes alone and with more.

    python benchmarks/gap.py

`slopes` is the gap by rescaled slopes at w, `newton` the one that runs use: the best of that and of
the slopes after a Newton step on the support. `optimal` is where F(w) − F* itself is within the
tolerance, which no certificate can beat. Passes include those for gaps, counted as `Gap.passes`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

import thalweg as tw
from thalweg.certificates.duality import Gap, constant_value
from thalweg.methods import proof

TOL = 1e-6
CASES = [
    (load_diabetes, "squared", {"l1": 4.5}),
    (load_diabetes, "squared", {"l1": 0.45}),
    (load_breast_cancer, "logistic", {"l1": 0.04}),
    (load_breast_cancer, "logistic", {"l1": 0.004}),
    (load_breast_cancer, "logistic", {"l1": 0.004, "l2": 0.0004}),
    (load_digits, "multinomial", {"l1": 0.01}),
    (load_digits, "multinomial", {"l1": 0.01, "l2": 0.0001}),
]


def standardized(load: Any) -> tuple[np.ndarray, np.ndarray]:
    """Bundled data with columns of mean 0 and variance 1."""
    X, y = load(return_X_y=True)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y


@contextlib.contextmanager
def counted(*, newton: bool) -> Iterator[list[float]]:
    """The passes of every gap in the runs inside; without `newton` none is tightened."""
    gap, tightened, passes = proof._gap, proof.tightened, []

    def counting(*args: Any, **options: Any) -> Gap:
        found = gap(*args, **options)
        passes.append(found.passes)
        return found

    proof._gap = counting
    if not newton:
        proof.tightened = lambda problem, w, found: found
    yield passes
    proof._gap, proof.tightened = gap, tightened


def main() -> None:
    """Print the table."""
    print(f"{'problem':62} {'optimal':>8} {'slopes':>8} {'newton':>8} {'passes':>14}")
    for load, loss, penalty in CASES:
        X, y = standardized(load)
        problem = tw.LinearProblem(X, y, loss, **penalty)
        cells, totals = [], []
        for newton in (False, True):
            with counted(newton=newton) as gaps:
                run = tw.minimize(problem, "fista", tol=TOL, max_iter=20_000, progress=False)
            cells.append(run.iterations)
            totals.append(run.counts["passes"] + sum(gaps))
        best = tw.minimize(problem, "fista", tol=1e-12, max_iter=20_000, progress=False)
        values = np.asarray(best.trace["value"]) - best.value <= TOL * constant_value(problem)
        optimal = int(best.trace["iteration"][np.argmax(values)])
        row = " ".join(f"{cell:8}" for cell in (optimal, *cells))
        print(f"{problem.name:62} {row} {totals[0]:6.0f} → {totals[1]:5.0f}")


if __name__ == "__main__":
    main()
