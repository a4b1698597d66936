"""Newton's step with l1 and twice the digits: where a quadratic plus l1 is least.

    minimise over x   gᵀ(x − w) + ½(x − w)ᵀH(x − w) + Σⱼ l1ⱼ|xⱼ|

by an active set ("feature-sign search", Lee, Battle, Raina & Ng, NIPS 2006). On the coordinates A
that are not zero or have no l1, signs θ fixed, it is a system of equations,

    H_AA d = −(s + l1θ)_A        s = g + H(x − w)        x_A ← x_A + td

with t = 1, or where the first of them gets to zero, which is then left out. Once all is solved, the
zero that is furthest beyond |sⱼ| ≤ l1ⱼ joins. The value falls with each step, so no set comes back.

All are pairs; the factors of H are, too, if asked for. H is taken in units of its diagonal, powers
of two, which cost no digits.

Cost: a factorisation a step, one step without l1.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from thalweg.certificates.pair import Pair
from thalweg.kernels import twofold_passes as passes

STEPS = 60
RIDGE = 1e-14  # on a diagonal of ones; of pairs its square
MORE = 1e4  # times that, where it was not enough
BEYOND = 1e-13  # of l1, that a slope is beyond it by; of pairs its square


def exact_step(H: Pair, g: Pair, w: Pair, l1: np.ndarray, is_exact: bool) -> Pair | None:
    """x from `w`, all float64[m]; None where H has no factor."""
    D = np.diag(H.high)
    if not np.all(np.isfinite(H.high)):
        return None
    d = np.exp2(-np.round(0.5 * np.log2(np.where(D > 0.0, D, 1.0))))
    H, g, l1 = H.times(np.outer(d, d)), g.times(d), d * l1
    w = x = w.times(1.0 / d)
    slopes, is_solved = g, False
    beyond = l1 * (1.0 + (BEYOND**2 if is_exact else BEYOND))
    for _ in range(STEPS):
        signs, active = np.sign(x.high), (l1 == 0.0) | (x.high != 0.0)
        if is_solved or not active.any():
            excess = np.where(active, 0.0, np.abs(slopes.high) - beyond)
            j = int(np.argmax(excess))
            if not excess[j] > 0.0:
                break
            active[j], signs[j] = True, -np.sign(slopes.high[j])
        A = np.flatnonzero(active)
        right = slopes.at(A).plus(Pair.of(l1[A] * signs[A])).times(-1.0)
        move = _solved(H.at(np.ix_(A, A)), right, is_exact)
        if move is None:
            return None
        crosses = (l1[A] > 0.0) & (x.high[A] * (x.high[A] + move.high) < 0.0)
        times = np.divide(-x.high[A], move.high, out=np.ones(len(A)), where=crosses)
        t = float(times.min())
        x = Pair(x.high.copy(), x.low.copy())
        x.put(A, x.at(A).plus(move.times(t)))
        x.put(A[crosses & (times == t)], Pair.of(np.zeros(np.sum(crosses & (times == t)))))
        slopes, is_solved = g.plus(_product(H, x.plus(w.times(-1.0)))), not crosses.any()
    return x.times(d)


def _product(H: Pair, e: Pair) -> Pair:
    """He."""
    out = Pair.empty(len(e.high), 1)
    passes.scores_pass(*H, *e.reshape(-1, 1), *out)
    return out.reshape(-1)


def _solved(H: Pair, right: Pair, is_exact: bool) -> Pair | None:
    """H⁻¹ of the right-hand side, for H of a diagonal near 1, raised by next to nothing."""
    m = len(right.high)
    least = (RIDGE**2 if is_exact else RIDGE) * m
    for ridge in (least, MORE * least):
        raised = H.plus(Pair.of(ridge * np.eye(m)))
        if is_exact and passes.factor_pass(*raised):
            x = Pair(right.high.copy(), right.low.copy())
            passes.solve_pass(*raised, *x)
            return x if np.all(np.isfinite(x.high)) else None
        if not is_exact:
            factor, info = scipy.linalg.lapack.dpotrf(raised.high, lower=1)
            if info == 0:
                found = scipy.linalg.lapack.dpotrs(factor, right.high, lower=1)[0]
                return Pair.of(found) if np.all(np.isfinite(found)) else None
    return None
