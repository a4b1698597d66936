"""The sums of the squared loss on many sets of the same rows, from one pass over all of them.

    G(train) = Σ of G(block) over the blocks that train is made of

Rows that are in the same sets are a block; for k folds that part the rows there are k of them. All
sums are about the same a and ȳ, and so add up (`least_squares`). They are added, never taken off a
whole: a row of large entries leaves no rounding in the sets that it is not in.

Cost: O(np²) once, and p² for every block of every set, where that is less than it saves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.objectives.gram import weighted_moments
from thalweg.objectives.least_squares import LeastSquares
from thalweg.objectives.linear import LinearProblem

MOST_BLOCKS = 1_000  # and none may be so small that its sums are more numbers than it has
MEMORY = 50_000_000  # numbers that the blocks may take together


def fold_sums(problem: LinearProblem, sets: Sequence[np.ndarray]) -> list[LeastSquares] | None:
    """The sums of the rows of each of `sets`, int64, which may name a row more than once.

    `problem` has the squared loss of features as they are. None where sets share too little.
    """
    n, p = problem.n, problem.p
    counts = np.stack([np.bincount(rows, minlength=n) for rows in sets])
    kinds, kind_of_row = np.unique(counts, axis=1, return_inverse=True)
    blocks = kinds.shape[1]
    if blocks > MOST_BLOCKS or blocks * p > n or blocks * p * p > MEMORY:
        return None
    kind_of_row = kind_of_row.ravel()
    y, c, fit_intercept = problem.y, problem.weights, problem.fit_intercept
    a, y_mean = np.zeros(p), 0.0
    if fit_intercept:
        a, y_mean = problem.rows.means, float(c @ y)
    r = y - y_mean
    moments, squares, totals = [], [], []
    for kind in range(blocks):
        rows = np.flatnonzero(kind_of_row == kind)
        matrix = problem.matrix.take(rows)
        here, left = c[rows], r[rows]
        moments.append(
            weighted_moments(matrix, here, a, problem.threads, left, centred=fit_intercept)
        )
        squares.append(float(np.einsum("i,i,i", here, left, left)))
        totals.append(float(here @ left))
    found = []
    for times in kinds.astype(np.float64):
        parts = [(k, float(m)) for k, m in enumerate(times) if m]
        total = sum(m * moments[k].total for k, m in parts)
        G, first, cross = np.zeros((p, p)), np.zeros(p), np.zeros(p)
        for k, m in parts:
            G += (m / total) * moments[k].second
            first += (m / total) * moments[k].first
            cross += (m / total) * moments[k].cross
        lengths = np.sqrt(np.maximum(np.diag(G), 0.0))
        if problem.matrix.is_sparse:  # some are not centred before they are summed
            lengths = np.sqrt(lengths**2 + a**2)
        found.append(
            LeastSquares(
                G, first, cross, sum(m * squares[k] for k, m in parts) / total,
                sum(m * totals[k] for k, m in parts) / total, lengths, y_mean, 0.0, a,
                np.ones(p), a, fit_intercept,
            )
        )  # fmt: skip
    return found
