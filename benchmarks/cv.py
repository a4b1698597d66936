"""The cross-validated classes beside scikit-learn's of the same names: time, choice and objective.

    python benchmarks/cv.py                             the named data
    python benchmarks/cv.py --seeds 7001:7025:2         problems drawn by seed
    python benchmarks/cv.py --only LassoCV --limit 200  seconds, after which no case is begun

Both are timed from the arrays to the fitted estimator, in turn, in one process, compiled before; of
several rounds the fastest counts. Ours is at its default tol, and proves every fit. Two ratios of
our time to theirs:

    promise     their tol is such that they stop at the gap at which we do (`path.py` says why half)
    accuracy    their tol is the loosest of 10⁻³, 10⁻³·⁵, … at which its final fit is within 10⁻⁶ of
                F(0) of the optimum, which is what our tol allows

RidgeCV is in closed form there, and both are one.

    chosen      the same penalty, or one with the same mean error to 10⁻⁵ ("near"), on their path
    off         F(w) − F* of our final fit in units of F(0), F* by tol = 10⁻¹²
    proved      whether the gaps of all fits along the grid, and of the last one, are within tol
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn.linear_model
from path import dense, text
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

import thalweg as tw

NAMES = ("RidgeCV", "LassoCV", "ElasticNetCV")
ALLOWED = 1e-6  # of F(0), that a fit may be off
LONG = 0.02  # seconds of theirs, from which a ratio counts by itself
ROUNDS, LEAST = 3, 0.2  # rounds at least, and seconds of them
PROMISE = 5e-7  # of theirs: half of our tol
TOLS = [10.0 ** (-half / 2) for half in range(6, 17)]


class Case(NamedTuple):
    """Data and parameters."""

    name: str
    kind: str
    X: Any
    y: np.ndarray
    params: dict[str, Any]


class Line(NamedTuple):
    """What was measured."""

    ours: float  # seconds
    promised: float  # seconds of theirs at the same promise
    accurate: float  # and at the loosest tol that is accurate enough
    chosen: str
    off: float
    proved: bool


def named() -> Iterator[Case]:
    """Data that come with scikit-learn, and the shapes of the path's benchmark."""
    cancer, digits = load_breast_cancer(return_X_y=True), load_digits(return_X_y=True)
    cancer = ((cancer[0] - cancer[0].mean(axis=0)) / cancer[0].std(axis=0), cancer[1] * 1.0)
    sets = {
        "diabetes 442×10": load_diabetes(return_X_y=True),
        "cancer 569×30": cancer,
        "digits 1797×64": (digits[0], digits[1].astype(float)),
        "5000×100": dense(5000, 100, 0),
        "20000×200": dense(20_000, 200, 0),
        "300×300": dense(300, 300, 0),
        "100×2000": dense(100, 2000, 0),
        "text 2000×5000": _short(*text(2000, 5000, 0)),
    }
    for name, (X, y) in sets.items():
        for kind in NAMES:
            params: dict[str, Any] = {}
            if kind == "RidgeCV":
                params = {"alphas": np.geomspace(1e-2, 1e3, 6)}
            elif kind == "ElasticNetCV":
                params = {"l1_ratio": [0.5, 0.9]}
            yield Case(name, kind, X, y, params)


def _short(X: Any, y: np.ndarray) -> Any:
    """The same with indices of 32 bits, which theirs asks for."""
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def drawn(seed: int) -> Case:
    """A problem of any shape, for one of the classes."""
    rng = np.random.default_rng(seed)
    n, p = int(10 ** rng.uniform(2.0, 3.8)), int(10 ** rng.uniform(0.7, 3.0))
    kind = NAMES[int(rng.integers(len(NAMES)))]
    if rng.random() < 0.25:
        p = max(p, 100)
        X, y = _short(*text(n, p, seed, words=int(rng.integers(5, 50))))
    else:
        X, y = dense(n, p, seed, rho=rng.choice([0.0, 0.5, 0.9]), offset=rng.choice([0.0, 10.0]))
    params: dict[str, Any] = {"cv": int(rng.choice([3, 5, 10]))}
    if kind == "RidgeCV":
        params = {"alphas": np.geomspace(1e-2, 1e3, int(rng.choice([3, 10, 30])))}
    elif kind == "ElasticNetCV":
        params["l1_ratio"] = float(rng.choice([0.2, 0.5, 0.9]))
    storage = "csr" if sp.issparse(X) else "dense"
    return Case(f"{seed}: {n}×{p} {storage}", kind, X, y, params)


def objective(case: Case, alpha: float, ratio: float, w: np.ndarray, b: float) -> float:
    """F by the data, in the units of a `LinearProblem`."""
    r = np.asarray(case.X @ w).ravel() + b - case.y
    n = len(r)
    if case.kind == "RidgeCV":
        return 0.5 * (r @ r + alpha * w @ w) / n
    return 0.5 * r @ r / n + alpha * (ratio * np.abs(w).sum() + 0.5 * (1 - ratio) * w @ w)


