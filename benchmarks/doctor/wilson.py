"""The interval of a share k/n, after Wilson.

    (p + z²/2n ± z√(p(1 − p)/n + z²/4n²))/(1 + z²/n),   p = k/n

It is the set of shares from which k of n is not further than z standard errors, and stays within
[0, 1] where k is 0 or n.
"""

from __future__ import annotations

import math


def wilson(k: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Lower and upper end; [0, 1] where nothing was counted."""
    if n == 0:
        return 0.0, 1.0
    p = k / n
    middle = p + z**2 / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return max(0.0, (middle - half) / (1 + z**2 / n)), min(1.0, (middle + half) / (1 + z**2 / n))
