"""A square root that follows the kind of its argument.

`x**0.5` would do on every kind, but promotes float32 to float64 in compiled code and costs a
general power. The compiled form is registered in `thalweg.kernels.elementwise`.
"""

import math

import numpy as np


def sqrt(x):
    """√x for a float, a NumPy array or scalar, or a torch tensor; `x` must not be negative."""
    if type(x) is float:
        return math.sqrt(x)
    if hasattr(x, "sqrt"):  # a torch tensor, recognised without importing torch
        return x.sqrt()
    return np.sqrt(x)
