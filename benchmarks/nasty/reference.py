"""What a linear problem's objective is at a point, with a bound on the error of saying so.

    F(w, b) = Σᵢ ωᵢ ℓ(xᵢᵀw + b, yᵢ) + (l2/2)‖w‖² + l1‖w‖₁        ωᵢ = sᵢ/Σs

Scores are formed from pairs of long doubles (`twofold`) in coordinates where nothing cancels that
does not have to: columns are centred where an intercept can take up the shift, and scaled by
powers of two,

    B = (A − 1cᵀ)·diag(1/unit)    v = unit·w    β = b + cᵀw,      A = (X − 1mᵀ)·diag(scale)

with m and scale of standardizing as the problem states them. All of this is exact but for 2⁻¹²⁰ of
the largest term, and the error of a value is bounded by

    ε·Σ ωᵢ (|ℓ′ᵢ||aᵢ| + 16ℓᵢ) + ε·(log₂n + 16)·F + 2⁻¹²⁰·Σ ωᵢ|ℓ′ᵢ|·(|B||v| + |β|)ᵢ,      ε = 2⁻⁶³.

From below, weak duality: for every u with Σωu = 0 (where there is an intercept) and g = Σ ωᵢuᵢxᵢ,

    F* ≥ −Σ ωᵢ ℓ*(uᵢ, yᵢ) − Σⱼ (|gⱼ| − l1)₊²/(2·l2),

without the last sum where there is no l2 and ‖g‖∞ ≤ l1. The slopes at a good point, made feasible,
give the u (Rockafellar, Convex Analysis, §31).
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from nasty.losses import REGRESSION, arguments, conjugates, slopes, values
from nasty.twofold import (
    EPS,
    UNIT,
    Long,
    Twofold,
    add,
    matmul,
    multiply,
    two_sum,
    twofold,
)


class Canonical(NamedTuple):
    """A case in coordinates (v, β) where rounding does least; samples of weight 0 are left out."""

    loss: str
    B: Twofold  # centred, scaled features, [n, p]
    y: (
        Twofold | np.ndarray
    )  # target less `shift`, [n]; ±1 as longdouble[n]; or class numbers, int[n]
    omega: np.ndarray  # ωᵢ, longdouble[n], sums to 1
    l1: np.ndarray  # longdouble[p]
    l2: np.ndarray  # longdouble[p]
    delta: float
    intercept: bool
    outputs: int  # K
    centre: np.ndarray  # c, longdouble[p]
    unit: np.ndarray  # powers of two, longdouble[p]
    shift: Long  # what was taken off the target


class Point(NamedTuple):
    """Coefficients and intercepts of a canonical problem."""

    v: np.ndarray  # longdouble[p, K]
    beta: Twofold  # [K]


class Value(NamedTuple):
    """F at a point, and how wrong that may be."""

    F: Long
    error: Long


def canonical(case, means=None, scales=None) -> Canonical:
    """`case` in good coordinates, standardized by `means` and `scales` as the problem has them."""
    X = case.X.toarray() if scipy.sparse.issparse(case.X) else np.asarray(case.X)
    s = np.ones(len(X)) if case.sample_weight is None else np.asarray(case.sample_weight)
    keep = s > 0
    omega = s[keep].astype(Long)
    omega /= np.sum(omega)
    y, outputs, shift = coded(case, keep, omega)
    if case.standardize and means is None:
        means, scales = standardization(case)
    A = standardized(X[keep], means, scales) if case.standardize else twofold(X[keep])
    centre = np.zeros(X.shape[1], dtype=Long)
    if case.fit_intercept:
        # A constant column is to vanish, which its mean, rounded, does not quite make it.
        constant = np.all((A.high == A.high[:1]) & (A.low == A.low[:1]), axis=0)
        centre = np.where(constant, A.high[0], omega @ A.high)
    B = add(A, twofold(-centre[None, :] + np.zeros_like(A.high)))
    size = np.max(np.abs(B.high), axis=0)
    unit = np.exp2(np.ceil(np.log2(np.where(size > 0, size, 1))))
    B = Twofold(B.high / unit, B.low / unit)
    l1, l2 = case.l1 / unit, case.l2 / unit**2
    delta = case.delta
    return Canonical(
        case.loss, B, y, omega, l1, l2, delta, case.fit_intercept, outputs, centre, unit, shift
    )


def coded(case, keep: np.ndarray, omega: np.ndarray):
    """The kept targets as the losses want them, how many scores a sample has, and the shift."""
    y = np.asarray(case.y)
    if case.loss in REGRESSION:
        y = y[keep].astype(Long)
        shift = omega @ y if case.fit_intercept else Long(0)
        shift = y[0] if case.fit_intercept and np.all(y == y[0]) else shift
        return two_sum(y, -shift), 1, shift
    classes, codes = np.unique(y, return_inverse=True)
    if case.loss == "multinomial":
        return codes[keep], len(classes), Long(0)
    return (2 * codes[keep] - 1).astype(Long), 1, Long(0)


def standardization(case) -> tuple[np.ndarray, np.ndarray]:
    """Means, 0 without an intercept, and 1/deviations, 1 for constant columns; all by weight."""
    X = case.X.toarray() if scipy.sparse.issparse(case.X) else np.asarray(case.X)
    s = np.ones(len(X)) if case.sample_weight is None else np.asarray(case.sample_weight)
    X, omega = X[s > 0].astype(Long), s[s > 0].astype(Long)
    omega /= np.sum(omega)
    # Around a value of the column itself, constant columns are exactly so.
    shifted = X - X[0]
    mean = omega @ shifted
    deviation = np.sqrt(omega @ (shifted - mean) ** 2)
    scales = 1 / np.where(deviation > 0, deviation, 1)
    means = mean + X[0] if case.fit_intercept else np.zeros(X.shape[1])
    return means.astype(np.float64), scales.astype(np.float64)


def standardized(X: np.ndarray, means: np.ndarray, scales: np.ndarray) -> Twofold:
    """The features (X − mean)·scale."""
    centred = two_sum(X.astype(Long), -means.astype(Long)[None, :])
    return multiply(centred, twofold(scales.astype(Long)[None, :] + np.zeros(X.shape)))


def point(problem: Canonical, w: np.ndarray) -> Point:
    """Variables, coefficients [p, K] first and intercepts last, in canonical coordinates."""
    p, K = len(problem.unit), problem.outputs
    w = np.asarray(w, dtype=np.float64).astype(Long)
    W = w[: p * K].reshape(p, K)
    b = w[p * K :] if problem.intercept else np.zeros(K, dtype=Long)
    moved = matmul(Twofold(problem.centre[None, :], np.zeros((1, p), dtype=Long)), W)
    beta = add(twofold(b), Twofold(moved.high[0], moved.low[0]))
    return Point(W * problem.unit[:, None], add(beta, twofold(-problem.shift + np.zeros(K))))


def scores(problem: Canonical, at: Point) -> Twofold:
    """z = Bv + β, [n, K], to the digits of pairs."""
    z = matmul(problem.B, at.v)
    return add(z, Twofold(at.beta.high[None, :], at.beta.low[None, :]))


def value(problem: Canonical, at: Point) -> Value:
    """F(v, β) and a bound on its error."""
    a = arguments(problem.loss, scores(problem, at), problem.y)
    losses = values(problem.loss, a, problem.delta)
    u = np.abs(slopes(problem.loss, a, problem.y, problem.delta))
    penalties = np.sum(problem.l2[:, None] * at.v**2) / 2 + np.sum(
        problem.l1[:, None] * np.abs(at.v)
    )
    F = np.sum(problem.omega * losses) + penalties
    size = np.abs(problem.B.high) @ np.abs(at.v) + np.abs(at.beta.high)
    rounding = np.sum(problem.omega * (np.sum(u * np.abs(a), axis=1) + 16 * losses))
    scoring = np.sum(problem.omega[:, None] * u * size) + UNIT * np.max(size) ** 2
    return Value(F, EPS * (rounding + (np.log2(len(a)) + 16) * F) + UNIT * scoring)


def feasible(problem: Canonical, u: np.ndarray) -> np.ndarray:
    """Slopes u[n, K] made to have Σωu = 0 without leaving the domain of the conjugate."""
    if not problem.intercept:
        return u
    omega = problem.omega[:, None]
    if problem.outputs == 1:
        up, down = np.sum(omega * np.maximum(u, 0)), np.sum(omega * np.maximum(-u, 0))
        least, most = min(up, down), max(up, down)
        heavy = np.sign(u) == (1 if up > down else -1)
        return np.where(heavy, u * (least / most), u) if most > 0 else u
    own = np.eye(problem.outputs, dtype=Long)[problem.y]
    q = np.maximum(u + own, 0)
    mass, excess = np.sum(omega * q, axis=0), np.sum(omega * u, axis=0)
    taken = q * (np.maximum(excess, 0) / np.where(mass > 0, mass, 1))
    wanting = np.maximum(-excess, 0)
    if not np.sum(wanting) > 0:
        return u
    return u - taken + np.sum(taken, axis=1, keepdims=True) * (wanting / np.sum(wanting))


def dual_value(problem: Canonical, a: np.ndarray) -> Long:
    """The dual value of the slopes at arguments a[n, K], or 0 if that is more: F* is not below."""
    u = feasible(problem, slopes(problem.loss, a, problem.y, problem.delta))
    g = np.abs(problem.B.high.T @ (problem.omega[:, None] * u))
    l1, l2 = problem.l1[:, None], problem.l2[:, None]
    cost = Long(0)
    if np.any(problem.l2 > 0):
        cost = np.sum(np.maximum(g - l1, 0) ** 2 / (2 * l2))
    elif np.any(problem.l1 > 0):
        u = u / max(np.max(g / l1), Long(1))
    else:
        return cost
    return max(-np.sum(problem.omega * conjugates(problem.loss, u, problem.y)) - cost, Long(0))
