"""`certify`: how far a point of a linear problem is from its optimum, whatever tool it came from.

with a penalty       its duality gap, as tight as it gets (`duality`)
without              Newton's decrement (`decrement`)
terms of one's own   the gap if their conjugates are known; else the decrement where F is smooth,
                     and the gradient mapping where it is not (`stationarity`)
"""

from __future__ import annotations

import numpy as np

from thalweg.certificates.decrement import decrement_certificate, has_decrement
from thalweg.certificates.duality import (
    about_the_mean,
    constant_value,
    duality_gap,
    exactly,
    gap_certificate,
    has_gap,
    tightened,
)
from thalweg.certificates.stationarity import limit, stationarity
from thalweg.core.certificate import Certificate
from thalweg.core.checks import check_number, check_vector, describe
from thalweg.core.errors import InputError
from thalweg.objectives.linear import LinearProblem


def certify(
    problem: LinearProblem, w: np.ndarray, *, dual: np.ndarray | None = None, tol: float = 1e-6
) -> Certificate:
    """How far `w`, from any tool, is from the optimum of `problem`.

    Holds when the duality gap is at most tol·F(w = 0, best constant b); without a penalty, when
    Newton's decrement is. `dual`, float[n] or [n, K], is a point of the dual problem, as a run
    keeps it whose method works there: `run.dual`. Of terms of your own without conjugates a gap is
    not known, and the certificate says what to give.
    """
    if not isinstance(problem, LinearProblem):
        raise InputError(
            f"problem must be a LinearProblem, got {describe(problem)}: for other objectives "
            "tw.classify says what kind of point w is"
        )
    tol = check_number("tol", tol, above=0.0)
    w = check_vector("w", w, dim=problem.dim)
    if dual is not None:
        dual = check_vector("dual", np.ravel(dual), dim=problem.n * problem.outputs)
        dual = dual.astype(np.float64, copy=False).reshape(problem.score_shape)
    problem, w = about_the_mean(problem, w)
    if has_decrement(problem):
        return decrement_certificate(problem, w, tol)
    if not has_gap(problem):
        return mapping_certificate(problem, w, tol)
    scale = constant_value(problem)
    found = duality_gap(problem, w, dual=dual, thorough=True, enough=tol * scale)
    if found.gap > tol * scale:
        found = tightened(problem, w, found)
    if found.gap > tol * scale:
        found, _ = exactly(problem, w, found, tol * scale)
    return gap_certificate(found, scale, tol, problem.l2)


def mapping_certificate(problem: LinearProblem, w: np.ndarray, tol: float) -> Certificate:
    """The certificate of `w` by its gradient mapping at the step 1/L, held to that at w = 0."""
    step, start = 1.0 / problem.usual_smoothness, np.zeros(problem.dim)

    def mapping(at: np.ndarray) -> np.ndarray:
        return (at - problem.prox(at - step * problem.gradient(at), step)) / step

    allowed = limit(mapping(problem.prox(start, 0.0)), tol)
    return stationarity(problem, problem.value(w), mapping(w), allowed, tol)
