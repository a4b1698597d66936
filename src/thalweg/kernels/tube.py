"""Passes of dual coordinate ascent for tubes: visit rows, and give each its best dual.

With w = −Σ cᵢθᵢxᵢ/l2, z = xᵢᵀw and q = cᵢ‖xᵢ‖²/l2 that is, while the duals of the others stay,

    argmax over t of  −(yt + ε|t| + (β/2)t²) + z(t − θ) − (q/2)(t − θ)²     for −κ₋ ≤ t ≤ κ₊
    t = S(qθ + z − y, ε)/(q + β), clipped to that range

S the soft threshold; β is 0 for a tube, and ½ for a squared one, which has no range.
"""

from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.compile import kernel
from thalweg.kernels.rows import FAST_SUM, row_axpy, row_dot


class TubeSamples(NamedTuple):
    """The samples as the kernel sees them, and the loss."""

    X: Any  # rows, dense or CSR
    y: np.ndarray  # targets, float64[n]
    c: np.ndarray  # weights of sum 1, float64[n]
    squares: np.ndarray  # ‖xᵢ‖², float64[n]
    l2: float
    above: float  # κ₊
    below: float  # κ₋
    width: float  # ε
    bend: float  # β


@kernel(fastmath=FAST_SUM)
def tube_pass(samples, order, theta, w):
    """Visit the rows of `order`, changing `theta` and `w` in place."""
    X, y, c, squares, l2, above, below, width, bend = samples
    for i in order:
        q = c[i] * squares[i] / l2
        if q + bend <= 0.0 or c[i] == 0.0:
            continue
        k = q * theta[i] + row_dot(X, i, w) - y[i]
        k -= min(max(k, -width), width)
        t = min(max(k / (q + bend), -below), above)
        change = t - theta[i]
        if change != 0.0:
            theta[i] = t
            row_axpy(X, i, -c[i] * change / l2, w)
