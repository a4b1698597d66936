"""`thalweg warm-up`: compile the kernels of linear models now, so that nothing waits for it later.

Numba compiles a kernel once for each kind of array that it meets, and Thalweg keeps the result on
disk (`kernels.compile`). Small problems of every kind that files give, dense and sparse, two
classes, several and numbers, with and without l1, are planned and solved by every method, and
predicted.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import click

from thalweg.cli.options import everywhere
from thalweg.cli.screen import note, say, say_json

ROWS, COLUMNS = 60, 4
STORAGES = ("dense", "sparse")
LOSSES = ("squared", "logistic", "multinomial")


@click.command("warm-up")
@everywhere
def warm_up(as_json: bool, quiet: bool) -> None:
    """Compile the kernels of linear models and keep them on disk.

    It takes some minutes the first time, and seconds when they are there already. Without
    it, the first plan or training compiles what it needs.
    """
    begun = time.perf_counter()
    problems = 0
    for text, problem in small_problems():
        if not problems:
            note("some minutes the first time", "warm-up")
        solve_by_all(problem)
        problems += 1
        note(f"{text} after {time.perf_counter() - begun:.0f} s", "warm-up")
    score_rows()
    seconds = time.perf_counter() - begun
    if as_json:
        say_json({"problems": problems, "seconds": seconds})
    else:
        say(f"kernels are compiled and kept on disk: {seconds:.1f} s")


def small_problems() -> Iterator[tuple[str, Any]]:
    """Linear problems of every kind that kernels tell apart."""
    import numpy as np
    import scipy.sparse

    from thalweg.objectives.linear import LinearProblem

    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < 0.7)
    scores = X.sum(axis=1) + rng.standard_normal(ROWS)
    targets = {
        "squared": scores,
        "logistic": (scores > 0.0).astype(np.int64),
        "multinomial": np.digitize(scores, [-0.5, 0.5]),
    }
    for storage, loss, l1 in itertools.product(STORAGES, LOSSES, (0.0, 0.01)):
        rows = scipy.sparse.csr_array(X) if storage == "sparse" else X
        text = f"{storage} {loss}{' with l1' if l1 else ''}"
        yield text, LinearProblem(rows, targets[loss], loss, l1=l1, l2=0.01, standardize=not l1)


def score_rows() -> None:
    """What predictions take: rows dense and sparse, one score and several."""
    import numpy as np
    import scipy.sparse

    from thalweg.kernels.scores import scores

    X = np.eye(ROWS, COLUMNS)
    for rows, outputs in itertools.product((X, scipy.sparse.csr_array(X)), ((), (3,))):
        scores(rows, np.ones((COLUMNS, *outputs)), 0.0)


def solve_by_all(problem: Any) -> None:
    """Plan, solve by every method that takes the problem, and certify."""
    from thalweg.core.errors import InputError
    from thalweg.doctor.diagnosis import diagnose
    from thalweg.methods.registry import METHODS
    from thalweg.planner.minimize import minimize
    from thalweg.planner.plan import plan

    plan(problem)
    run = minimize(problem, progress=False)
    diagnose(problem, run)
    for name in METHODS:
        try:
            run = minimize(problem, name, max_iter=3, progress=False)
        except InputError:  # it does not take this problem
            continue
        if run.outcome.name == "INTERRUPTED":
            raise KeyboardInterrupt  # a run ends well by Ctrl-C; the others are not to begin
