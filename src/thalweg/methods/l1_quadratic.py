"""Minimise a small quadratic with an l1 penalty: sweeps find the support, linear systems the rest.

    minimise over d   q(d) = gᵀd + ½dᵀHd + Σⱼ λⱼ|wⱼ + dⱼ|        lowⱼ ≤ wⱼ + dⱼ ≤ highⱼ

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

Bounds are kinks from where q rises to infinity. A coordinate at one that is pulled beyond it is not
in S; where the way ends at a bound, the end of the whole step, moved between all bounds, is tried
too, as many coordinates may come to rest at once.

Sweeps and systems take turns. Where that does not end it, coordinates join S one at a time, the one
that is furthest from optimality first, each followed by a system: q falls at every step, and no
support with its signs comes twice.

Cost: a row of H for each move of a sweep, |S|³/3 multiplications for a system.
Lee, Battle, Raina & Ng, NeurIPS 2006, for the search by systems alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from thalweg.kernels.quadratic import descend_quadratic

FEW_SWEEPS = 8  # over all coordinates, before a system is solved
MOST_SYSTEMS = 30  # between sweeps
MOST_JOINS = 500  # one at a time
RIDGE = 1e-13  # on a diagonal of ones
ULPS = 2.0**-51  # of the terms of s, which are what they are
PATIENCE = 5  # joins in a row that gain nothing


class Walls(NamedTuple):
    """The bounds of the coordinates."""

    low: np.ndarray  # float64[m]
    high: np.ndarray  # float64[m]

    def stops(self, x: np.ndarray, pull: np.ndarray) -> np.ndarray:
        """Which coordinates are at a bound, and pulled beyond it by slopes `pull`."""
        return ((x <= self.low) & (pull >= 0.0)) | ((x >= self.high) & (pull <= 0.0))

    def at(self, S: np.ndarray | slice) -> Walls:
        """Those of some coordinates."""
        return Walls(self.low[S], self.high[S])


def minimise_quadratic(
    H: np.ndarray,
    s: np.ndarray,
    thresholds: Any,
    w: np.ndarray,
    tight: float,
    share: float = 0.0,
    walls: Walls | None = None,
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
    near = None if walls is None else Walls(walls.low / d, walls.high / d)
    far = _violations(x, g, lam, near)
    goal = max(tight * float(d.min()), share * float(far.max(initial=0.0)))
    goal = max(goal, ULPS * float((np.abs(scaled) @ np.abs(x)).max(initial=0.0)))
    if not _by_turns(scaled, g, lam, x, goal, near):
        _by_joins(scaled, g, lam, x, goal, near)
    w[:], s[:] = d * x, g / d
    if walls is not None and near is not None:  # to the bounds themselves, and no ulp beyond
        np.copyto(w, walls.low, where=x <= near.low)
        np.copyto(w, walls.high, where=x >= near.high)
        np.clip(w, walls.low, walls.high, out=w)


def _by_turns(
    H: np.ndarray, g: np.ndarray, lam: np.ndarray, x: np.ndarray, goal: float, walls: Walls | None
) -> bool:
    """Sweeps and systems in turn, in place; whether that was enough."""
    low, high = walls or Walls(np.full(x.size, -np.inf), np.full(x.size, np.inf))
    for _ in range(MOST_SYSTEMS):
        if descend_quadratic(H, g, lam, low, high, x, goal, FEW_SWEEPS) < FEW_SWEEPS:
            return True
        if not jump(H, g, lam, x, _support(H, g, lam, x, walls), walls=walls):
            return False
    return False


def _by_joins(
    H: np.ndarray, g: np.ndarray, lam: np.ndarray, x: np.ndarray, goal: float, walls: Walls | None
) -> None:
    """Systems alone, in place; a coordinate joins when those of the support are better placed."""
    first, start = g.copy(), x.copy()
    least, idle = np.inf, 0
    for _ in range(MOST_JOINS):
        far = _violations(x, g, lam, walls)
        S = _support(H, g, lam, x, walls)
        far[np.diag(H) <= 0.0] = 0.0
        worst = int(np.argmax(far))
        if far[worst] <= goal or idle >= PATIENCE:
            return
        is_joining = x[worst] == 0.0 and lam[worst] > 0.0
        if not jump(H, g, lam, x, np.append(S, worst) if is_joining else S, walls=walls):
            return
        d = x - start
        g[:] = first + H @ d  # many small changes would add up their rounding
        value = 0.5 * float((first + g) @ d) + float(lam @ np.abs(x))
        idle = 0 if value < least else idle + 1
        least = min(value, least)


def _support(
    H: np.ndarray, g: np.ndarray, lam: np.ndarray, x: np.ndarray, walls: Walls | None
) -> np.ndarray:
    """The coordinates that are not zero, or have nothing to hold them there."""
    is_free = ((x != 0.0) | (lam == 0.0)) & (np.diag(H) > 0.0)
    if walls is not None:
        is_free &= ~walls.stops(x, g + lam * np.sign(x))
    return np.flatnonzero(is_free)


def _violations(x: np.ndarray, g: np.ndarray, lam: np.ndarray, walls: Walls | None) -> np.ndarray:
    """How far 0 is from the subdifferential, coordinate by coordinate."""
    if walls is not None:
        return np.abs(shortest(x, g, lam, walls))
    at_zero = np.maximum(np.abs(g) - lam, 0.0)
    return np.where(x == 0.0, at_zero, np.abs(g + lam * np.sign(x)))


def shortest(x: np.ndarray, g: np.ndarray, lam: np.ndarray, walls: Walls) -> np.ndarray:
    """The shortest subgradient, coordinate by coordinate: none beyond a bound counts."""
    low, high = np.where(x == 0.0, g - lam, g + lam * np.sign(x)), g + lam * np.sign(x)
    high = np.where(x == 0.0, g + lam, high)
    low[x <= walls.low], high[x >= walls.high] = -np.inf, np.inf
    return np.clip(0.0, low, high)


def jump(
    H: np.ndarray,
    g: np.ndarray,
    lam: np.ndarray,
    x: np.ndarray,
    S: np.ndarray,
    ridge: np.ndarray | None = None,
    walls: Walls | None = None,
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
        first, bend, rises = float(slopes @ e + (held * signs) @ e), float(e @ A @ e), held * abs(e)
        if walls is None:
            t = _lowest(first, bend, kinks, rises)
            new = np.where(kinks == t, 0.0, old + t * e)
        else:
            new = _between(walls.at(S), (slopes, A, held), old, e, (first, bend, kinks, rises))
    if not np.all(np.isfinite(new)) or np.array_equal(new, old):
        return False
    g += (new - old) @ rows
    x[S] = new
    return True


def _between(
    walls: Walls, q: tuple[Any, ...], old: np.ndarray, e: np.ndarray, way: tuple[Any, ...]
) -> np.ndarray:
    """Where q is lowest on the way from `old` along e up to the first bound, or between all."""
    slopes, A, held = q
    first, bend, kinks, rises = way
    low, high = walls
    ends = np.where(e > 0.0, (high - old) / e, np.where(e < 0.0, (low - old) / e, np.inf))
    both, steep = np.concatenate([kinks, ends]), np.concatenate([rises, np.full(e.size, np.inf)])
    t = _lowest(first, bend, both, steep)
    new = np.where(kinks == t, 0.0, old + t * e)
    new = np.where(ends == t, np.where(e > 0.0, high, low), np.clip(new, low, high))
    if not np.any(ends <= max(t, 1.0)):
        return new
    whole = np.clip(old + e, low, high)
    whole[(whole * old < 0.0) & (held > 0.0)] = 0.0
    values = []
    for point in (new, whole):
        d = point - old
        held_more = held @ (np.abs(point) - np.abs(old))
        values.append(float(slopes @ d + 0.5 * (d @ A @ d) + held_more))
    return whole if values[1] < values[0] else new


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
