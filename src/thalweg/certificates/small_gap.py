"""The duality gap of a small problem with one score, by one call in place of twenty.

What `duality.duality_gap` says of a point, from rows that are at hand as one dense matrix about the
origin of the problem (`kernels.small_gap`). On hundreds of rows the calls are all that a gap costs.
"""

from __future__ import annotations

import numpy as np

from thalweg.certificates.dual_penalty import WIDEST
from thalweg.certificates.dual_point import BALANCED, EPS, LOGIT, ROUNDING, SHIFTS
from thalweg.certificates.duality import PASSES, Gap
from thalweg.kernels.small_gap import gap_pass
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.one_score import OneScore

LIMITS = (EPS, ROUNDING, BALANCED, float(SHIFTS), LOGIT, WIDEST)


def small_gap(problem: LinearProblem, A: np.ndarray, w: np.ndarray) -> Gap:
    """The gap at `w`, float64[dim]; A is x̂, and 1 with an intercept, float64[n, q], by rows."""
    term = problem.term
    assert isinstance(term, OneScore)
    primal, rounding, dual, more = gap_pass(
        term.code, A, term.y, problem.weights, term.delta, term.curvature_bound,
        problem.l1, problem.l2, problem.p, w, LIMITS,
    )  # fmt: skip
    return Gap(primal, dual, rounding + more, PASSES)
