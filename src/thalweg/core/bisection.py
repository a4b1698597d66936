"""How far one may go: the last place on a line that is inside, by bisection."""

from __future__ import annotations

from collections.abc import Callable

HALVINGS = 40  # leave 10⁻¹² of the line


def last_inside(is_inside: Callable[[float], bool], high: float) -> float:
    """The largest s in [0, high] found inside; the inside is an interval from 0 on.

    >>> round(last_inside(lambda s: s * s <= 2.0, 10.0), 6)
    1.414214
    """
    if is_inside(high):
        return high
    low = 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_inside(middle) else (low, middle)
    return low
