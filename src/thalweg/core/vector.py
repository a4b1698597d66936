"""Products of long vectors, on the thread that asks for them, and how far their sizes are apart."""

from __future__ import annotations

import math

import numpy as np


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """aᵀb, summed in float64.

    BLAS would wake its other threads for vectors of ten thousand numbers. That gains nothing, as
    they are in cache, and costs milliseconds where those threads have to wait for a processor.
    """
    return float(np.einsum("i,i", a, b, dtype=np.float64, casting="safe"))


def spread(squares: np.ndarray) -> float:
    """The root of the largest over the smallest of those that are not zero; 1 where there is none.

    >>> spread(np.array([0.0, 4.0, 1.0]))
    2.0
    """
    positive = squares[squares > 0.0]
    return math.sqrt(positive.max() / positive.min()) if positive.size else 1.0
