"""The shape of a linear problem, in the numbers that rates are made of.

    L       smoothness of F without l1                κ = L/μ
    L_max   the largest Lᵢ, of n times one summand    what single samples limit their steps by
    L_mean  the mean Lᵢ                               what they do when drawn in proportion to Lᵢ
    μ       strong convexity that is certain: l2, or 0 with an intercept, which no penalty holds;
            κ is then that of min over b of F(w, b), which is at least as smooth as F and l2-convex

and how uneven the data are: the largest over the smallest row norm, and feature scale. On small
data all are exact; on large data they come from a sample of rows, so that looking costs a few
milliseconds, and say so; feature scales never do, as columns are measured once, when a problem is
made. A bound is one that theory gives: κ from μ = l2 is at most what it is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thalweg.core.plan import BOUNDED, ESTIMATED, EXACT, Measured
from thalweg.core.vector import spread
from thalweg.objectives.linear import LinearProblem

MOST_ENTRIES = 60_000  # of X that are looked at, rows counted too: a few milliseconds
A_ROW = 10  # entries that a row is worth, for its loss
MOST_WORK = 2e7  # multiplications that an exact L may take
POWER_STEPS = 8  # products with the Gram matrix of the sample, where there is no time for more


class Geometry(NamedTuple):
    """What a plan knows of a problem before anything has moved."""

    n: int
    p: int
    outputs: int
    entries: int  # stored ones of X
    density: float  # entries/(np)
    rows_seen: int
    row_spread: Measured  # largest over smallest norm of the rows that are not zero
    feature_spread: Measured  # the same of the columns
    L: Measured
    L_max: Measured
    L_mean: Measured
    mu: Measured
    kappa: Measured


def geometry(problem: LinearProblem, most: int | None = None) -> Geometry:
    """Look at the problem, or at a sample of its rows, of at most so many entries."""
    n, entries = problem.n, problem.matrix.entries
    part = some_rows(problem, most or MOST_ENTRIES)
    is_whole = part is problem
    # Without a bound on ℓ″ its constants are those of an ordinary score.
    how = EXACT if is_whole and problem.has_bound else ESTIMATED
    rows = part.curvature_bound * part.n * part.weights * part.row_squares
    L, how_L = _smoothness(problem if problem.is_summed else part, how)
    mu = problem.strong_convexity
    kappa = Measured(L / problem.l2, BOUNDED) if problem.l2 > 0.0 else Measured(math.inf, EXACT)
    columns = np.ones(1) if problem.standardize else problem.column_squares
    return Geometry(
        n=n,
        p=problem.p,
        outputs=problem.outputs,
        entries=entries,
        density=entries / (n * problem.p),
        rows_seen=part.n,
        row_spread=Measured(spread(part.row_squares - part.fit_intercept), how),
        feature_spread=Measured(spread(columns), EXACT),
        L=Measured(L, how_L),
        L_max=Measured(float(rows.max()) + problem.l2, how),
        L_mean=Measured(float(rows.mean()) + problem.l2, how),
        mu=Measured(mu, EXACT),
        kappa=kappa,
    )


def some_rows(problem: LinearProblem, most: int) -> LinearProblem:
    """The problem on rows of about so many entries, or itself; a row costs what ten entries do."""
    share = most / max(1, problem.matrix.entries + A_ROW * problem.n)
    if share >= 1.0:
        return problem
    return problem.sample(spread_out(problem.n, max(1, int(share * problem.n))))


def spread_out(n: int, count: int) -> np.ndarray:
    """Rows from all over the matrix: sorted data must not show one end only."""
    return np.arange(count) * n // count


def _smoothness(part: LinearProblem, how: str) -> tuple[float, str]:
    """L of the part: from all eigenvalues where that is cheap, else by the power method."""
    p = part.p + part.fit_intercept
    if "gram_extent" in vars(part.features):
        is_sure = how == EXACT and part.has_bound
        return part.usual_smoothness, BOUNDED if is_sure else ESTIMATED
    if part.is_summed:
        return float(np.linalg.eigvalsh(part.least_squares.hessian())[-1]) + part.l2, EXACT
    if how == EXACT and p * p * (part.n + p) <= MOST_WORK:
        gram = np.stack([part.features.gram_vector(unit) for unit in np.eye(p)])
        largest = float(np.linalg.eigvalsh(gram)[-1])
        return part.curvature_bound * largest + part.l2, how
    v = np.random.default_rng(0).standard_normal(p)
    largest = 0.0
    for _ in range(POWER_STEPS):
        v /= np.linalg.norm(v)
        product = part.features.gram_vector(v)
        largest, v = float(v @ product), product
        if not product.any():
            break
    return part.curvature_bound * largest + part.l2, ESTIMATED
