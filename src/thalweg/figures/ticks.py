"""Where an axis has numbers, and how they are written.

    linear   multiples of 1, 2, 2.5 or 5 times a power of ten, as many as fit
    log      powers of ten, every k-th where there are many; 1, 2, 5 within them where there are few

A range is widened by 4 % on each side (of its logarithm on a log axis), so that no mark sits on
the frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from thalweg.figures.spec import LOG

MARGIN = 0.04
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def span(
    numbers: Iterable[np.ndarray], scale: str, low: float | None, high: float | None
) -> tuple[float, float]:
    """The range of an axis that shows all `numbers` that it can, or what was asked for."""
    every = [np.asarray(each, float).ravel() for each in numbers]
    flat = np.concatenate(every) if every else np.empty(0)
    flat = flat[np.isfinite(flat) & ((flat > 0) if scale == LOG else True)]
    if not flat.size:
        flat = np.array([1.0, 10.0]) if scale == LOG else np.array([0.0, 1.0])
    least, most = float(flat.min()), float(flat.max())
    if scale == LOG:
        a, b = math.log10(least), math.log10(most)
        pad = MARGIN * (b - a) if b > a else 0.5
        ends = (10.0 ** max(a - pad, -307.0), 10.0 ** min(b + pad, 308.0))
    else:
        pad = MARGIN * (most / 2 - least / 2) * 2 if most > least else 0.5 * (abs(least) or 1.0)
        ends = (max(least - pad, -1.7e308), min(most + pad, 1.7e308))
    return (ends[0] if low is None else low, ends[1] if high is None else high)


def ticks(low: float, high: float, scale: str, most: int = 6) -> list[tuple[float, str]]:
    """At most `most` places from low to high, in either order, each with its label."""
    low, high = min(low, high), max(low, high)
    return _log(low, high, most) if scale == LOG else _linear(low, high, most)


def _linear(low: float, high: float, most: int) -> list[tuple[float, str]]:
    step = _round_step(high / most - low / most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    places = [k * step for k in range(first, last + 1)]
    return [(place, written(place, step)) for place in places]


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is at least this."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(c * power for c in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0) if c * power >= least * 0.9999)


def _round_count(least: float) -> int:
    """The same of whole numbers: 1, 2, 3, 5, 10, 20, …"""
    counts = (c * 10**k for k in range(4) for c in (1, 2, 3, 5))
    return next(count for count in counts if count >= least)


def _log(low: float, high: float, most: int) -> list[tuple[float, str]]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    decades = last - first + 1
    if decades >= 3 or (decades == 2 and high / low > 200.0):
        every = _round_count(decades / most)
        # Multiples of `every`, so that figures of one scale have the same ticks.
        exponents = [e for e in range(first, last + 1) if e % every == 0]
        return [(10.0**e, power_of_ten(e)) for e in exponents]
    for digits in ((1, 2, 5), (1, 3), (1,)):
        powers = range(first - 1, last + 1)
        places = [c * 10.0**e for e in powers for c in digits if low <= c * 10.0**e <= high]
        if 2 <= len(places) <= most:
            return [(place, written(place, place)) for place in places]
    return _linear(low, high, most)


def power_of_ten(exponent: int) -> str:
    """1, 10, 100 as they are, others as 10⁻³."""
    if 0 <= exponent <= 3:
        return f"{10**exponent:,}"
    return "10" + str(exponent).translate(SUPERSCRIPTS)


def written(number: float, step: float) -> str:
    """A number with the digits that tell it from its neighbours, `step` away."""
    if abs(number) < 1e-9 * abs(step):
        return "0"
    size = abs(number)
    if size >= 1e6 or size < 1e-4:
        power = math.floor(math.log10(size) + 1e-12)
        digits = max(0, power - math.floor(math.log10(abs(step)) + 1e-9))
        head = f"{number / 10.0**power:.{min(digits + 1, 6)}f}".rstrip("0").rstrip(".")
        tens = "10" + str(power).translate(SUPERSCRIPTS)
        return {"1": tens, "-1": "−" + tens}.get(head, f"{head}·{tens}").replace("-", "−")
    decimals = max(0, -math.floor(math.log10(abs(step)) - 1e-9) + 1)
    text = f"{number:,.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")
