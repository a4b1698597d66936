"""What the comparison prints: per problem the times of every tool, then Thalweg beside the fastest.

The ratio is time of the fastest peer / time of Thalweg, above 1 where Thalweg is faster. A row
holds (`ok`) if Thalweg is not slower where that peer needs 50 ms or more (dense ridge, BLAS against
BLAS: at least 0.95×), and at most 15 ms behind where it needs less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from peers.timing import LEVELS, Sweep, time_to

MOMENT = 0.050  # seconds
BEHIND = 0.015  # seconds
BLAS = 0.95
OWN = "thalweg"


def seconds(value: float | None) -> str:
    """Seconds with three digits, or a dash."""
    return "-" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def times(sweep: Sweep, at_zero: float, best: float) -> list[float | None]:
    """To each level."""
    return [time_to(level, sweep.fits, at_zero, best) for level in LEVELS]


def fastest(sweeps: Iterable[Sweep], at_zero: float, best: float) -> list[tuple[float | None, str]]:
    """At each level the least time and whose it is."""
    winners: list[tuple[float | None, str]] = [(None, "-")] * len(LEVELS)
    for sweep in sweeps:
        for k, time in enumerate(times(sweep, at_zero, best)):
            known = winners[k][0]
            if time is not None and (known is None or time < known):
                winners[k] = (time, sweep.tool)
    return winners


def ratio(peer: float | None, own: float | None) -> float | None:
    """How many times faster Thalweg is."""
    return None if peer is None or own is None else peer / own


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """exp of the mean logarithm of those that are known."""
    logs = [math.log(r) for r in ratios if r is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None


def holds(peer: float | None, own: float | None, *, is_ridge: bool = False) -> bool:
    """Whether Thalweg keeps up with the fastest peer."""
    if own is None:
        return peer is None
    if peer is None:
        return True
    if peer < MOMENT:
        return own - peer <= BEHIND
    return peer / own >= (BLAS if is_ridge else 1.0)


def heading(first: str, width: int = 30) -> str:
    """The levels over their columns."""
    return f"  {first:<{width}}" + "".join(f"{level:>10.0e}" for level in LEVELS)


def rows(sweeps: Iterable[Sweep], at_zero: float, best: float) -> list[str]:
    """One line a tool, with what was cut."""
    return [
        f"  {sweep.tool:<30}"
        + "".join(f"{seconds(time):>10}" for time in times(sweep, at_zero, best))
        + (f"   {sweep.note}" if sweep.note else "")
        for sweep in sweeps
    ]


def shown(value: float | None) -> str:
    """A ratio."""
    return "-" if value is None else f"{value:.2f}"
