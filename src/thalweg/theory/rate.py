"""What a rate γ is worth: the error after T steps, and the steps to a given error.

A sequence converges at the rate γᵏ (lecture B) when

    ‖xᵏ⁺¹ − x*‖ ≤ γ‖xᵏ − x*‖,     so that     ‖xᵏ − x*‖ ≤ γᵏ‖x⁰ − x*‖.

The same holds of any other error, f(xᵏ) − f* for one. Whatever it is, from C it takes
T = ⌈log(C/ε) / log(1/γ)⌉ steps to ε: the lecture's O(log 1/ε).
"""

from __future__ import annotations

from collections.abc import Callable

from thalweg.core.checks import check_number
from thalweg.theory.assumptions import Count, check_iterations


def bound(constant: float, rate: float, iterations: Count) -> Count:
    """C·γᵀ."""
    constant = check_number("constant", constant, at_least=0)
    rate = check_number("rate", rate, at_least=0, at_most=1)
    return constant * rate ** check_iterations(iterations)


def iterations(constant: float, rate: float, tolerance: float) -> int:
    """The smallest T with C·γᵀ ≤ ε."""
    constant = check_number("constant", constant, at_least=0)
    rate = check_number("rate", rate, at_least=0, below=1, advice="at the rate 1 nothing shrinks")
    tolerance = check_number("tolerance", tolerance, above=0)
    return smallest_count(lambda T: constant * rate**T, tolerance)


def smallest_count(error: Callable[[int], float], tolerance: float, *, at_least: int = 0) -> int:
    """The smallest T ≥ `at_least` with error(T) ≤ ε, for an `error` that falls below ε in the end.

    By doubling and halving, so T is right for the rounded `error` too: the ceiling of a formula's
    solution can be one off.
    """
    if error(at_least) <= tolerance:
        return at_least
    low, high = at_least, at_least + 1
    while error(high) > tolerance:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if error(middle) <= tolerance:
            high = middle
        else:
            low = middle
    return high