def off(case: Case, model: Any) -> float:
    """How far a fitted model's objective is from the optimum at its own penalty, in F(0)."""
    alpha, ratio = float(model.alpha_), float(getattr(model, "l1_ratio_", 1.0))
    if case.kind == "RidgeCV":
        best: Any = tw.Ridge(alpha, tol=1e-12, method="cholesky")
    else:
        best = tw.ElasticNet(alpha, l1_ratio=ratio, tol=1e-12, max_iter=100_000)
    best.fit(case.X, case.y)
    at = [objective(case, alpha, ratio, m.coef_, m.intercept_) for m in (model, best)]
    return max(0.0, at[0] - at[1]) / (0.5 * float(np.var(case.y)))


def fastest(calls: list[Callable[[], Any]]) -> list[float]:
    """The least time of each, called in turn."""
    best, spent, done = [math.inf] * len(calls), 0.0, 0
    while done < ROUNDS or (spent < LEAST and done < 10 * ROUNDS):
        for k, call in enumerate(calls):
            started = time.perf_counter()
            call()
            took = time.perf_counter() - started
            best[k], spent = min(best[k], took), spent + took
        done += 1
        if spent > 20 * LEAST:
            break
    return best


def measure(case: Case) -> Line:
    """Both on one problem."""
    ours = getattr(tw, case.kind)(**case.params).fit(case.X, case.y)
    mine = off(case, ours)
    make = getattr(sklearn.linear_model, case.kind)
    promised, accurate = make(**case.params), make(**case.params)
    if case.kind != "RidgeCV":
        promised.set_params(tol=PROMISE, max_iter=20_000)
        for tol in TOLS:
            accurate.set_params(tol=tol, max_iter=20_000).fit(case.X, case.y)
            if off(case, accurate) <= ALLOWED:
                break
    promised.fit(case.X, case.y)
    models = [ours, promised, accurate][: 2 if case.kind == "RidgeCV" else 3]
    seconds = fastest([lambda model=model: model.fit(case.X, case.y) for model in models])
    scale = 0.5 * float(np.var(case.y))
    proved = bool(np.nanmax(ours.gaps_) <= 2e-6 * scale) and ours.certificate_.holds
    return Line(seconds[0], seconds[1], seconds[-1], _chosen(ours, promised), mine, proved)


def _chosen(ours: Any, theirs: Any) -> str:
    """Whether both chose alike."""
    if np.isclose(ours.alpha_, theirs.alpha_, rtol=1e-6):
        return "same"
    if not hasattr(ours, "mse_path_"):
        return "OTHER"
    means = np.ravel(ours.mse_path_.mean(axis=-1)), np.ravel(theirs.mse_path_.mean(axis=-1))
    at_ours = means[1][int(np.argmin(means[0]))]
    return "near" if at_ours <= (1.0 + 1e-5) * means[1].min() else "OTHER"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", help="start:stop:step of problems drawn by seed")
    parser.add_argument("--only", default="", help="cases whose class or name has this in it")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds for all of it")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of theirs, where they do not arrive
    cases = named()
    if options.seeds:
        cases = (drawn(seed) for seed in range(*map(int, options.seeds.split(":"))))
    began = time.perf_counter()
    lines: dict[str, list[Line]] = {}
    print(f"{'':36}{'ours':>10}{'promise':>9}{'accuracy':>10}  chosen     off  proved")
    for case in cases:
        if options.only not in f"{case.kind} {case.name}":
            continue
        if time.perf_counter() - began > options.limit:
            print("the rest was not begun: the time is over")
            break
        line = measure(case)
        lines.setdefault(case.kind, []).append(line)
        print(
            f"{case.kind:13}{case.name:23}{1e3 * line.ours:>7.1f} ms"
            f"{line.ours / line.promised:>9.2f}{line.ours / line.accurate:>10.2f}  {line.chosen:6}"
            f"{line.off:>8.0e}  {'all' if line.proved else 'NOT ALL'}",
            flush=True,
        )
    for kind, found in lines.items():
        for name in ("promised", "accurate"):
            each = [(line.ours / getattr(line, name), getattr(line, name)) for line in found]
            mean = float(np.exp(np.mean([math.log(ratio) for ratio, _ in each])))
            worst = max((ratio for ratio, took in each if took >= LONG), default=math.nan)
            print(
                f"{kind}, {name}: {1.0 / mean:.2f} times as fast (geometric mean of {len(each)}), "
                f"largest ratio where theirs takes 20 ms {worst:.2f}"
            )


if __name__ == "__main__":
    main()
