"""Newton's direction where samples are fewer than features: a system of n unknowns in place of p.

    F(w, b) = Σᵢ cᵢℓ(zᵢ) + (l2/2)‖w‖²        z = X̂w + b,   rᵢ = cᵢℓ′(zᵢ),   hᵢ = cᵢℓ″(zᵢ)

The quadratic model at (w, b) has its minimum where l2·w⁺ + X̂ᵀ(r + h∘(X̂w⁺ − X̂w + β)) = 0: at a
combination of the rows, w⁺ = X̂ᵀa, and with K = X̂X̂ᵀ

    l2·a + h∘(Ka − X̂w + β) = −r              and Σ aᵢ = 0 with an intercept, which moves by β

Where hᵢ = 0, aᵢ = −rᵢ/l2; for the others a = s∘u with s = √h, and the system is definite:

    (l2·I + sKs) u = s∘(X̂w − Ka₀ − β) − r/s           a₀ the a of the rows without curvature

solved once for β = 0 and once for the share of β, and once more for what rounding left. As in ridge
regression (`ridge_system`), w⁺ = X̂ᵀa loses no digits as l2 → 0.

Cost: K once, n²p; then n³/3 a step, and a pass over X. Memory: 3n² numbers.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from thalweg.methods.problem import Point, Problem
from thalweg.objectives.linear import LinearProblem

RIDGE = 1e-13  # of the largest diagonal entry, where l2 is so small that no factor is found
REFINEMENTS = 1


def has_fewer_samples(data: object) -> bool:
    """Whether Newton's system is one of samples: fewer than features, one score, l2 alone."""
    return (
        isinstance(data, LinearProblem)
        and not data.term.is_matrix
        and data.l2 > 0.0
        and data.is_smooth
        and data.n < data.p
    )


def dual_direction(problem: Problem, point: Point, h: np.ndarray) -> np.ndarray | None:
    """(w⁺ − w, β), float64[dim], with the curvatures h, float64[n]; None where nothing is found."""
    data: LinearProblem = problem.objective
    W, b = data.split(point.w.astype(np.float64))
    K, l2 = data.features.row_products, data.l2
    r = data.term.weighted_slopes(data.rows, point.scores)
    bent = h > 0.0
    s, a = np.sqrt(h[bent]), np.where(bent, 0.0, -r / l2)
    if not s.size or not np.all(np.isfinite(a)):
        return None
    factor = _factor(l2, s, K[np.ix_(bent, bent)])
    if factor is None:
        return None

    def solved(rhs: np.ndarray) -> np.ndarray:
        return s * scipy.linalg.cho_solve((factor, True), rhs, check_finite=False)

    share = solved(s)  # of a, that a unit of β takes
    beta, fixed = 0.0, point.scores - b
    for _ in range(1 + REFINEMENTS):
        left = h * (fixed - K @ a - beta) - r - l2 * a
        change = solved(left[bent] / s)
        if data.fit_intercept:
            shift = (float(change.sum()) + float(a.sum())) / float(share.sum())
            change -= shift * share
            beta += shift
        a[bent] += change
    ahead = data.features.leave(*data.rows.transpose(_by_weight(data, a)))
    problem.passes += 1
    direction = data.features.join(ahead - W, beta)
    return direction if np.all(np.isfinite(direction)) else None


def _by_weight(data: LinearProblem, a: np.ndarray) -> np.ndarray:
    """a/c, as sums over rows are weighted; a sample without weight has none."""
    c = data.weights
    return np.divide(a, c, out=np.zeros_like(a), where=c > 0.0)


def _factor(l2: float, s: np.ndarray, K: np.ndarray) -> np.ndarray | None:
    """The lower Cholesky factor of l2·I + sKs; changes K in place."""
    K *= s[:, None]
    K *= s
    for ridge in (0.0, RIDGE * float(np.diag(K).max())):
        A = K.copy()
        A[np.diag_indices_from(A)] += l2 + ridge
        factor, info = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            return factor
    return None
