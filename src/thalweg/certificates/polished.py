"""A gap that rounding does not widen: Newton's steps on a small problem, with twice the digits.

Near the optimum of a badly scaled problem the slopes at a rounded w are a bad dual point: an ulp of
w moves vⱼ = Σᵢ cᵢθᵢxᵢⱼ by an ulp of Σᵢ cᵢxᵢⱼ²wⱼ, which may dwarf l2·wⱼ, and D loses its square over
2·l2. So the optimum is sought in numbers that have twice the digits (`kernels.twofold`): with w, z,
the slopes and the gradient as pairs,

    w ← w + te        w + e where the quadratic at w, plus l1, is least (`exact_step`)

The slopes at the last w are the dual point (`exact_slopes`): any θ is one, and its D is computed
with twice the digits again. Of the given point P is computed so as well. The intercept is the
coefficient of a column of ones that no penalty holds. The last w, rounded, may be better than the
given one: it is returned beside the gap.

H is a float64 matrix as long as that gets anywhere, and of pairs, with factors of pairs, from then
on, if it is small enough: columns of 10⁹ that are nearly alike need that. For K classes it is made
of the pairs of them,

    uᵀHu = Σᵢ Σ_{k<m} cᵢpᵢₖpᵢₘ (x̂ᵢᵀuₖ − x̂ᵢᵀuₘ)² + l2‖u‖²

so that the rounding of p changes each square by an ulp of it, also in directions that are hardly
bent. Along one vector added to all classes nothing is bent: their mean is taken off where no l1
forbids it, and H made stiff along it.

Cost: some 10 looks at X, of 30K operations an entry, and as many factorisations; memory 5np
numbers. For problems of a million entries at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse

from thalweg.certificates.dual_point import BALANCED, EPS, TINY, LowerBound, unit
from thalweg.certificates.exact_slopes import exact_losses
from thalweg.certificates.exact_step import exact_step
from thalweg.certificates.pair import Pair
from thalweg.core.vector import dot
from thalweg.kernels import twofold_passes as passes
from thalweg.kernels.duality import sides_pass
from thalweg.kernels.rows import CSR
from thalweg.objectives.linear import LinearProblem
from thalweg.objectives.own_score import OwnScore

MOST_ENTRIES = 5_000_000  # of X as a dense matrix, times the number of scores
MOST_VARIABLES = 600  # of a matrix that is factorised some ten times
MOST_PRODUCTS = 30_000_000  # of pairs, for a matrix of them and its factors: 15 ms
STEPS = 40
ENOUGH = 0.1  # of the limit: a gap that is not worth another step
SLOW = 0.5  # of the last gap: one that float64 does not make smaller than this
GAIN = 0.9  # of the gap after the last step that gained something
PATIENCE = 3  # steps that gain nothing
HALVINGS = 12


class Polished(NamedTuple):
    """What twice the digits show of a point."""

    primal: float  # P at the given point
    dual: float  # the best D that was found
    rounding: float  # of both
    w: np.ndarray  # the point that D belongs to, rounded, float64[dim]


class Look(NamedTuple):
    """All that is known at a point. Of q rows, the last is that of the intercepts, if any."""

    w: Pair  # float64[q, K]
    z: Pair  # scores, float64[n, K]
    value: float  # P
    theta: Pair  # slopes, float64[n, K]
    bends: np.ndarray  # cᵢℓ″, float64[n, 1], or probabilities, float64[n, K]
    v: Pair  # Σ cᵢx̂ᵢθᵢᵀ, float64[q, K]
    g: Pair  # ∇f = v + l2·w, float64[q, K]


def affordable(problem: LinearProblem) -> bool:
    """Whether the problem is small enough, has a penalty, and its terms have twice the digits."""
    return (
        problem.n * problem.p * problem.outputs <= MOST_ENTRIES
        and problem.dim <= MOST_VARIABLES
        and (problem.l1 > 0.0 or problem.l2 > 0.0)
        and problem.is_built_in
        and problem.has_bound
    )


def polished(problem: LinearProblem, w: np.ndarray, limit: float) -> Polished:
    """The gap at `w`, float64[dim], as tight as it gets, or as `limit` asks for."""
    return _Polish(problem).run(np.asarray(w, dtype=np.float64), limit)


class _Polish:
    def __init__(self, problem: LinearProblem) -> None:
        self.problem = problem
        n, p, q = problem.n, problem.p, problem.p + problem.fit_intercept
        X = problem.matrix.rows
        if isinstance(X, CSR):
            X = scipy.sparse.csr_array(tuple(X), shape=problem.matrix.shape).toarray()
        X = np.array(X, dtype=np.float64, order="C")  # its own: kernels are compiled once
        self.A = Pair.of(np.ones((n, q)))  # x̂ and 1
        passes.features_pass(X, problem.features.place, problem.features.units, *self.A)
        self.c = np.array(problem.weights, dtype=np.float64)
        assert not isinstance(problem.term, OwnScore)
        self.losses = exact_losses(problem.term, self.c)
        is_held = np.arange(q)[:, None] < p
        self.l1, self.l2 = problem.l1 * is_held, problem.l2 * is_held  # of each row, float64[q, 1]
        self.lengths = np.sqrt(np.einsum("i,ij,ij->j", self.c, self.A.high, self.A.high))

    def run(self, w: np.ndarray, limit: float) -> Polished:
        problem = self.problem
        high = np.array(w).reshape(-1, problem.outputs)
        at = self.look(Pair.of(high))
        given, rounding = at.value, self.value_rounding(at)
        if problem.outputs > 1:
            at = self.look(self.settled(at.w))
        bound, best = self.bound(at), at
        is_exact, idle = False, 0
        goal = GAIN * (at.value - bound.floor)
        for _ in range(STEPS):
            gap = given + rounding - bound.floor
            if gap <= ENOUGH * limit or idle > PATIENCE:
                break
            ahead = self.stepped(at, is_exact)
            idle += 1
            if ahead is not None:
                found = self.bound(ahead)
                # Steps that creep are those of a loss whose curvature is elsewhere, not rounded.
                left = ahead.value - max(found.floor, bound.floor)
                # While there is no bound, any fall of P is a gain.
                if left < goal or (left == np.inf and ahead.value < at.value):
                    idle, goal = 0, GAIN * left
                if found.floor > bound.floor:
                    bound, best = found, ahead
                at = ahead
            is_slow = not given + rounding - bound.floor < SLOW * gap
            if is_slow and not is_exact and self.is_small():
                is_exact, idle = True, 0
            elif ahead is None:
                break
        return Polished(given, bound.value, rounding + bound.rounding, best.w.high.ravel())

    def is_small(self) -> bool:
        """Whether a matrix of pairs is affordable."""
        dim = self.problem.dim
        return (self.problem.n + dim) * dim**2 <= MOST_PRODUCTS

    def settled(self, w: Pair) -> Pair:
        """The point with the mean over the classes taken off the rows that no l1 holds."""
        for _ in range(2):  # a mean is rounded, and leaves a rest
            mean = (w.high + w.low).mean(axis=1, keepdims=True)
            w = w.plus(Pair.of(np.where(self.l1 > 0.0, 0.0, -mean)))
        return w

    def look(self, w: Pair) -> Look:
        """Scores and slopes at a pair."""
        z = Pair.empty(self.problem.n, self.problem.outputs)
        passes.scores_pass(*self.A, *w, *z)
        losses, theta, bends = self.losses.slopes(z)
        v = Pair.empty(*w.high.shape)
        passes.transpose_pass(*self.A, self.c, *theta, *v)
        g = v.plus(w.times(self.l2))
        return Look(w, z, losses + self.penalties(w), theta, bends, v, g)

    def penalties(self, w: Pair) -> float:
        """(l2/2)‖w‖² + l1‖w‖₁ of the coefficients."""
        W = w.high[: self.problem.p]
        return self.problem.ridge(W) + self.problem.l1 * float(np.abs(W).sum())

    def stepped(self, at: Look, is_exact: bool) -> Look | None:
        """The point after a step of Newton's, if P is no higher there."""
        H = self.hessian(at.bends, is_exact)
        l1 = np.repeat(self.l1, self.problem.outputs)
        w = exact_step(H, at.g.reshape(-1), at.w.reshape(-1), l1, is_exact)
        if w is None:
            return None
        ahead = w.reshape(*at.w.high.shape)
        e = ahead.plus(at.w.times(-1.0))
        noise = 4.0 * EPS * abs(at.value)
        for halvings in range(1, HALVINGS):
            if np.array_equal(ahead.high, at.w.high) and np.array_equal(ahead.low, at.w.low):
                return None
            found = self.look(ahead)
            if found.value <= at.value + noise:
                return found
            ahead = at.w.plus(e.times(0.5**halvings))
        return None

    def hessian(self, bends: np.ndarray, is_exact: bool) -> Pair:
        """H, float64[qK, qK]; as stiff along one vector added to all classes as along others."""
        K, q = self.problem.outputs, self.A.high.shape[1]
        H = Pair.of(np.zeros((q, K, q, K)))
        if K == 1:
            H.put(np.s_[:, 0, :, 0], self.gram(bends[:, 0].copy(), is_exact))
        for k in range(K):
            for m in range(k):
                G = self.gram(self.c * bends[:, k] * bends[:, m], is_exact)
                for a, b in ((k, m), (m, k)):
                    H.put(np.s_[:, a, :, b], G.times(-1.0))
                    H.put(np.s_[:, a, :, a], H.at(np.s_[:, a, :, a]).plus(G))
        if K > 1:
            # No slope is along it; with l1 it is a direction like others.
            stiff = np.where(self.l1[:, 0] > 0.0, 0.0, np.einsum("jkjk->j", H.high) / K**2)
            rows = np.arange(q)
            blocks = np.s_[rows, :, rows, :]
            H.put(blocks, H.at(blocks).plus(Pair.of(stiff[:, None, None])))
        return H.reshape(q * K, q * K).plus(Pair.of(np.diag(np.repeat(self.l2, K))))

    def gram(self, h: np.ndarray, is_exact: bool) -> Pair:
        """Σᵢ hᵢx̂ᵢx̂ᵢᵀ, float64[q, q]."""
        A = self.A
        if not is_exact:
            return Pair.of((A.high.T * h) @ A.high)
        G = Pair.empty(A.high.shape[1], A.high.shape[1])
        passes.gram_pass(*A, h, *G)
        return G

    def bound(self, at: Look) -> LowerBound:
        """D at the slopes, scaled into ‖v‖∞ ≤ l1 where l2 = 0, and its rounding."""
        problem, p = self.problem, self.problem.p
        spread, lengths, scale = self.spread(at.theta.high), self.lengths[:p], 1.0
        # What v is off by, each class by itself, in units of the lengths of the columns.
        off = unit(problem.n + problem.outputs) * EPS * spread
        shrunk = 0.0
        if problem.fit_intercept:
            shrunk, moved = self.balanced(at, np.abs(at.v.high[p]) + off)
            if not shrunk <= BALANCED:
                return LowerBound(-np.inf, 0.0)
            off = off + moved
        error = np.multiply.outer(lengths, off)
        v = np.abs(at.v.high[:p])
        if problem.l2 == 0.0:
            steepest = float((v * (1.0 + EPS) + error).max(initial=0.0))
            if steepest > problem.l1:
                scale = problem.l1 / (steepest * (1.0 + 4.0 * EPS))
        conjugates, size = self.losses.conjugates(at.z, at.theta, scale)
        rounding = unit(1) * (size + abs(conjugates)) + 2.0 * shrunk * (size + shrunk)
        if problem.l2 == 0.0:
            return LowerBound(-conjugates, rounding)
        beyond = (v - problem.l1) + np.sign(at.v.high[:p]) * at.v.low[:p]
        beyond, error = np.maximum(beyond, 0.0).ravel(), error.ravel()
        penalty = dot(beyond, beyond) / (2.0 * problem.l2)
        rounding += (dot(beyond, error) + 0.5 * dot(error, error)) / problem.l2
        return LowerBound(-conjugates - penalty, rounding + unit(beyond.size) * penalty)

    def balanced(self, at: Look, left: np.ndarray) -> tuple[float, np.ndarray]:
        """What making Σ cθ zero would do: the share of slopes that is moved, and what moves v.

        Of one score, the slopes of the heavier side are shrunk. Of several, mass of classes that
        are predicted too often is moved to those predicted too rarely, as in `dual_point`: a class
        of Σ cp = s that is over by σ gives the share σ/s of each p. Σ cᵢθᵢ is off by `left`.
        """
        if self.problem.outputs == 1:
            shrunk = left / max(*sides_pass(at.theta.high.ravel(), self.c), TINY)
            return float(shrunk[0]), shrunk * self.spread(at.theta.high)
        shrunk = left / np.maximum(self.c @ at.bends, TINY)
        moved = shrunk * self.spread(at.bends)
        return float(shrunk.max()), moved + moved.sum()

    def spread(self, theta: np.ndarray) -> np.ndarray:
        """√(Σ cᵢθᵢ²) of each class, float64[K]."""
        return np.sqrt(np.einsum("i,ik,ik->k", self.c, theta, theta))

    def value_rounding(self, at: Look) -> float:
        """What rounding has left in P."""
        delta = unit(self.problem.p) * EPS * (self.lengths @ np.abs(at.w.high))
        by_scores = dot(delta, self.spread(at.theta.high)) + 0.5 * dot(delta, delta)
        if self.problem.fit_intercept:
            # An intercept that came from another origin was rounded on its way.
            moved = EPS * np.abs(at.w.high[-1])
            by_scores += dot(moved, np.abs(at.v.high[-1])) + 0.5 * dot(moved, moved)
        return by_scores + unit(1) * abs(at.value) + unit(at.w.high.size) * self.penalties(at.w)
