"""Wilson's interval of a share: k successes of n.

    (p̂ + z²/2n ± z√(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n)          p̂ = k/n

All shares p for which k is within z standard errors √(p(1 − p)/n) of what p would give. Unlike
p̂ ± z√(p̂(1 − p̂)/n) it has width where k is 0 or n, and stays within [0, 1].
Wilson, JASA 22 (1927).
"""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson(k: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Both ends of the interval; [0, 1] where nothing was counted."""
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1.0 + level) / 2.0)
    share, spread = k / n, z * z / n
    middle = share + spread / 2.0
    half = math.sqrt(spread * share * (1.0 - share) + spread * spread / 4.0)
    low, high = (middle - half) / (1.0 + spread), (middle + half) / (1.0 + spread)
    # Exact where the formula is: roundoff would leave a share outside its interval.
    return (0.0 if k == 0 else low), (1.0 if k == n else high)


def share_in_words(k: int, n: int) -> str:
    """`19 of 20, 95 % [76, 99]`."""
    low, high = wilson(k, n)
    percent = f"{100 * k / n:.0f}" if n else "–"
    return f"{k} of {n}, {percent} % [{100 * low:.0f}, {100 * high:.0f}]"
