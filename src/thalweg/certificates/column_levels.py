"""A dual point moved to where columns ask it to be: vⱼ = 0 for one that nothing holds, and so on.

    δθᵢ = ℓ″ᵢ xᵢᵀβ    over columns A      Σᵢ cᵢℓ″ᵢ x_A x_Aᵀ β = the change of v_A that is asked for

Scaling does not lead from slopes θ into the domain of R* where that ends at zero: v of a column
that nothing holds, or of one with a single bound and no penalty (`column_dual`). Beside the optimum
it is nearly there, and the rest is one step of Newton's in the columns A: those, and all whose v is
known at the optimum, as their coefficient is neither zero nor at a bound. By Newton's step a sample
moves in proportion to its curvature, and so hardly beyond the domain of ℓ*.

An intercept is one of A, with Σ cᵢθᵢ = 0. Ends of the domain that can be kept clear of are, by
twice what rounding may do to v. Columns that a step takes beyond their ends join A.

Cost: the Gram matrix of A, n|A|², its factor, and some passes over X.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from thalweg.certificates.column_dual import ColumnDual, column_dual
from thalweg.kernels.rows import CSR
from thalweg.objectives.columns import gather
from thalweg.objectives.gram import weighted_means
from thalweg.objectives.linear import LinearProblem

ROUNDS = 8
MOST = 2_000  # columns of A
RIDGE = 1e-14  # on a diagonal of ones
CLEAR = 2.0  # times the rounding of v, from an end of its domain


def must_level(problem: LinearProblem) -> bool:
    """Whether R* has a domain that ends at zero, so that slopes have to be moved."""
    if problem.by_column is None or problem.outputs > 1:
        return False
    held = column_dual(problem)
    least, most = held.domain
    return bool(np.any((least == 0.0) | (most == 0.0)))


def levelled(
    problem: LinearProblem,
    held: ColumnDual,
    w: np.ndarray,
    z: np.ndarray,
    theta: np.ndarray,
    unit: float,
) -> np.ndarray:
    """θ near the slopes `theta` at `w` with its scores `z`; `unit` is the rounding of a sum.

    As far as it gets: the bound that is made of it shows how far.
    """
    coefficients = w[: problem.p]
    bends = problem.term.bends(problem.rows, z)
    c = problem.weights
    share = np.divide(bends, c, out=np.zeros_like(c), where=c > 0.0)
    lengths = problem.features.lengths()
    means = weighted_means(problem)
    # Away from bounds and from the kink of l1: v is known there.
    is_in = (coefficients > held.low) & (coefficients < held.high) & (held.l2 == 0.0)
    is_in &= (coefficients != 0.0) | (held.l1 == 0.0)
    members, A, factor = np.empty(0, dtype=np.int64), None, None
    for _ in range(ROUNDS):
        v = problem.transpose(theta)
        e = unit * float(np.sqrt(c @ theta**2)) * lengths
        goal, is_beyond = _goal(held, coefficients, -v, e)
        if A is not None and not is_beyond.any():
            break
        is_in = is_in | is_beyond
        if np.count_nonzero(is_in) > MOST:
            break
        if A is None or np.count_nonzero(is_in) != members.size:
            members = np.flatnonzero(is_in)
            A = _rows(problem, members, means)
            factor = _factor(A, share)
        assert factor is not None
        change = -goal[members] - v[members]
        if problem.fit_intercept:
            change = np.append(change, -(c @ theta))
        roots = np.sqrt(c)
        step = share * (A.T @ _solve(factor, change))
        theta = theta + np.divide(step, roots, out=np.zeros_like(step), where=roots > 0.0)
        if not np.all(np.isfinite(theta)):
            break
    return theta


def _goal(
    held: ColumnDual, w: np.ndarray, u: np.ndarray, e: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where u is to be if it has to move, and which are beyond their ends.

    A bound that wⱼ is not at is as good as none: u beyond l1ⱼ would cost its distance times that.
    """
    free, is_linear = held.is_free, held.l2 == 0.0
    least, most = held.domain
    near = np.where(is_linear & (w > held.low), -held.l1, -np.inf)
    far = np.where(is_linear & (w < held.high), held.l1, np.inf)
    goal = np.clip(np.where(w == 0.0, u, held.l1 * np.sign(w)), near, far)
    goal = np.clip(goal, least + CLEAR * e, most - CLEAR * e)
    edge = 0.5 * CLEAR * e
    is_beyond = (u > far + edge) | (u < near - edge) | (u > most - edge) | (u < least + edge)
    return np.where(free, 0.0, goal), np.where(free, np.abs(u) > e, is_beyond)


def _rows(problem: LinearProblem, members: np.ndarray, means: np.ndarray) -> Any:
    """√c∘x of the columns, and √c of the intercept, as rows."""
    A = gather(problem, members, means)
    roots = np.sqrt(problem.weights)
    if isinstance(A, CSR):
        rows = scipy.sparse.csr_array(tuple(A), shape=(members.size, problem.n))
        return scipy.sparse.vstack([rows, roots[None]], "csr") if problem.fit_intercept else rows
    return np.vstack([A, roots]) if problem.fit_intercept else A


def _factor(A: Any, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Gram matrix of the rows, in units that leave ones on its diagonal, factored."""
    if isinstance(A, np.ndarray):
        G = (A * share) @ A.T
    else:
        G = (A.multiply(share[None]).tocsr() @ A.T).toarray()
    D = np.diag(G)
    units = 1.0 / np.sqrt(np.where(D > 0.0, D, 1.0))
    G = G * np.outer(units, units)
    G[np.diag_indices_from(G)] += RIDGE * len(G) + (D <= 0.0)
    factor, info = scipy.linalg.lapack.dpotrf(G, lower=1)
    if info != 0:
        curvatures, Q = np.linalg.eigh(G)
        factor = (Q * np.sqrt(np.maximum(curvatures, RIDGE * len(G)))).copy()
        factor = np.asarray(np.linalg.qr(factor.T, mode="r")).T
    return factor, units


def _solve(factor: tuple[np.ndarray, np.ndarray], r: np.ndarray) -> np.ndarray:
    L, units = factor
    half = scipy.linalg.solve_triangular(L, units * r, lower=True, check_finite=False)
    return units * scipy.linalg.solve_triangular(L, half, lower=True, trans=1, check_finite=False)
