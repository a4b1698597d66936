"""`tw.path` beside scikit-learn's `lasso_path` and `enet_path`, on the same data and penalties.

    python benchmarks/path.py                        the named problems
    python benchmarks/path.py --seeds 1:41:2         problems drawn by seed
    python benchmarks/path.py --only text --rounds 3

Both are timed from the arrays as people have them (X by rows) to the coefficients of all points, in
turn, in one process, compiled before; of several rounds the fastest counts. `tw.path` does what it
does by default: it checks and measures the data, finds the intercept and proves every point. Theirs
is given centred data where there is an intercept, and the time of centring is theirs.

Two ratios, ours over theirs:

    promise     their tol is such that they stop at the gap at which we do: tol·F(w = 0, best b), of
                which theirs is ‖y‖²·tol/n: half of ours
    accuracy    their tol is the loosest of 10⁻², 10⁻²·⁵, … for which the largest F(w) − F* over the
                points is no larger than ours, F* by `tw.path` with tol = 10⁻¹⁰ (10⁻⁷ in float32).
                "<" where they had not got there in `MOST` times our time

Off is the largest F(w) − F* of ours, in units of F(w = 0, best b); it may not exceed tol, nor any
gap be below F(w) − F*.
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
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import enet_path

import thalweg as tw

TOL, SINGLE_TOL = 1e-6, 1e-4  # of ours, in float64 and float32
MOST = 20.0  # times our time, that they are given
LEAST = 0.2  # seconds of rounds at least
MOST_SWEEPS = 10_000  # at a point, of theirs, where 1,000 is the default
BELOW = 1e-12  # of F(w = 0, best b): gaps are compared to no more digits of F*


class Case(NamedTuple):
    """Data and what is asked of them."""

    name: str
    X: Any
    y: np.ndarray
    fit_intercept: bool = True
    l1_ratio: float = 1.0
    points: int = 100
    ratio: float = 1e-3


class Line(NamedTuple):
    """What was measured."""

    ours: float  # seconds
    promise: float  # ratio
    accuracy: float
    is_bound: bool  # whether the last is "less than"
    off: float
    certified: int
    sound: bool


def dense(n: int, p: int, seed: int, *, rho: float = 0.0, offset: float = 0.0) -> Any:
    """Features of which each is correlated with the next by `rho`; a few matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p if rho else 0):
        X[:, j] = rho * X[:, j - 1] + math.sqrt(1.0 - rho**2) * X[:, j]
    w = np.zeros(p)
    chosen = rng.choice(p, min(p, 20), replace=False)
    w[chosen] = rng.standard_normal(chosen.size)
    return X + offset, X @ w + rng.standard_normal(n)


