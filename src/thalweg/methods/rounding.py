"""What rounding does to a value: differences smaller than this say nothing of the function."""

from __future__ import annotations

import numpy as np

ULPS = 10.0  # of f within which two values count as equal


def rounding_of(value: float, dtype: np.dtype) -> float:
    """The noise in f(w) = `value` for w of this dtype.

    A Python float: a float32 would round the values that it is added to.
    """
    return ULPS * float(np.finfo(dtype).eps) * abs(value)
