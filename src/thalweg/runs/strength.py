"""The strength of a penalty as it is typed: a number, or a multiple of 1/n, with n samples.

0.01      the same for any data
1/n       scikit-learn's C = 1 is l2 = 1/n; C = 0.1 is 10/n
"""

from __future__ import annotations

import math
from typing import NamedTuple

from thalweg.core.errors import InputError


class Strength(NamedTuple):
    """So much, or so much divided by n."""

    amount: float
    is_per_sample: bool = False

    def of(self, samples: int) -> float:
        """The penalty for this many samples."""
        return self.amount / samples if self.is_per_sample else self.amount

    def __str__(self) -> str:
        return f"{self.amount:.17g}" + ("/n" if self.is_per_sample else "")


def strength_of(name: str, value: float | str | Strength) -> Strength:
    """What `0.01` or `1/n` says."""
    if isinstance(value, Strength):
        return value
    amount, slash, per = str(value).partition("/")
    try:
        number = float(amount)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0.0) or (slash and per != "n"):
        raise InputError(
            f"{name} must be a number at least 0, or one over n as in 1/n, got {value!r}"
        )
    return Strength(number, bool(slash))
