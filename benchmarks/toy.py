"""What a small fit costs, beside scikit-learn's class of the same name: data of the first lesson.

    python benchmarks/toy.py                     all four tables (some minutes)
    python benchmarks/toy.py --seeds 1:201:2     drawn problems alone: odd seeds to judge by
    python benchmarks/toy.py --seeds 0:200:2     even seeds, to build on

    toy data       scikit-learn's own five sets, every estimator with its defaults
    drawn          shapes, offsets, units, classes and penalties by seed (`drawn`)
    grid search    200 fits and their scores, by scikit-learn's GridSearchCV
    first fit      a new process: import, load and fit, kernels on disk

Both sides are fitted in turn in one process, with one thread for BLAS, and the shortest of many
times counts. Each is fitted once before, so that compiling is never part of it. `certified` says
whether the duality gap of every run is at most tol·F(w = 0, best b).
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import sklearn.datasets
import sklearn.linear_model
import sklearn.svm
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

import thalweg as tw

CLASSIFIERS = ("LogisticRegression", "LinearSVC")
REGRESSORS = ("Ridge", "Lasso", "ElasticNet")
SETS = ("iris", "wine", "breast_cancer", "digits", "diabetes")
STRENGTH = {"LogisticRegression": "C", "LinearSVC": "C"}  # `alpha` of the others
LEAST, MOST, SECONDS = 5, 200, 0.4  # repeats of each side, and seconds of both
GRID = np.logspace(-3.0, 3.0, 40)  # times five folds
PROCESSES = 7
FIRST = """
from sklearn.datasets import load_{data}
from {home} import {model}
{model}().fit(*load_{data}(return_X_y=True))
"""


class Case(NamedTuple):
    """One problem."""

    name: str
    model: str
    params: dict[str, Any]
    X: np.ndarray
    y: np.ndarray


class Row(NamedTuple):
    """What both sides took, in seconds."""

    name: str
    model: str
    ours: float
    theirs: float
    is_certified: bool
    method: str

    @property
    def ratio(self) -> float:
        """Thalweg's seconds by scikit-learn's."""
        return self.ours / self.theirs


def seeds(text: str) -> range:
    """A range of seeds from "first:end" or "first:end:step"."""
    return range(*(int(part) for part in text.split(":")))


def main() -> None:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=seeds, help="first:end:step, and nothing else")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if options.seeds:
            table("drawn", map(drawn, options.seeds))
            return
        table("toy data", toys())
        table("drawn, odd seeds", map(drawn, range(1, 121, 2)))
        searches()
    first_fits()


def toys() -> Iterator[Case]:
    """Every estimator on scikit-learn's own data; diabetes has no classes."""
    for name in SETS:
        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        for model in (*(CLASSIFIERS if name != "diabetes" else ()), *REGRESSORS):
            yield Case(name, model, {}, X, y)


def drawn(seed: int) -> Case:
    """A small problem as people have it: columns of many units, some far from zero, some 0 or 1."""
    rng = np.random.default_rng(seed)
    n, p = (round(low * (high / low) ** rng.random()) for low, high in ((20, 2000), (2, 60)))
    model = (*CLASSIFIERS, *REGRESSORS)[rng.integers(5)]
    Z = rng.standard_normal((n, p)) @ (np.eye(p) + rng.uniform(0.0, 1.0) * rng.random((p, p)) / p)
    is_binary = rng.random(p) < rng.choice([0.0, 0.3])
    X = np.where(is_binary, rng.standard_normal(p) < Z, Z).astype(np.float64)
    if rng.random() < 0.5:  # as measured; else as a scaler leaves them
        X = np.where(
            is_binary, X, X * 10.0 ** rng.uniform(-2, 3, p) + 10.0 ** rng.uniform(-1, 3, p)
        )
    scores = Z @ (rng.standard_normal(p) * (rng.random(p) < 0.6)) / math.sqrt(p)
    strength = float(10.0 ** rng.uniform(-3.0, 3.0))
    y: Any = scores + rng.uniform(0.1, 1.0) * rng.standard_normal(n)
    name = f"seed {seed}, {n} × {p}"
    if model in CLASSIFIERS:
        classes = int(rng.integers(2, 11)) if rng.random() < 0.6 else 2
        y = np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y)
        name += f", {classes} classes"
    else:
        y = y * 10.0 ** rng.uniform(-1, 3) + 10.0 ** rng.uniform(-1, 3)
    return Case(name, model, {STRENGTH.get(model, "alpha"): strength}, X, y)


