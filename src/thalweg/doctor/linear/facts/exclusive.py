"""Which columns are zero in a whole class, and of one sign elsewhere?

A category that was never seen together with class k: along that coefficient the scores of class k
can fall (or rise, by the sign) without end. Samples of k do not have the column and lose nothing;
those that have it gain. So the logistic and the multinomial loss have no minimizer without a
penalty, though no plane need separate the classes (quasi-separation: Albert & Anderson, Biometrika
71 (1984)). Counting is exact: nothing is rounded.

Cost: one pass over X; memory p·K counts.
"""

from __future__ import annotations

import numpy as np

from thalweg.kernels.rows import CSR
from thalweg.objectives.linear import MULTINOMIAL, LinearProblem

BLOCK = 200_000  # entries of a block of rows


def exclusive(problem: LinearProblem) -> np.ndarray:
    """Pairs (column, class that does not have it), int64[k, 2]; the first such class of each.

    Empty where there is a penalty, which holds such coefficients. Standardized features are not
    zero where X is: the intercept takes that shift up, and it makes no difference.
    """
    if problem.classes is None or problem.l1 or problem.l2:
        return np.zeros((0, 2), dtype=np.int64)
    K = len(problem.classes)
    codes = problem.y if problem.loss == MULTINOMIAL else (problem.y > 0).astype(np.int64)
    above, below = _counts(problem, codes, K)
    has_one_sign = (above.sum(axis=1) == 0) != (below.sum(axis=1) == 0)
    is_absent = above + below == 0
    columns = np.flatnonzero(has_one_sign & is_absent.any(axis=1))
    return np.column_stack([columns, is_absent[columns].argmax(axis=1)]).astype(np.int64)


def _counts(problem: LinearProblem, codes: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
    """How many samples of each class are above and below zero in each column, int64[p, K]."""
    X, is_counted, p = problem.matrix.rows, problem.weights > 0.0, problem.p
    if isinstance(X, CSR):
        rows = np.repeat(np.where(is_counted, codes, K), np.diff(X.indptr))  # K: not counted
        places = X.indices.astype(np.int64) * (K + 1) + rows
        counts = [
            np.bincount(places[sign], minlength=p * (K + 1)).reshape(p, K + 1)[:, :K]
            for sign in (X.data > 0.0, X.data < 0.0)
        ]
        return counts[0], counts[1]
    above, below = (np.zeros((p, K), dtype=np.int64) for _ in range(2))
    step = max(1, BLOCK // p)
    for start in range(0, problem.n, step):
        here = slice(start, start + step)
        block = X[here]
        for k in range(K):
            mine = block[is_counted[here] & (codes[here] == k)]
            above[:, k] += np.count_nonzero(mine > 0.0, axis=0)
            below[:, k] += np.count_nonzero(mine < 0.0, axis=0)
    return above, below
