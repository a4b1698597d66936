"""Minimise a small quadratic with an l1 penalty: sweeps find the support, a linear system the rest.

    minimise over d   gᵀd + ½dᵀHd + Σⱼ λⱼ|wⱼ + dⱼ|

in variables in which H has ones on its diagonal, so that units do not matter. Coordinate descent
(`kernels.quadratic`) finds in a few sweeps which coordinates are not zero, and then may take
thousands to place them, where H is badly conditioned. On a support S with its signs σ the function
is a quadratic: with s = g + Hd,

    H_SS e = −s_S − λσ          d_S ← d_S + te

leads to its minimum, and lowers the function all the way up to the first t ≤ 1 at which a sign
changes; that coordinate stays at zero. A coordinate with λ = 0 has no sign, and is always in S.
Sweeps follow, until no coordinate is far from optimality. A tiny ridge keeps the system regular
where features are alike; it slows the way to the minimum, and does not move it.

Cost: a row of H for each move of a sweep, |S|³/3 multiplications for a system.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from thalweg.kernels.quadratic import descend_quadratic

FEW_SWEEPS = 8  # over all coordinates, before a system is solved
MOST_SYSTEMS = 30
MOST_SWEEPS = 100  # where those are not enough
RIDGE = 1e-13  # on a diagonal of ones


def minimise_quadratic(
    H: np.ndarray, s: np.ndarray, thresholds: Any, w: np.ndarray, tight: float, share: float = 0.0
) -> None:
    """Change `w` to about w + d and `s` from g to g + Hd, in place; λ is a number or float64[m].

    It ends when no coordinate was further than `tight` from optimality in a sweep, or than this
    `share` of the furthest one at the start, in units of H's diagonal.
    """
    lam = np.broadcast_to(np.asarray(thresholds, dtype=np.float64), w.shape)
    D = np.diag(H)
    d = 1.0 / np.sqrt(np.where(D > 0.0, D, 1.0))
    lam, x, g = d * lam, w / d, d * s
    scaled = H * np.outer(d, d)
    goal = max(tight * float(d.min()), share * float(_violations(x, g, lam).max(initial=0.0)))
    for _ in range(MOST_SYSTEMS):
        if descend_quadratic(scaled, g, lam, x, goal, FEW_SWEEPS) < FEW_SWEEPS:
            break
        if not _jump(scaled, g, lam, x):
            descend_quadratic(scaled, g, lam, x, goal, MOST_SWEEPS)
            break
    else:
        descend_quadratic(scaled, g, lam, x, goal, MOST_SWEEPS)
    w[:], s[:] = d * x, g / d


def _violations(x: np.ndarray, g: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """How far 0 is from the subdifferential, coordinate by coordinate."""
    at_zero = np.maximum(np.abs(g) - lam, 0.0)
    return np.where(x == 0.0, at_zero, np.abs(g + lam * np.sign(x)))


def _jump(H: np.ndarray, g: np.ndarray, lam: np.ndarray, x: np.ndarray) -> bool:
    """Solve the system of the support and go as far as signs allow, in place; whether it moved."""
    support = np.flatnonzero(((x != 0.0) | (lam == 0.0)) & (np.diag(H) > 0.0))
    if not support.size:
        return False
    old, signs = x[support], np.sign(x[support])
    A = H[np.ix_(support, support)]
    A[np.diag_indices_from(A)] += RIDGE * support.size
    factor, info = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1)
    if info != 0:  # features that are alike
        return False
    e = scipy.linalg.lapack.dpotrs(factor, -g[support] - lam[support] * signs, lower=1)[0]
    is_bound = (e * old < 0.0) & (lam[support] > 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        to_zero = np.where(is_bound, -old / e, np.inf)
    t = min(1.0, float(to_zero.min(initial=np.inf)))
    new = np.where(to_zero <= t, 0.0, old + t * e)
    if not np.all(np.isfinite(new)):
        return False
    g += (new - old) @ H[support]
    x[support] = new
    return True
