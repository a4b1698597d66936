"""What does the penalty do to the solution?

At the constant predictor (w = 0, best b) the data pull with the slope g = ∇(1/Σs)Σsᵢℓᵢ. At the
solution the penalty holds what is left of it. Where the curvature is h in all directions,

    w = g/(h + l2)        l2‖w‖ / ‖g‖ = l2/(h + l2) = 1 − ‖w‖/‖w without penalty‖

so the share s = l2‖w‖/‖g‖ is the part of the coefficients that the penalty took: 0 for a penalty
that does nothing, 1 for one that does everything; elsewhere it is a mean of that over directions,
weighted by how much the data pull along them. Before a solution is known it is certain that

    s ≥ l2/L        L with l2, as the problem states it

because the slope of the data term, b at its best, changes by at most (L − l2)‖w‖ on the way from g
to −l2·w, so that ‖g‖ ≤ L‖w‖.

With l1 all coefficients are zero exactly if l1 ≥ ‖g‖∞. How far the solution would move without the
penalty is Newton's step from it on the data term alone, H without l2 there,

    Δ = (H − l2·I)⁺(l2·w + l1·sign w)        among the coefficients in use

Cost: two passes for g; Δ by eigenvalues up to 1,000 variables, beyond that by at most 100 passes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from thalweg.certificates.dual_point import slopes
from thalweg.certificates.duality import best_constant
from thalweg.doctor.linear.facts.curvature import ROUNDING, affordable, in_use
from thalweg.objectives.hessian import LinearHessian
from thalweg.objectives.linear import MULTINOMIAL, LinearProblem

PRODUCTS = 100  # for Δ by conjugate gradients
ENOUGH = 1e-2  # of the right-hand side: Δ is wanted to a digit


class Effect(NamedTuple):
    """What the penalty does; NaN where it is not known."""

    pull: float  # ‖g‖
    largest_pull: float  # ‖g‖∞, the l1 from which on all coefficients are zero
    share: float  # s; at least this before a solution is known
    zeros: int  # coefficients that are zero; −1 before a solution is known
    move: float  # ‖Δ‖/‖w‖


def effect(
    problem: LinearProblem, w: np.ndarray | None, part: LinearProblem | None = None
) -> Effect:
    """The effect at the solution `w`, or what is certain without one.

    The move is measured on the rows of `part`, if it is given.
    """
    g = problem.transpose(_constant_slopes(problem)).ravel()
    pull, largest = float(np.linalg.norm(g)), float(np.abs(g).max())
    if w is None:
        L = problem.usual_smoothness
        return Effect(pull, largest, problem.l2 / L if L > 0.0 else np.nan, -1, np.nan)
    coefficients, _ = problem.split(np.asarray(w, dtype=np.float64))
    length = float(np.linalg.norm(coefficients))
    zeros = int(np.sum(coefficients == 0.0))
    share = problem.l2 * length / pull if pull > 0.0 else np.nan
    move = _move(part or problem, w) / length if length > 0.0 else np.nan
    return Effect(pull, largest, share, zeros, move)


def _constant_slopes(problem: LinearProblem) -> np.ndarray:
    """θᵢ = ℓ′ᵢ at the best constant scores, float64[n] or [n, K]."""
    z = np.zeros(problem.score_shape)
    if problem.fit_intercept and problem.loss == MULTINOMIAL:
        shares = np.bincount(problem.y, weights=problem.weights, minlength=problem.outputs)
        z += np.log(np.maximum(shares, np.finfo(np.float64).tiny))
    elif problem.fit_intercept:
        z += best_constant(problem)
    return slopes(problem, z)[1]


def _move(problem: LinearProblem, w: np.ndarray) -> float:
    """‖Δ‖ over the coefficients; NaN where it did not come in time."""
    w = np.asarray(w, dtype=np.float64)
    is_penalised = np.arange(problem.dim) < problem.p * problem.outputs
    pressure = np.where(is_penalised, problem.l2 * w + problem.l1 * np.sign(w), 0.0)
    used = in_use(problem, w)
    hessian = problem.hessian_at(problem.scores(w))
    l2 = np.where(is_penalised, problem.l2, 0.0)[used]
    if affordable(problem, problem.dim):
        H = hessian.matrix()[np.ix_(used, used)] - np.diag(l2)
        values, vectors = np.linalg.eigh(H)
        is_seen = values > ROUNDING * values[-1]
        V = vectors[:, is_seen]
        step = V @ ((V.T @ pressure[used]) / values[is_seen])
    else:
        step, left = _solved(problem, hessian, used, l2, pressure[used])
        if left:
            return float("nan")
    return float(np.linalg.norm(step[is_penalised[used]]))


def _solved(
    problem: LinearProblem,
    hessian: LinearHessian,
    used: np.ndarray,
    l2: np.ndarray,
    pressure: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Δ by conjugate gradients, and 0 where they came to an end."""

    def product(v: np.ndarray) -> np.ndarray:
        whole = np.zeros(problem.dim)
        whole[used] = v
        return hessian.vector(whole)[used] - l2 * v

    H = LinearOperator((used.size, used.size), matvec=product, dtype=np.float64)
    return cg(H, pressure, rtol=ENOUGH, maxiter=PRODUCTS)
