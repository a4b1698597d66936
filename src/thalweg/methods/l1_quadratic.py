"""Minimise a small quadratic with an l1 penalty: sweeps find the support, a linear system the rest.

    minimise over d   gᵀd + ½dᵀHd + l1‖w + d‖₁

Coordinate descent (`kernels.quadratic`) finds in a few sweeps which coordinates are not zero, and
then may take hundreds to place them, where H is badly conditioned. On a support S with its signs σ
the function is a quadratic: with s = g + Hd,

    H_SS e = −s_S − l1·σ        d_S ← d_S + te

leads to its minimum, and lowers the function all the way up to the first t ≤ 1 at which a sign
changes; that coordinate stays at zero. Sweeps follow, until no coordinate is far from optimality.

Cost: a row of H for each move of a sweep, |S|³/3 multiplications for a system.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from thalweg.kernels.quadratic import descend_quadratic

FEW_SWEEPS = 8  # over all coordinates, before a system is solved
MOST_SYSTEMS = 5
MOST_SWEEPS = 100  # where those are not enough, or H is singular


def minimise_quadratic(
    H: np.ndarray, s: np.ndarray, l1: float, w: np.ndarray, tight: float
) -> None:
    """Change `w` to about w + d and `s` from g to g + Hd, in place.

    It ends when no coordinate was further than `tight` from optimality in a sweep.
    """
    thresholds = np.full(w.size, l1)
    for _ in range(MOST_SYSTEMS):
        if descend_quadratic(H, s, thresholds, w, tight, FEW_SWEEPS) < FEW_SWEEPS:
            return
        support = np.flatnonzero(w)
        old = w[support]
        try:
            factor = scipy.linalg.cho_factor(
                H[np.ix_(support, support)], overwrite_a=True, check_finite=False
            )
        except np.linalg.LinAlgError:  # features that are alike
            break
        e = scipy.linalg.cho_solve(factor, -s[support] - l1 * np.sign(old))
        with np.errstate(divide="ignore", invalid="ignore"):
            to_zero = np.where(e * old < 0.0, -old / e, np.inf)
        t = min(1.0, float(to_zero.min(initial=np.inf)))
        w[support] = np.where(to_zero <= t, 0.0, old + t * e)
        s += (w[support] - old) @ H[support]
    descend_quadratic(H, s, thresholds, w, tight, MOST_SWEEPS)