def text(n: int, p: int, seed: int, words: int = 60) -> Any:
    """Rows of words as rare as in a text, fifty of which matter."""
    rng = np.random.default_rng(seed)
    chances = 1.0 / (np.arange(p) + 10.0)
    chances /= chances.sum()
    rows = [np.unique(rng.choice(p, size=words, p=chances)) for _ in range(n)]
    indptr = np.concatenate([[0], np.cumsum([row.size for row in rows])])
    indices = np.concatenate(rows)
    X = sp.csr_array((rng.random(indices.size) + 0.2, indices, indptr), shape=(n, p))
    w = np.zeros(p)
    chosen = rng.choice(max(p // 10, 50), 50, replace=False)
    w[chosen] = 3.0 * rng.standard_normal(50)
    return X, X @ w + rng.standard_normal(n)


def named() -> Iterator[Case]:
    """The problems that the table names."""
    diabetes = load_diabetes(return_X_y=True)
    cancer = load_breast_cancer(return_X_y=True)
    cancer = (cancer[0], cancer[1].astype(np.float64))
    yield Case("diabetes 442×10", *diabetes)
    yield Case("diabetes, no intercept", *diabetes, fit_intercept=False)
    yield Case("diabetes, enet 0.5", *diabetes, l1_ratio=0.5)
    yield Case("cancer 569×30", *cancer)
    scaled = (cancer[0] - cancer[0].mean(axis=0)) / cancer[0].std(axis=0)
    yield Case("cancer, standardized", scaled, cancer[1])
    yield Case("cancer, enet 0.5", scaled, cancer[1], l1_ratio=0.5)
    yield Case("2000×100", *dense(2000, 100, 0))
    yield Case("2000×100, no intercept", *dense(2000, 100, 0), fit_intercept=False)
    X, y = dense(2000, 100, 0)
    yield Case("2000×100, float32", X.astype(np.float32), y)
    yield Case("2000×100, enet 0.5", X, y, l1_ratio=0.5)
    yield Case("2000×100, offsets 1000", *dense(2000, 100, 0, offset=1000.0))
    yield Case("2000×100, correlated 0.99", *dense(2000, 100, 0, rho=0.99))
    yield Case("20000×200", *dense(20_000, 200, 0))
    yield Case("100×2000", *dense(100, 2000, 0))
    yield Case("100×2000, no intercept", *dense(100, 2000, 0), fit_intercept=False)
    yield Case("100×2000, enet 0.5", *dense(100, 2000, 0), l1_ratio=0.5)
    X, y = dense(100, 2000, 0)
    yield Case("100×2000, float32", X.astype(np.float32), y)
    yield Case("100×2000, correlated 0.9", *dense(100, 2000, 0, rho=0.9))
    yield Case("200×5000", *dense(200, 5000, 0))
    yield Case("text 5000×20000", *text(5000, 20_000, 0))
    yield Case("text, no intercept", *text(5000, 20_000, 0), fit_intercept=False)
    yield Case("text, to 1/100", *text(5000, 20_000, 0), ratio=1e-2)
    X, y = text(5000, 20_000, 0)
    yield Case("text, float32", X.astype(np.float32), y, ratio=1e-2)


def drawn(seed: int) -> Case:
    """A problem of any shape."""
    rng = np.random.default_rng(seed)
    n, p = (int(10 ** rng.uniform(1.7, 3.7)), int(10 ** rng.uniform(0.7, 3.5)))
    is_sparse = rng.random() < 0.3
    rho, offset = rng.choice([0.0, 0.5, 0.95]), rng.choice([0.0, 0.0, 10.0, 1000.0])
    options = {
        "fit_intercept": bool(rng.random() < 0.7),
        "l1_ratio": float(rng.choice([1.0, 1.0, 0.9, 0.5])),
        "points": int(rng.choice([30, 100])),
        "ratio": float(rng.choice([1e-2, 1e-3])),
    }
    if is_sparse:
        p = max(p, 60)
        X, y = text(n, p, seed, words=int(rng.integers(5, 60)))
    else:
        X, y = dense(n, p, seed, rho=rho, offset=offset if options["fit_intercept"] else 0.0)
    if rng.random() < 0.25:
        X = X.astype(np.float32)
    kind = "csr" if is_sparse else f"ρ {rho:g}, at {offset:g}"
    name = f"{seed}: {n}×{p} {kind}, {X.dtype}, l1_ratio {options['l1_ratio']:g}"
    return Case(name, X, y, **options)


def ours(case: Case, l1s: np.ndarray, tol: float) -> list[tw.Run]:
    """`tw.path` from the arrays."""
    problem = tw.LinearProblem(case.X, case.y, fit_intercept=case.fit_intercept)
    return tw.path(problem, l1s, l1_ratio=case.l1_ratio, tol=tol, progress=False)


def theirs(case: Case, l1s: np.ndarray, tol: float) -> np.ndarray:
    """Coefficients [p, K] by `enet_path` (with l1_ratio = 1, `lasso_path` is that)."""
    X, y, more = case.X, case.y.astype(case.X.dtype), {}
    if case.fit_intercept:
        y = y - y.mean()
        if sp.issparse(X):
            means = np.asarray(X.mean(axis=0)).ravel()
            more = {"X_offset": means, "X_scale": np.ones_like(means)}
        else:
            X = X - X.mean(axis=0)
    if sp.issparse(X):
        X = sp.csc_matrix(X)
    alphas = l1s / case.l1_ratio
    return enet_path(
        X, y, l1_ratio=case.l1_ratio, alphas=alphas, tol=tol, max_iter=MOST_SWEEPS, **more
    )[1]


def values(case: Case, W: np.ndarray, l1s: np.ndarray) -> np.ndarray:
    """F at each column of W with the best intercept, float64[K]."""
    X, y, W = case.X.astype(np.float64), case.y, np.asarray(W, dtype=np.float64)
    R = X @ W - y[:, None]
    if case.fit_intercept:
        R -= R.mean(axis=0)
    l2s = l1s * (1.0 - case.l1_ratio) / case.l1_ratio
    data = 0.5 * np.einsum("ik,ik->k", R, R) / len(y)
    return data + l1s * np.abs(W).sum(axis=0) + 0.5 * l2s * np.einsum("jk,jk->k", W, W)


def fastest(*calls: Callable[[], Any], rounds: int) -> list[float]:
    """The least time of each, called in turn."""
    best, spent = [math.inf] * len(calls), 0.0
    done = 0
    while done < rounds or (spent < LEAST and done < 10 * rounds):
        for k, call in enumerate(calls):
            started = time.perf_counter()
            call()
            took = time.perf_counter() - started
            best[k] = min(best[k], took)
            spent += took
        done += 1
    return best


def run_time(case: Case, l1s: np.ndarray, tol: float) -> float:
    """Seconds of ours, once."""
    started = time.perf_counter()
    ours(case, l1s, tol)
    return time.perf_counter() - started


def measure(case: Case, rounds: int) -> Line:
    """Both on one problem."""
    tol = SINGLE_TOL if case.X.dtype == np.float32 else TOL
    problem = tw.LinearProblem(case.X, case.y, fit_intercept=case.fit_intercept)
    (first,) = tw.path(problem, points=1, progress=False)
    scale = first.certificate.evidence["scale"]
    l1s = grid(case)
    runs = ours(case, l1s, tol)
    exact = ours(case._replace(X=case.X.astype(np.float64)), l1s, 1e-10)
    best = np.array([run.value for run in exact])
    lower = np.array([run.value - run.certificate.gap for run in exact])
    W = np.column_stack([run.w[: case.X.shape[1]] for run in runs])
    off = np.maximum(values(case, W, l1s) - best, 0.0) / scale
    gaps = np.array([run.certificate.gap for run in runs])
    sound = bool(np.all(gaps >= np.array([r.value for r in runs]) - best - BELOW * scale))
    sound = sound and bool(np.all(np.array([r.value for r in runs]) >= lower - BELOW * scale))
    theirs(case, l1s[:3], tol)
    started = time.perf_counter()
    theirs(case, l1s, tol / 2)
    other, mine = time.perf_counter() - started, min(run_time(case, l1s, tol) for _ in range(2))
    if other <= MOST * mine:
        mine, other = fastest(
            lambda: ours(case, l1s, tol), lambda: theirs(case, l1s, tol / 2), rounds=rounds
        )
    accuracy, is_bound = _at_equal_accuracy(case, l1s, mine, float(off.max()), best, scale, rounds)
    certified = sum(run.certificate.holds for run in runs)
    return Line(mine, mine / other, accuracy, is_bound, float(off.max()), certified, sound)


def grid(case: Case) -> np.ndarray:
    """The l1 of each point, the first a hair above where coefficients begin."""
    X, y = case.X, case.y
    if case.fit_intercept:
        y = y - y.mean()
    v = np.asarray(X.T.astype(np.float64) @ y)  # y sums to zero: means of X do not matter
    top = (1.0 + 1e-6) * float(np.abs(v).max()) / len(y)  # float32 rounds v
    return np.geomspace(top, case.ratio * top, case.points)


def _at_equal_accuracy(
    case: Case,
    l1s: np.ndarray,
    mine: float,
    off: float,
    best: np.ndarray,
    scale: float,
    rounds: int,
) -> tuple[float, bool]:
    """Our time over theirs at the loosest tol that is no worse, or more than that ratio."""
    took = math.inf
    for half in range(4, 25):
        their_tol = 10.0 ** (-half / 2)
        started = time.perf_counter()
        W = theirs(case, l1s, their_tol)
        took = time.perf_counter() - started
        if float(np.max(values(case, W, l1s) - best)) / scale <= max(off, BELOW):
            mine, other = fastest(
                lambda: ours(case, l1s, TOL if case.X.dtype == np.float64 else SINGLE_TOL),
                lambda tol=their_tol: theirs(case, l1s, tol),
                rounds=rounds,
            )
            return mine / other, False
        if took > MOST * mine:
            break
    return mine / took, True


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", help="start:stop:step of problems drawn by seed")
    parser.add_argument("--only", default="", help="problems whose name has this in it")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of theirs, where they do not get to the gap
    cases = named()
    if options.seeds:
        cases = (drawn(seed) for seed in range(*map(int, options.seeds.split(":"))))
    print(f"{'':46}{'ours':>10}{'promise':>9}{'accuracy':>10}{'off':>10}  certified")
    lines = []
    for case in cases:
        if options.only not in case.name:
            continue
        line = measure(case, options.rounds)
        lines.append(line)
        sign = "<" if line.is_bound else ""
        print(
            f"{case.name[:45]:46}{1e3 * line.ours:>7.1f} ms{line.promise:>9.2f}"
            f"{sign + format(line.accuracy, '.2f'):>10}{line.off:>10.1e}"
            f"  {line.certified}/{case.points}{'' if line.sound else '  UNSOUND'}",
            flush=True,
        )
    for name, ratios in (
        ("promise", [line.promise for line in lines]),
        ("accuracy", [line.accuracy for line in lines]),
    ):
        below = sum(ratio <= 1.0 for ratio in ratios)
        print(
            f"{name}: median {np.median(ratios):.2f}, largest {max(ratios):.2f}, "
            f"{below} of {len(ratios)} at most 1"
        )


if __name__ == "__main__":
    main()
