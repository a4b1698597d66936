"""What came of many cases: shares that are good enough, and the worst.

`ratio` is auto's time, planning included, over that of the fastest other method; 1 where no other
was certified in the time it had, and infinite where auto was not and another was. A case in which
nothing was certified counts in no share. `error` is how many times too long or too short the
prediction was, of the method that was planned, for the run that came of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

RATIOS = (1.25, 2.0, 4.0)
FORETOLD = 2.0  # times, either way
PLANNING = 0.1  # of the fastest method's time
LONG = 0.02  # seconds of the fastest method: below, a problem is what a call costs by itself
WORST = 10
Record = dict[str, Any]


def ratio(record: Record) -> float | None:
    """auto's time over that of the fastest; None where nothing was certified."""
    if record["auto"] is None:
        return math.inf if record["times"] else None
    return record["auto"] / min(record["times"].values(), default=record["auto"])


def error(record: Record) -> float | None:
    """How many times off the prediction was; None where there was none, or no end of the run."""
    predicted, actual = record["predicted"], record["actual"]
    if record["auto"] is None or predicted is None:
        return None
    # A run of no measurable time cannot be foretold wrongly.
    return max(predicted / actual, actual / predicted) if predicted and actual else 1.0


def planning(record: Record) -> float | None:
    """The time of planning over that of the fastest method."""
    if record["plan_seconds"] is None or not record["times"]:
        return None
    return record["plan_seconds"] / min(record["times"].values())


def share(records: list[Record], measure: Callable[[Record], float | None], bound: float) -> str:
    """How many of the cases where it is known are within a bound."""
    known = [value for value in map(measure, records) if value is not None]
    good = sum(value <= bound for value in known)
    return f"{good} of {len(known)} ({100 * good / max(len(known), 1):.0f} %)"


def page(records: list[Record]) -> str:
    """The summary of all records."""
    uncertified = [r for r in records if r["auto"] is None]
    lines = [
        f"{len(records)} problems in {sum(r['spent'] for r in records):.0f} s; auto not certified "
        f"in {len(uncertified)}: {[r['seed'] for r in uncertified]}",
        *(f"auto within {b:g}× of the fastest: {by_length(records, b)}" for b in RATIOS),
        f"predicted within {FORETOLD:g}×: {share(records, error, FORETOLD)}",
        f"planning ≤ {100 * PLANNING:g} % of the fastest: {share(records, planning, PLANNING)}",
        f"planned: {counted(records, 'planned')}",
        f"fastest: {counted(records, 'fastest')}",
        f"changed during the run: {sum(bool(r['changes']) for r in records)}",
    ]
    return "\n".join([*worst(records), "", *lines, *broken(records)])


def by_length(records: list[Record], bound: float) -> str:
    """How often auto is within a bound, and how often where it takes a while."""
    long = [r for r in records if min(r["times"].values(), default=LONG) >= LONG]
    return f"{share(records, ratio, bound)}, over {LONG:g} s: {share(long, ratio, bound)}"


def broken(records: list[Record]) -> list[str]:
    """Methods that ended in an exception which is no sentence about the problem."""
    return [
        f"{record['seed']} {name} {ending}"
        for record in records
        for name, ending in {"auto": record["ending"], **record["endings"]}.items()
        if ending.startswith("broke")
    ]


def counted(records: list[Record], key: str) -> str:
    """How often each method is the one."""
    counts = Counter(r[key] or "none" for r in records)
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


def worst(records: list[Record]) -> list[str]:
    """The cases where auto is furthest from the fastest, two lines each."""
    known = [r for r in records if ratio(r) is not None]
    chosen = sorted(known, key=lambda r: -(ratio(r) or 0.0))[:WORST]
    return [HEAD, *(line(r) for r in chosen)]


HEAD = (
    f"{'seed':>8}{'ratio':>7}{'auto s':>9}{'plan s':>9}  {'planned':<11}{'ran':<11}{'fastest':<11}"
    f"{'its s':>9}{'predicted':>10}{'actual':>9}"
)


def line(record: Record) -> str:
    """One case."""
    least = min(record["times"].values(), default=None)
    names = "".join(f"{record[key] or '-':<11}" for key in ("planned", "method", "fastest"))
    return (
        f"{record['seed']:>8}{number(ratio(record)):>7}{number(record['auto']):>9}"
        f"{number(record['plan_seconds']):>9}  {names}{number(least):>9}"
        f"{number(record['predicted']):>10}{number(record['actual']):>9}\n"
        f"{'':8} {record['description']}" + (f" [{record['ending']}]" if record["ending"] else "")
    )


def number(value: float | None) -> str:
    """Three digits, or a dash."""
    return "-" if value is None else f"{value:.3g}"
