"""A gap that rounding does not widen: Newton's steps on a small problem, with twice the digits.

Near the optimum of a badly scaled problem the slopes at a rounded w are a bad dual point: an ulp of
w moves vⱼ = Σᵢ cᵢθᵢxᵢⱼ by an ulp of Σᵢ cᵢxᵢⱼ²wⱼ, which may dwarf l2·wⱼ, and D loses its square over
2·l2. So the optimum is sought in numbers that have twice the digits (`kernels.twofold`): with w, z
and the gradient as pairs, and H as it is in float64,

    H_SS e = −(∇f(w) + l1 sign w)_S        w ← w + te        S the support, or all where l1 = 0

A coordinate that would change its sign stays at zero; one beyond its bound |∇fⱼ| ≤ l1 joins S. The
slopes at the last w are the dual point, pairs too where the loss is piecewise quadratic: any θ is
one, and its D is computed with twice the digits again. Of the given point P is computed so as well.

The last w, rounded, may be better than the given one: it is returned beside the gap.

Cost: some 10 looks at X, of 30 operations an entry, and as many factorisations; memory 4np numbers.
For problems of a million entries at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

from thalweg.certificates.dual_point import BALANCED, EPS, TINY, unit
from thalweg.core.vector import dot
from thalweg.kernels import twofold
from thalweg.kernels.duality import conjugates_pass, sides_pass, slopes_pass
from thalweg.kernels.losses import LOGISTIC
from thalweg.kernels.margins import curvatures_pass
from thalweg.kernels.rows import CSR
from thalweg.objectives.linear import LinearProblem

MOST_ENTRIES = 1_000_000  # of X as a dense matrix
MOST_VARIABLES = 600  # of a matrix that is factorised some ten times
STEPS = 40
ENOUGH = 0.1  # of the limit: a gap that is not worth another step
RIDGE = 1e-14  # on a diagonal of ones
HALVINGS = 12


class Polished(NamedTuple):
    """What twice the digits show of a point."""

    primal: float  # P at the given point
    dual: float  # the best D that was found
    rounding: float  # of both
    w: np.ndarray  # the point that D belongs to, rounded, float64[dim]


class Pair(NamedTuple):
    """A vector with twice the digits."""

    high: np.ndarray
    low: np.ndarray


class Look(NamedTuple):
    """All that is known at a point."""

    w: Pair  # coefficients, float64[p]
    b: tuple[float, float]
    z: np.ndarray  # scores, rounded, float64[n]
    value: float  # P
    theta: Pair  # slopes, float64[n]
    bends: np.ndarray  # cᵢℓ″, float64[n]
    g: np.ndarray  # ∇f by w, float64[p]
    v: np.ndarray  # Σ cᵢθᵢx̂ᵢ, float64[p]
    sigma: float  # Σ cᵢθᵢ, and ∇f by b


def affordable(problem: LinearProblem) -> bool:
    """Whether the problem is small enough, and has one score a sample."""
    return (
        not problem.term.is_matrix
        and problem.n * problem.p <= MOST_ENTRIES
        and problem.dim <= MOST_VARIABLES
        and (problem.l1 > 0.0 or problem.l2 > 0.0)
    )


def polished(problem: LinearProblem, w: np.ndarray, limit: float) -> Polished:
    """The gap at `w`, float64[dim], as tight as it gets, or as `limit` asks for."""
    return _Polish(problem).run(np.asarray(w, dtype=np.float64), limit)


class _Polish:
    def __init__(self, problem: LinearProblem) -> None:
        self.problem = problem
        X = problem.matrix.rows
        if isinstance(X, CSR):
            X = scipy.sparse.csr_array(tuple(X), shape=problem.matrix.shape).toarray()
        self.X = np.array(X, dtype=np.float64, order="C")  # its own: kernels are compiled once
        self.origin, self.d = problem.features.place, problem.features.units
        self.seen = (self.X - self.origin) * self.d  # x̂, for H alone

    def run(self, w: np.ndarray, limit: float) -> Polished:
        problem = self.problem
        coefficients, b = problem.split(w)
        at = self.look(Pair(coefficients.copy(), np.zeros(problem.p)), (float(b), 0.0))
        given, rounding = at.value, self.value_rounding(at)
        dual, error = self.bound(at)
        best = at
        for _ in range(STEPS):
            if given - dual + rounding + error <= ENOUGH * limit:
                break
            ahead = self.stepped(at)
            if ahead is None:
                break
            at = ahead
            found, more = self.bound(at)
            if found - more > dual - error:
                dual, error, best = found, more, at
        point = problem.features.join(best.w.high, best.b[0])
        return Polished(given, dual, rounding + error, point)

    def look(self, w: Pair, b: tuple[float, float]) -> Look:
        """Scores and slopes at a pair."""
        problem, n, p = self.problem, self.problem.n, self.problem.p
        W = _scaled(self.d, w)
        z, z_low = np.empty(n), np.empty(n)
        twofold.scores_pass(self.X, self.origin, *W, *b, z, z_low)
        c, term = problem.weights, problem.term
        theta, bends = np.empty(n), np.empty(n)
        losses = slopes_pass(term.code, z, term.y, c, term.delta, theta)
        curvatures_pass(z, term.y, c, term.code, term.delta, 0, n, bends)
        # What the low part of a score adds, to first order: beyond that nothing is left.
        losses += float(c @ (theta * z_low))
        theta_low = np.divide(bends, c, out=np.zeros(n), where=c > 0.0) * z_low
        if (
            term.code != LOGISTIC
        ):  # the slope is z − y where there is curvature, and 0 or ±δ elsewhere
            theta_low += np.where(bends > 0.0, _lost(z, term.y, theta), 0.0)
        r, r_low, v, v_low = np.empty(n), np.empty(n), np.empty(p), np.empty(p)
        sigma, _ = twofold.weighted_pass(c, theta, theta_low, r, r_low)
        twofold.transpose_pass(self.X, self.origin, r, r_low, v, v_low)
        v = self.d * v + self.d * v_low
        value = losses + problem.ridge(w.high) + problem.l1 * float(np.abs(w.high).sum())
        g = v + (problem.l2 * w.high + problem.l2 * w.low)
        return Look(w, b, z, value, Pair(theta, theta_low), bends, g, v, sigma)

    def stepped(self, at: Look) -> Look | None:
        """The point after a step of Newton's on the support, if P is no higher there."""
        problem, p = self.problem, self.problem.p
        w, l1 = at.w.high, problem.l1
        pull = np.where(w != 0.0, l1 * np.sign(w), 0.0)
        joins = (w == 0.0) & (np.abs(at.g) > l1)
        pull[joins] = -l1 * np.sign(at.g[joins])
        S = np.flatnonzero((w != 0.0) | joins) if l1 > 0.0 else np.arange(p)
        e, e_b = self.direction(at, S, at.g[S] + pull[S])
        if e is None:
            return None
        stays = np.zeros(p, dtype=bool)
        moves = np.zeros(p)
        moves[S] = e
        if l1 > 0.0:
            # Beyond zero the quadratic is another one; and one that joins must do so downhill.
            stays = ((w + moves) * w < 0.0) | (joins & (moves * at.g > 0.0))
        t = 1.0
        noise = 4.0 * EPS * abs(at.value)
        for _ in range(HALVINGS):
            ahead = _plus(at.w, t * moves)
            ahead.high[stays], ahead.low[stays] = 0.0, 0.0
            high, low = _two_sum(at.b[0], at.b[1] + t * e_b)
            if np.array_equal(ahead.high, w) and not np.any(ahead.low - at.w.low):
                return None
            found = self.look(ahead, (high, low))
            if found.value <= at.value + noise:
                return found
            t *= 0.5
        return None

    def direction(self, at: Look, S: np.ndarray, slopes: np.ndarray) -> tuple:
        """−H⁻¹ of the slopes in S and the intercept, by factors of H in units of its diagonal."""
        problem = self.problem
        A = self.seen[:, S]
        H = (A.T * at.bends) @ A
        H[np.diag_indices_from(H)] += problem.l2
        g = slopes
        if problem.fit_intercept:
            edge = A.T @ at.bends
            total = float(at.bends.sum())
            H = np.block([[H, edge[:, None]], [edge[None, :], np.full((1, 1), total)]])
            g = np.append(slopes, at.sigma)
        D = np.diag(H)
        if not (D.size and np.all(np.isfinite(H))):
            return None, 0.0
        d = 1.0 / np.sqrt(np.where(D > 0.0, D, 1.0))
        scaled = H * np.outer(d, d)
        scaled[np.diag_indices_from(scaled)] += RIDGE * len(d)
        factor, info = scipy.linalg.lapack.dpotrf(scaled, lower=1)
        if info != 0:
            scaled[np.diag_indices_from(scaled)] += 1e-10
            factor, info = scipy.linalg.lapack.dpotrf(scaled, lower=1)
            if info != 0:
                return None, 0.0
        e = -d * scipy.linalg.lapack.dpotrs(factor, d * g, lower=1)[0]
        if not np.all(np.isfinite(e)):
            return None, 0.0
        return (e[:-1], float(e[-1])) if problem.fit_intercept else (e, 0.0)

    def bound(self, at: Look) -> tuple[float, float]:
        """D at the slopes, scaled into ‖v‖∞ ≤ l1 where l2 = 0, and its rounding."""
        problem, term = self.problem, self.problem.term
        (theta, low), v, scale = at.theta, at.v, 1.0
        spread = float(np.sqrt(np.einsum("i,i,i", problem.weights, theta, theta)))
        lengths = np.sqrt(np.einsum("i,ij,ij->j", problem.weights, self.seen, self.seen))
        error = EPS * np.abs(v) + unit(problem.n) * EPS * lengths * spread
        left = 0.0
        if problem.fit_intercept:
            # Σcθ = σ is to be 0. Shrinking the slopes of the heavier side would see to that: D
            # loses σb by it to first order, and vⱼ moves by σ times a mean of x̂ⱼ on that side.
            left = abs(at.sigma) + unit(problem.n) * EPS * spread
            side = max(sides_pass(theta, problem.weights))
            if not left <= BALANCED * side:
                return -np.inf, 0.0
            error += left / max(side, TINY) * spread * lengths
        if problem.l2 == 0.0:
            steepest = float((np.abs(v) + error).max(initial=0.0))
            if steepest > problem.l1:
                scale = problem.l1 / (steepest * (1.0 + 4.0 * EPS))
                theta = scale * theta
        conjugates, size = conjugates_pass(term.code, theta, term.y, problem.weights, problem.delta)
        # The slope of ℓ* is z, or nearly, where θ was scaled: by that its low part counts.
        conjugates += scale * float(problem.weights @ (at.z * low))
        rounding = unit(1) * size + left * abs(at.b[0])
        if problem.l2 == 0.0:
            return -conjugates, rounding
        beyond = np.maximum(np.abs(v) - problem.l1, 0.0)
        penalty = dot(beyond, beyond) / (2.0 * problem.l2)
        rounding += (dot(beyond, error) + 0.5 * dot(error, error)) / problem.l2
        return -conjugates - penalty, rounding + unit(1) * penalty

    def value_rounding(self, at: Look) -> float:
        """What rounding has left in P."""
        problem = self.problem
        theta = at.theta.high
        spread = float(np.sqrt(np.einsum("i,i,i", problem.weights, theta, theta)))
        lengths = np.sqrt(np.einsum("i,ij,ij->j", problem.weights, self.seen, self.seen))
        size = abs(at.b[0]) + float(lengths @ np.abs(at.w.high))
        delta = unit(problem.p) * EPS * size
        penalties = problem.ridge(at.w.high) + problem.l1 * float(np.abs(at.w.high).sum())
        by_scores = delta * spread + 0.5 * delta**2
        return by_scores + unit(1) * abs(at.value) + unit(problem.p) * penalties


def _lost(z: np.ndarray, y: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """What z − y lost in rounding."""
    t = difference - z
    return (z - (difference - t)) - (y + t)


def _scaled(d: np.ndarray, w: Pair) -> Pair:
    """d∘w as a pair."""
    if np.all(d == 1.0):
        return w
    high = d * w.high
    low = np.array([twofold.two_product.py_func(a, b)[1] for a, b in zip(d, w.high, strict=True)])
    return Pair(high, low + d * w.low)


def _plus(w: Pair, e: np.ndarray) -> Pair:
    """w + e as a pair."""
    s = w.high + e
    t = s - w.high
    lost = (w.high - (s - t)) + (e - t)
    low = lost + w.low
    high = s + low
    return Pair(high, low - (high - s))


def _two_sum(a: float, b: float) -> tuple[float, float]:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)
