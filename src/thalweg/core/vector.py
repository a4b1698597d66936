"""Products of long vectors, on the thread that asks for them, and how far their sizes are apart."""

from __future__ import annotations

import math

import numpy as np

SPLITTER = 2.0**27 + 1.0


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """aᵀb, summed in float64.

    BLAS would wake its other threads for vectors of ten thousand numbers. That gains nothing, as
    they are in cache, and costs milliseconds where those threads have to wait for a processor.
    """
    return float(np.einsum("i,i", a, b, dtype=np.float64, casting="safe"))


def exact_dot(a: np.ndarray, b: np.ndarray, *terms: float) -> float:
    """Σ terms + aᵀb as if computed with twice the digits of float64, and rounded once.

    Each product is split into its rounded value and what that lost (Veltkamp and Dekker), and all
    of these are summed exactly. For vectors of a few thousand numbers at most: it takes a hundred
    times as long as `dot`. What overflows in the split is summed as it is.

    >>> exact_dot(np.array([1e16, 1.0, -1e16]), np.array([1.0, 1.0, 1.0]))
    1.0
    """
    product = a * b
    a_high, b_high = _high(a), _high(b)
    a_low, b_low = a - a_high, b - b_high
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    if not np.isfinite(lost).all():
        return sum(terms) + dot(a, b)
    return math.fsum((*terms, *product.tolist(), *lost.tolist()))


def _high(a: np.ndarray) -> np.ndarray:
    """The upper 26 bits of each number."""
    shifted = SPLITTER * a
    return shifted - (shifted - a)


def spread(squares: np.ndarray) -> float:
    """The root of the largest over the smallest of those that are not zero; 1 where there is none.

    >>> spread(np.array([0.0, 4.0, 1.0]))
    2.0
    """
    positive = squares[squares > 0.0]
    return math.sqrt(positive.max() / positive.min()) if positive.size else 1.0
