"""The corner that an interior point heads for: which hinges are at theirs, and the point they make.

A hinge that is open has λ = κ, a closed one λ = 0, and one at its corner g = 0: of samples F at a
corner, and of coefficients S that are not held at 0, the optimum solves

    X_FS w + b = y_F + se        l2·w + X_FSᵀu = −Σ cᵢθᵢxᵢ − η        Σu = −Σ cᵢθᵢ

with the sums over the other samples, u = c∘θ of those in F, and η = ±l1. Without l2 both are square
systems, of linear programming's basis. Where too many hinges are at their corners, or too few, many
points solve one of them, and the one nearest to the interior point is among the optimal ones where
that is near enough. Nothing is proved here: whoever asked looks at the gap.

Cost: a system of |F| + |S| variables.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from thalweg.methods.hinges import Hinges
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.tube import Tube

MOST = 2_000  # variables of the system
FEW = 500  # up to which it is solved where it is singular, too
LEFT = 1e-9  # of the right side, that a solution may leave
REFINED = 3  # times: from what is known, and by a step more than what is solved for needs
CUT = 1e-12  # of the largest singular value: those below are 0


def corner(
    data: LinearProblem,
    loss: Tube,
    rows: Hinges,
    columns: Hinges,
    near: tuple[np.ndarray, np.ndarray],
    size: float,
    *,
    may_be_singular: bool,
) -> tuple[np.ndarray, np.ndarray] | None:
    """(w, b), float64[dim], and θ, float64[n], next to those of `near`.

    Residuals are measured by `size`.

    None where the system is too large or has no solution, or is singular and may not be.
    """
    s, e, kappa = np.array(loss.hinges).T[:, :, None]
    opened, is_free = _sides(rows, size)
    theta = loss.base + np.sum(s * kappa * opened, axis=0)
    at = np.flatnonzero(is_free.any(axis=0) & (data.weights > 0.0))
    eta, S = np.zeros(data.p), np.arange(data.p)
    if columns.four.size:
        is_right, is_held = _sides(columns, float(np.max(np.abs(columns.g))) or size)
        eta, S = np.where(is_right, data.l1, -data.l1), np.flatnonzero(~is_held)
    if at.size + S.size > MOST:
        return None
    place = np.sum(s * e * is_free[:, at], axis=0)
    theta[at] = 0.0
    pull = (data.transpose(theta) + eta)[S]
    A, right = np.zeros((0, S.size)), data.y[at] + place
    if at.size:
        A = data.sample(at).features.dense[:, S]
    if data.fit_intercept:
        A, pull = np.column_stack([A, np.ones(at.size)]), np.append(pull, data.weights @ theta)
    u = (data.weights * near[1])[at]
    known = np.concatenate([near[0][S], near[0][data.p :], u])
    found = _solved(data, A, pull, right, known, may_be_singular)
    if found is None:
        return None
    w = np.zeros(data.dim)
    w[S] = found[: S.size]
    if data.fit_intercept:
        w[-1] = found[S.size]
    theta[at] = found[S.size + data.fit_intercept :] / data.weights[at]
    return w, np.clip(theta, -loss.below, loss.above)


def _sides(hinges: Hinges, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Which hinges are open, and which at their corner."""
    kappa = hinges.share + hinges.rest
    is_open = hinges.ahead * kappa > hinges.rest * size
    is_closed = hinges.behind * kappa > hinges.share * size
    return is_open & ~is_closed, ~is_open & ~is_closed


def _solved(
    data: LinearProblem,
    A: np.ndarray,
    pull: np.ndarray,
    right: np.ndarray,
    known: np.ndarray,
    may_be_singular: bool,
) -> np.ndarray | None:
    """w_S, b and u, float64[|S| + 1 + |F|], next to what is `known`."""
    m, k = A.shape
    ridge = np.full(k, data.l2)
    if data.fit_intercept:
        ridge[-1] = 0.0
    squares = np.einsum("ij,ij->j", A, A) + ridge
    units = np.ones(k + m)  # powers of two, which cost no digits
    units[:k] = np.exp2(-np.round(0.5 * np.log2(np.where(squares > 0.0, squares, 1.0))))
    K = np.zeros((k + m, k + m))
    K[:k, :k] = np.diag(ridge)
    K[k:, :k], K[:k, k:] = A, A.T
    K *= np.outer(units, units)
    goal = units * np.concatenate([-pull, right])
    known = known / units
    found = _eliminated(K, goal, known) if data.l2 > 0.0 or m == k else None
    if found is None and may_be_singular and 0 < len(K) <= FEW:
        found = known + scipy.linalg.lstsq(K, goal - K @ known, cond=CUT)[0]
    return None if found is None else units * found


def _eliminated(K: np.ndarray, right: np.ndarray, known: np.ndarray) -> np.ndarray | None:
    """The solution by elimination, if it is one.

    Of a small system what is left is reckoned with more digits, so that a solution in whole numbers
    comes out as such.
    """
    if not len(K):
        return known
    lu, pivots, info = scipy.linalg.lapack.dgetrf(K)
    if info != 0:
        return None
    exact: np.ndarray = K.astype(np.longdouble) if len(K) <= FEW else K
    found: np.ndarray = known.astype(exact.dtype)
    for _ in range(REFINED):
        left = (right - exact @ found).astype(np.float64)
        found = found + scipy.linalg.lapack.dgetrs(lu, pivots, left)[0]
    found = found.astype(np.float64)
    is_one = np.allclose(K @ found, right, rtol=0.0, atol=LEFT * float(np.abs(right).max()))
    return found if is_one else None
