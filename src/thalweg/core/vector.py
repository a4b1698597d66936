"""Products of long vectors, on the thread that asks for them."""

from __future__ import annotations

import numpy as np


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """aᵀb, summed in float64.

    BLAS would wake its other threads for vectors of ten thousand numbers. That gains nothing, as
    they are in cache, and costs milliseconds where those threads have to wait for a processor.
    """
    return float(np.einsum("i,i", a, b, dtype=np.float64, casting="safe"))
