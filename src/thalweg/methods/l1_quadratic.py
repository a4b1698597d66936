"""Minimise a small quadratic with an l1 penalty: sweeps find the support, linear systems the rest.

    minimise over d   q(d) = gᵀd + ½dᵀHd + Σⱼ λⱼ|wⱼ + dⱼ|

in variables in which H has ones on its diagonal, so that units do not matter. Coordinate descent
(`kernels.quadratic`) finds in a few sweeps which coordinates are not zero, and then may take
thousands to place them, where H is badly conditioned. On a support S with its signs σ the function
is a quadratic: with s = g + Hd,

    H_SS e = −s_S − λσ          d_S ← d_S + te

leads to its minimum. Where a sign changes on the way, q has a kink: it is convex and piecewise
quadratic in t, and t is where it is lowest, a coordinate that stops at its kink stays at zero. A
coordinate with λ = 0 has no sign, and is always in S. Where H_SS is singular and the right side is
not in its range, q falls at a constant rate along what is left of it, up to a kink: features that
are multiples of each other leave S so, but for one.

Sweeps and systems take turns. Where that does not end it, coordinates join S one at a time, the one
that is furthest from optimality first, each followed by a system: q falls at every step, and no
support with its signs comes twice.

Cost: a row of H for each move of a sweep, |S|³/3 multiplications for a system.
Lee, Battle, Raina & Ng, NeurIPS 2006, for the search by systems alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from thalweg.kernels.quadratic import descend_quadratic

FEW_SWEEPS = 8  # over all coordinates, before a system is solved
MOST_SYSTEMS = 30  # between sweeps
MOST_JOINS = 500  # one at a time
RIDGE = 1e-13  # on a diagonal of ones
ULPS = 2.0**-51  # of the terms of s, which are what they are
PATIENCE = 5  # joins in a row that gain nothing


def minimise_quadratic(
    H: np.ndarray, s: np.ndarray, thresholds: Any, w: np.ndarray, tight: float, share: float = 0.0
) -> None:
    """Change `w` to about w + d and `s` from g to g + Hd, in place; λ is a number or float64[m].

    It ends when no coordinate was further than `tight` from optimality in a sweep, or than this
    `share` of the furthest one at the start, in units of H's diagonal; nor is it looked for beyond
    the rounding of s.
    """
    lam = np.broadcast_to(np.asarray(thresholds, dtype=np.float64), w.shape)
    D = np.diag(H)
    d = 1.0 / np.sqrt(np.where(D > 0.0, D, 1.0))
    lam, x, g = d * lam, w / d, d * s
    scaled = H * np.outer(d, d)
    goal = max(tight * float(d.min()), share * float(_violations(x, g, lam).max(initial=0.0)))
    goal = max(goal, ULPS * float((np.abs(scaled) @ np.abs(x)).max(initial=0.0)))
    if not _by_turns(scaled, g, lam, x, goal):
        _by_joins(scaled, g, lam, x, goal)
    w[:], s[:] = d * x, g / d


def _by_turns(H: np.ndarray, g: np.ndarray, lam: np.ndarray, x: np.ndarray, goal: float) -> bool:
    """Sweeps and systems in turn, in place; whether that was enough."""
    for _ in range(MOST_SYSTEMS):
        if descend_quadratic(H, g, lam, x, goal, FEW_SWEEPS) < FEW_SWEEPS:
            return True
        if not jump(H, g, lam, x, _support(H, lam, x)):
            return False
    return False


def _by_joins(H: np.ndarray, g: np.ndarray, lam: np.ndarray, x: np.ndarray, goal: float) -> None:
    """Systems alone, in place; a coordinate joins when those of the support are better placed."""
    first, start = g.copy(), x.copy()
    least, idle = np.inf, 0
    for _ in range(MOST_JOINS):
        far = _violations(x, g, lam)
        S = _support(H, lam, x)
        far[np.diag(H) <= 0.0] = 0.0
        worst = int(np.argmax(far))
        if far[worst] <= goal or idle >= PATIENCE:
            return
        is_joining = x[worst] == 0.0 and lam[worst] > 0.0
        if not jump(H, g, lam, x, np.append(S, worst) if is_joining else S):
            return
        d = x - start
        g[:] = first + H @ d  # many small changes would add up their rounding
        value = 0.5 * float((first + g) @ d) + float(lam @ np.abs(x))
        idle = 0 if value < least else idle + 1
        least = min(value, least)


def _support(H: np.ndarray, lam: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The coordinates that are not zero, or have nothing to hold them there."""
    return np.flatnonzero(((x != 0.0) | (lam == 0.0)) & (np.diag(H) > 0.0))


def _violations(x: np.ndarray, g: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """How far 0 is from the subdifferential, coordinate by coordinate."""
    at_zero = np.maximum(np.abs(g) - lam, 0.0)
    return np.where(x == 0.0, at_zero, np.abs(g + lam * np.sign(x)))


def jump(
    H: np.ndarray,
    g: np.ndarray,
    lam: np.ndarray,
    x: np.ndarray,
    S: np.ndarray,
    ridge: np.ndarray | None = None,
) -> bool:
    """Solve the system of S and go to where q is lowest that way, in place; whether it moved.

    A `ridge`, float64[m], is on the diagonal besides H: g is then without its part.
    """
    if not S.size:
        return False
    old, slopes, held = x[S], g[S], lam[S]
    signs = np.where(old != 0.0, np.sign(old), -np.sign(slopes))  # one at zero joins downhill
    rows = H[S]
    A = rows[:, S]
    if ridge is not None:
        np.einsum("ii->i", A)[:] += ridge[S]
        slopes = slopes + ridge[S] * old
    e = _solved(A, -slopes - held * signs)
    if not np.all(np.isfinite(e)):
        return False
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        kinks = np.where((old * e < 0.0) & (held > 0.0), -old / e, np.inf)
        t = _lowest(float(slopes @ e + (held * signs) @ e), float(e @ A @ e), kinks, held * abs(e))
        new = np.where(kinks == t, 0.0, old + t * e)
    if not np.all(np.isfinite(new)) or np.array_equal(new, old):
        return False
    g += (new - old) @ rows
    x[S] = new
    return True


def _solved(A: np.ndarray, r: np.ndarray) -> np.ndarray:
    """(A + τI)⁻¹r, τ tiny: a way down, if not the shortest, where A is singular."""
    ridged = A.T.copy(order="F")  # A is symmetric: LAPACK's order, without another copy
    np.einsum("ii->i", ridged)[:] += RIDGE * len(r)
    factor, info = scipy.linalg.lapack.dpotrf(ridged, lower=1, clean=0, overwrite_a=1)
    if info == 0:
        return scipy.linalg.lapack.dpotrs(factor, r, lower=1)[0]
    curvatures, Q = np.linalg.eigh(A)
    return Q @ ((Q.T @ r) / np.maximum(curvatures, RIDGE * len(r)))


def _lowest(slope: float, curvature: float, kinks: np.ndarray, rises: np.ndarray) -> float:
    """Where a convex function of t ≥ 0 is lowest, of this slope at 0 and this curvature.

    At each of the `kinks` its slope grows by twice that of `rises`; 0 where it does not fall.
    """
    if not slope < 0.0:
        return 0.0
    last = 0.0
    for j in np.argsort(kinks):
        t = -slope / curvature if curvature > 0.0 else np.inf
        if t <= kinks[j] or kinks[j] == np.inf:
            return t if t < np.inf else last
        slope += 2.0 * float(rises[j])
        last = float(kinks[j])
        if slope + last * curvature >= 0.0:
            return last
    return last
