"""How large a problem is: log-uniform in rows, columns and classes, as far as a fit takes seconds.

    rows n 50 to 500,000    columns p 2 to 200,000    classes K 3 to 50    stored entries e ≤ most

Sizes that are too large are drawn again and not cut, so that they stay log-uniform over what is
left, and do not heap at its edge. Too large is, beside e:

    e·min(n, p)   of dense features: the flops of a factorization, which badly conditioned ones need
    e·K, p·K      the flops of a pass, and the variables, of which a method keeps dozens of copies
"""

from typing import NamedTuple

import numpy as np

ROWS = (50, 500_000)
COLUMNS = (2, 200_000)
CLASSES = (3, 50)
PER_ROW = (2, 300)  # entries of a sparse row, on average
PER_CLASS = 5  # rows at least
MOST = 20_000_000  # stored entries: 160 MB in float64, 240 MB in CSR
MOST_SPARSE = 5_000_000  # an entry of CSR costs a pass several times as much as a dense one
MOST_FACTORED = 8e9
MOST_SCORED = 5e7
MOST_VARIABLES = 400_000


class Size(NamedTuple):
    """What is to be drawn."""

    n: int
    p: int
    K: int  # 1 where there is one score a row
    per_row: int  # entries of a row, on average; p where features are dense


def power(rng: np.random.Generator, low: float, high: float) -> float:
    """A number between two positive ones, log-uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def whole(rng: np.random.Generator, low: float, high: float) -> int:
    """A whole number between two, both included, log-uniform."""
    return int(np.clip(np.round(power(rng, low, high)), low, high))


def size(rng: np.random.Generator, is_sparse: bool, is_multinomial: bool, most: int) -> Size:
    """A size with at most so many stored entries."""
    while True:
        n, p = whole(rng, *ROWS), whole(rng, *COLUMNS)
        K = whole(rng, *CLASSES) if is_multinomial else 1
        per_row = min(p, whole(rng, *PER_ROW)) if is_sparse else p
        drawn = Size(n, p, K, per_row)
        if fits(drawn, min(most, MOST_SPARSE) if is_sparse else most):
            return drawn


def fits(size: Size, most: int) -> bool:
    """Whether a size is within all bounds."""
    n, p, K, per_row = size
    entries = n * per_row
    return (
        max(entries, p) <= most
        and (per_row < p or entries * min(n, p) <= MOST_FACTORED)
        and entries * K <= MOST_SCORED
        and p * K <= MOST_VARIABLES
        and n >= PER_CLASS * K
    )
