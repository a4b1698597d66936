"""Arrays of numbers with twice the digits, beside the kernels for them (`kernels.twofold`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.twofold import two_sum


class Pair(NamedTuple):
    """The array high + low; low is at most half a unit in the last place of high."""

    high: np.ndarray  # float64[...]
    low: np.ndarray  # float64[...]

    @classmethod
    def empty(cls, *shape: int) -> Pair:
        """Room for one."""
        return cls(np.empty(shape), np.empty(shape))

    @classmethod
    def of(cls, a: np.ndarray) -> Pair:
        """The numbers `a`, exactly."""
        return cls(a, np.zeros_like(a))

    def at(self, where: Any) -> Pair:
        """A part of it."""
        return Pair(self.high[where], self.low[where])

    def put(self, where: Any, part: Pair) -> None:
        """Change a part of it, in place."""
        self.high[where], self.low[where] = part

    def times(self, factor: Any) -> Pair:
        """The product with numbers; exactly that where they are powers of two."""
        return Pair(factor * self.high, factor * self.low)

    def plus(self, other: Pair) -> Pair:
        """The sum."""
        s, e = two_sum.py_func(self.high, other.high)
        return Pair(*two_sum.py_func(s, e + (self.low + other.low)))

    def reshape(self, *shape: int) -> Pair:
        """The same numbers in another shape."""
        return Pair(self.high.reshape(shape), self.low.reshape(shape))