def estimators(model: str, params: dict[str, Any]) -> tuple[Any, Any]:
    """Thalweg's and scikit-learn's."""
    home: Any = sklearn.svm if model == "LinearSVC" else sklearn.linear_model
    return getattr(tw, model)(**params), getattr(home, model)(**params)


def measured(case: Case) -> Row:
    """Both sides of one case, timed in turn."""
    mine, other = estimators(case.model, case.params)
    ours, theirs = in_turn(lambda: mine.fit(case.X, case.y), lambda: other.fit(case.X, case.y))
    is_certified = all(run.certificate.holds for run in mine.runs_)
    return Row(case.name, case.model, ours, theirs, is_certified, mine.runs_[0].method)


def in_turn(one: Callable[[], Any], other: Callable[[], Any]) -> tuple[float, float]:
    """The shortest seconds of two, after a first time that does not count."""
    least = [math.inf, math.inf]
    begun = time.perf_counter()
    for repeat in range(MOST + 1):
        for side, work in enumerate((one, other)):
            start = time.perf_counter()
            work()
            taken = time.perf_counter() - start
            least[side] = min(least[side], taken) if repeat else math.inf
        if repeat == 0:
            begun = time.perf_counter()
        elif repeat >= LEAST and time.perf_counter() - begun > SECONDS:
            break
    return least[0], least[1]


def table(title: str, cases: Iterator[Case]) -> None:
    """Print a line for each case, and what they come to."""
    print(f"{title:<34}{'thalweg':>12}{'scikit-learn':>14}{'ratio':>8}")
    rows = []
    for case in cases:
        row = measured(case)
        rows.append(row)
        note = row.method if row.is_certified else f"{row.method}, NOT CERTIFIED"
        print(f"{line(f'{row.name}, {row.model}', row.ours, row.theirs)}  {note}", flush=True)
    for model in dict.fromkeys(row.model for row in rows):
        print(f"  {model:<32}{summary([row for row in rows if row.model == model])}")
    print(f"  {'all':<32}{summary(rows)}\n", flush=True)


def line(name: str, ours: float, theirs: float) -> str:
    """One line of a table."""
    cells = f"{1e3 * ours:>9.2f} ms{1e3 * theirs:>11.2f} ms{ours / theirs:>8.2f}"
    return f"  {name:<44}{cells}"


def summary(rows: list[Row]) -> str:
    """Geometric mean, worst, and how many are certified."""
    ratios = [row.ratio for row in rows]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    certified = sum(row.is_certified for row in rows)
    return f"mean {mean:.2f}, worst {max(ratios):.2f}; certified {certified} of {len(rows)}"


def searches() -> None:
    """Print what a grid search of 200 fits takes."""
    print("grid search, 200 fits")
    for name, models in (
        ("breast_cancer", CLASSIFIERS),
        ("iris", CLASSIFIERS),
        ("diabetes", REGRESSORS),
    ):
        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        for model in models:
            grid = {STRENGTH.get(model, "alpha"): GRID}
            ours, theirs = (
                GridSearchCV(one, grid, cv=5, refit=False) for one in estimators(model, {})
            )
            taken = in_turn(lambda s=ours: s.fit(X, y), lambda s=theirs: s.fit(X, y))  # noqa: B023
            print(line(f"{name}, {model}", *taken), flush=True)
    print()


def first_fits() -> None:
    """Print what the first fit of a process takes, its imports included."""
    print("first fit of a process")
    for data, model in (
        ("breast_cancer", "LogisticRegression"),
        ("diabetes", "Lasso"),
        ("iris", "LinearSVC"),
    ):
        home = "sklearn.svm" if model == "LinearSVC" else "sklearn.linear_model"
        mine, other = (
            FIRST.format(data=data, model=model, home=where) for where in ("thalweg", home)
        )
        print(line(f"{data}, {model}", *processes(mine, other)), flush=True)


def processes(one: str, other: str) -> tuple[float, float]:
    """The shortest seconds of two programs, run in turn; the first time does not count."""
    least = [math.inf, math.inf]
    installed = dict(os.environ)
    installed.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    for repeat in range(PROCESSES + 1):
        for side, code in enumerate((one, other)):
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", code],
                env=installed,
                check=True,
                stderr=subprocess.DEVNULL,
            )
            if repeat:
                least[side] = min(least[side], time.perf_counter() - start)
    return least[0], least[1]


if __name__ == "__main__":
    main()
