"""Wilson's interval for a share: what k of n says about the probability behind it.

    (p̂ + z²/2n ± z√(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n),   p̂ = k/n

It stays within [0, 1] and is right for small n and for p̂ near 0 or 1, where p̂ ± z√(p̂(1 − p̂)/n)
is not. Wilson, J. Am. Stat. Assoc. 22 (1927).
"""

from __future__ import annotations

import math


def wilson(k: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The two ends, for `k` of `n`; [0, 1] if nothing was counted."""
    if n == 0:
        return 0.0, 1.0
    share = k / n
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    return max(0.0, (middle - reach) / whole), min(1.0, (middle + reach) / whole)
