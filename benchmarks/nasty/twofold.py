"""Sums and products as unevaluated pairs of long doubles: 128 bits where NumPy has 64.

A pair (h, l) stands for h + l with |l| ≤ ulp(h)/2. With round-to-nearest, the error of a sum or
product of two numbers is itself a number:

    two_sum:      s = a ⊕ b,  a + b = s + e,   e from six additions (Knuth)
    two_product:  q = a ⊗ b,  a·b = q + e,     e from the halves of a and b (Dekker, Veltkamp)

so sums of products keep both. A long double has 64 bits, the halves 32, and the unit of a pair
is 2⁻¹²⁸: a column of 10⁹ + 10⁻⁷ times a weight of 10¹⁵ loses nothing that matters.

Ogita, Rump & Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005).
"""

from typing import NamedTuple

import numpy as np

Long = np.longdouble
EPS = np.finfo(Long).eps  # 2⁻⁶³
UNIT = EPS * EPS * 64  # what an operation on pairs may lose, generously
SPLITTER = Long(2**32 + 1)


class Twofold(NamedTuple):
    """The array high + low, to twice the digits of a long double."""

    high: np.ndarray  # longdouble[...]
    low: np.ndarray  # longdouble[...], at most half a unit in the last place of high

    @property
    def rounded(self) -> np.ndarray:
        """The nearest long doubles."""
        return self.high + self.low


def twofold(a) -> Twofold:
    """The numbers `a`, exactly."""
    a = np.asarray(a, dtype=Long)
    return Twofold(a, np.zeros_like(a))


def two_sum(a, b) -> Twofold:
    """The sum of two arrays and its error."""
    s = a + b
    bb = s - a
    return Twofold(s, (a - (s - bb)) + (b - bb))


def halves(a) -> tuple[np.ndarray, np.ndarray]:
    """Two numbers of 32 bits that add up to `a`."""
    c = SPLITTER * a
    high = c - (c - a)
    return high, a - high


def two_product(a, b) -> Twofold:
    """The product of two arrays and its error."""
    q = a * b
    a1, a2 = halves(a)
    b1, b2 = halves(b)
    return Twofold(q, a2 * b2 - (((q - a1 * b1) - a2 * b1) - a1 * b2))


def add(a: Twofold, b: Twofold) -> Twofold:
    """The sum of two arrays of pairs."""
    s = two_sum(a.high, b.high)
    return two_sum(s.high, s.low + (a.low + b.low))


def negative(a: Twofold) -> Twofold:
    """The pairs with their signs changed."""
    return Twofold(-a.high, -a.low)


def multiply(a: Twofold, b: Twofold) -> Twofold:
    """The product of two arrays of pairs."""
    q = two_product(a.high, b.high)
    return two_sum(q.high, q.low + (a.high * b.low + a.low * b.high))


def total(a: Twofold) -> Twofold:
    """The sum over the last axis, by halving it."""
    high, low = a
    while (m := high.shape[-1]) > 1:
        h = m // 2
        s = add(
            Twofold(high[..., :h], low[..., :h]), Twofold(high[..., h : 2 * h], low[..., h : 2 * h])
        )
        high = np.concatenate([s.high, high[..., 2 * h :]], axis=-1)
        low = np.concatenate([s.low, low[..., 2 * h :]], axis=-1)
    if high.shape[-1] == 0:
        return twofold(np.zeros(high.shape[:-1]))
    return Twofold(high[..., 0], low[..., 0])


def matvec(A: Twofold, x: np.ndarray) -> Twofold:
    """A·x for pairs A[n, p] and long doubles x[p]."""
    q = two_product(A.high, x)
    return total(two_sum(q.high, q.low + A.low * x))


def matmul(A: Twofold, x: np.ndarray) -> Twofold:
    """A·x for pairs A[n, p] and long doubles x[p, K]."""
    columns = [matvec(A, x[:, k]) for k in range(x.shape[1])]
    return Twofold(
        np.stack([c.high for c in columns], axis=1), np.stack([c.low for c in columns], axis=1)
    )
