"""The strength of a penalty as it is typed: a number, or a multiple of 1/n, with n samples.

0.01              the same for any data
1/n               scikit-learn's C = 1 is l2 = 1/n; C = 0.1 is 10/n
1/n,10/n,100/n    one of these, to be chosen by folds
auto              one of a grid that the data decide
"""

from __future__ import annotations

import math
from typing import NamedTuple

from thalweg.core.errors import InputError

AUTO = "auto"


class Strength(NamedTuple):
    """So much, or so much divided by n."""

    amount: float
    is_per_sample: bool = False

    def of(self, samples: int) -> float:
        """The penalty for this many samples."""
        return self.amount / samples if self.is_per_sample else self.amount

    def __str__(self) -> str:
        short = f"{self.amount:g}"
        amount = short if float(short) == self.amount else repr(self.amount)
        return amount + ("/n" if self.is_per_sample else "")


class Strengths(NamedTuple):
    """Several to choose from; none, where the data are to decide which."""

    points: tuple[Strength, ...] = ()

    def __str__(self) -> str:
        return ",".join(map(str, self.points)) or AUTO


def strength_of(name: str, value: float | str | Strength | Strengths) -> Strength | Strengths:
    """What `0.01`, `1/n`, `1/n,10/n` or `auto` says."""
    if isinstance(value, Strength | Strengths):
        return value
    if value == AUTO:
        return Strengths()
    words = [word.strip() for word in str(value).split(",")]
    if len(words) == 1:
        return _one(name, value)
    return Strengths(tuple(dict.fromkeys(_one(name, word) for word in words)))


def _one(name: str, value: float | str) -> Strength:
    amount, slash, per = str(value).partition("/")
    try:
        number = float(amount)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0.0) or (slash and per != "n"):
        raise InputError(
            f"{name} must be a number at least 0, or one over n as in 1/n, got {value!r}; several "
            "apart by commas, or auto, are chosen from"
        )
    return Strength(number, bool(slash))
