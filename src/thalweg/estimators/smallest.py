"""The smallest coefficients of the same scores: what an l2 penalty leaves as alpha → 0.

    minimise ‖u‖   subject to  Zu = Zw          Z = √c∘(x − x̄) with an intercept, else √c∘x

Where columns of Z depend on each other and no penalty decides, the minimizers are a plane, and
where on it a method ends is its own affair: one that preconditions, goes by coordinates, or moves
the intercept with the coefficients does not end at the smallest. That is u, the part of w in the
span of the rows; LSQR from zero never leaves that span.

Columns depend on each other if there are more than rows to tell them apart. Where there are fewer,
they are looked at in 20p of the rows: columns that are independent there are so in all.

Cost: two passes a step, min(n, p) steps in exact arithmetic; the look O(p³), and for p ≤ 500 alone.
Paige & Saunders, ACM TOMS 8 (1982).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, lsqr

from thalweg.certificates.certify import certify
from thalweg.core.run import Run
from thalweg.kernels.rows import CSR
from thalweg.objectives.linear import LinearProblem

EPS = float(np.finfo(np.float64).eps)
MOST = 500  # columns that are looked at, where there are more rows
FEW = 20  # rows of such a look, times p: few sparse columns are empty in all of them
STEPS = 4  # times min(n, p): LSQR loses orthogonality, and takes more than in theory
SAME = 1e-14  # of F(0): by which F may differ where scores are equal but for rounding


def is_open(problem: LinearProblem) -> bool:
    """Whether there may be many minimizers: no penalty that counts, and dependent columns."""
    return problem.is_loose and _may_depend(problem, problem.centred.column_squares)


def at_smallest(problem: LinearProblem, run: Run) -> Run | None:
    """The run, ended at the smallest coefficients of its scores; None where they are not found."""
    w = smallest(problem, run.w)
    value = problem.value(w)
    if not value <= run.value + SAME * problem.value(np.zeros_like(w)):
        return None
    certificate = certify(problem, w, dual=run.dual, tol=run.tol)
    if run.certificate.holds and not certificate.holds:
        if value > run.value:
            return None
        certificate = run.certificate  # what is proved there is so here, where F is no higher
    return replace(run, w=w, value=value, certificate=certificate)


def smallest(problem: LinearProblem, w: np.ndarray) -> np.ndarray:
    """The smallest coefficients with the scores of `w`, and the intercept, as far as LSQR gets."""
    data = problem.centred
    roots = np.sqrt(data.weights)
    inverses = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)
    coefficients, b = data.split(problem.enter(w, data))

    def times(u: np.ndarray) -> np.ndarray:
        return roots * data.scores(data.features.join(u.ravel(), np.zeros_like(b)))

    def adjoint(r: np.ndarray) -> np.ndarray:
        return data.transpose(inverses * r.ravel())

    Z = LinearOperator((data.n, data.p), matvec=times, rmatvec=adjoint, dtype=np.float64)
    most = STEPS * min(data.n, data.p)
    u = lsqr(Z, times(coefficients), atol=EPS, btol=EPS, conlim=0.0, iter_lim=most)[0]
    return data.enter(data.features.join(u, b), problem).astype(w.dtype, copy=False)


def _may_depend(problem: LinearProblem, squares: np.ndarray) -> bool:
    """Whether columns depend on each other, or do in the rows that are looked at."""
    rows = np.flatnonzero(problem.weights)
    p = problem.p
    if p > rows.size - problem.fit_intercept:
        return True
    if p > MOST:
        return False
    few = np.random.default_rng(0).choice(rows, min(rows.size, FEW * p), replace=False)
    X = problem.matrix.take(np.sort(few)).rows
    if isinstance(X, CSR):
        X = scipy.sparse.csr_array((X.data, X.indices, X.indptr), shape=(few.size, p)).toarray()
    X = X[:, squares > 0.0].astype(np.float64)  # no method moves the others
    if problem.fit_intercept:
        X -= X.mean(axis=0)
    lengths = np.sqrt((X**2).sum(axis=0))
    if not lengths.all():
        return True
    return bool(np.linalg.matrix_rank(np.linalg.qr(X / lengths, mode="r")) < X.shape[1])
