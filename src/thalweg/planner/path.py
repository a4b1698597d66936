"""A path: one problem along a grid of l1 penalties, each minimised from the solution before.

    w(λ₁), w(λ₂), …        w(λₖ) is sought from w(λₖ₋₁)

From strong penalties to weak ones few coefficients change from step to step, and a step costs
little. Each run has its own certificate: none relies on the one before being right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.checks import check_reals, describe
from thalweg.core.errors import InputError
from thalweg.core.run import Run
from thalweg.methods.method import Method
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.minimize import minimize


def path(
    problem: LinearProblem,
    l1s: Any,
    method: str | Method = "auto",
    *,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    seed: int = 0,
    progress: bool = True,
) -> list[Run]:
    """One run for each of `l1s`, in their order, each started where the last one ended.

    `problem` has its own l1 replaced. Give the strongest penalty first: where all coefficients are
    zero begins at max |∇F(0, best b)|. Other arguments are those of `minimize`.

    >>> import numpy as np, thalweg as tw
    >>> X, y = np.eye(3), np.array([3.0, 2.0, 1.0])
    >>> runs = tw.path(tw.LinearProblem(X, y, fit_intercept=False), [0.9, 0.5, 0.1])
    >>> [int(np.count_nonzero(run.w)) for run in runs], all(run.certificate.holds for run in runs)
    ([1, 2, 3], True)
    """
    if not isinstance(problem, LinearProblem):
        raise InputError(f"problem must be a LinearProblem, got {describe(problem)}")
    grid = check_reals("l1s", l1s)
    if grid.ndim != 1 or not np.all(np.isfinite(grid) & (grid >= 0)):
        raise InputError(
            f"l1s must be a list of finite penalties ≥ 0, got {describe(l1s)}: "
            "give the strongest first"
        )
    runs: list[Run] = []
    for l1 in grid.tolist():
        w0 = runs[-1].w if runs else None
        runs.append(
            minimize(
                problem.replaced(l1=l1),
                method,
                w0,
                tol=tol,
                max_iter=max_iter,
                seed=seed,
                progress=progress,
            )
        )
    return runs
