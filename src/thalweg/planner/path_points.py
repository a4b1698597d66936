"""A path of the squared loss as arrays: what cross-validation asks for, hundreds of points at once.

The same points and gaps as those of `path`, without a record for each: that takes longer than the
point itself where the sums of the data are at hand. A point whose gap is too large is minimised on
its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.certificates.duality import constant_value
from thalweg.core.run import Run
from thalweg.objectives.linear import LinearProblem
from thalweg.planner.minimize import minimize
from thalweg.planner.path import by_sums, path, sums_pay


class PathPoints(NamedTuple):
    """The points of a path."""

    W: np.ndarray  # variables, float[K, dim]
    gaps: np.ndarray  # NaN where there is no penalty, float64[K]
    is_done: np.ndarray  # whether it is proved to be within the tolerance, bool[K]
    iterations: np.ndarray  # int64[K]
    scale: float  # F(w = 0, best b)


def path_points(
    problem: LinearProblem,
    l1s: np.ndarray,
    l2s: np.ndarray,
    *,
    tol: float,
    max_iter: int = 10_000,
    seed: int = 0,
) -> PathPoints:
    """The points for the penalties of a grid, the strongest first."""
    if not (np.all(l1s > 0.0) and (problem.is_summed or sums_pay(problem))):
        runs = path(problem, l1s, l2s=l2s, tol=tol, max_iter=max_iter, seed=seed, progress=False)
        return PathPoints(
            np.stack([run.w for run in runs]),
            np.array([_gap(run) for run in runs]),
            np.array([run.converged for run in runs]),
            np.array([run.iterations for run in runs]),
            constant_value(problem.centred),
        )
    W, found, _, _, scale = by_sums(problem, l1s, l2s, tol)
    gaps = np.array([gap.gap for gap in found])
    is_done, iterations = gaps <= tol * scale, np.ones(len(gaps), dtype=np.int64)
    for k in np.flatnonzero(~is_done):
        here = problem.replaced(l1=float(l1s[k]), l2=float(l2s[k]))
        start = W[k] if np.all(np.isfinite(W[k])) else problem.start
        run = minimize(here, "auto", start, tol=tol, max_iter=max_iter, seed=seed, progress=False)
        W[k], is_done[k], iterations[k] = run.w, run.converged, run.iterations
        gaps[k] = _gap(run)
    return PathPoints(W, gaps, is_done, iterations, scale)


def _gap(run: Run) -> float:
    """NaN where there is no penalty."""
    return np.nan if run.certificate.gap is None else run.certificate.gap
