"""What came of many cases beside the peers: a row a case, means, and where Thalweg is behind.

`ratio` is the seconds of the fastest peer over Thalweg's, above 1 where Thalweg is faster. Where no
peer got to the level before it was cut, it is the least that it can be, shown as >; where none can,
there is none. Where Thalweg did not get there and a peer did, Thalweg's seconds are the most that
it was given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from peers.table import geometric_mean, shown

from wild.beside import JUDGED, LEVELS, LONGEST
from wild.table import number

BEHIND = 0.8
LONG = 0.001  # seconds: below, a fit is what a call costs by itself
SIZES = (10_000, 1_000_000)  # entries
Record = dict[str, Any]


def ratio(record: Record, level: float = JUDGED) -> float | None:
    """How many times faster Thalweg is, at least; None where nobody got to the level."""
    own, (peer, _) = record["own"][f"{level:g}"], record["peer"][f"{level:g}"]
    if peer is None and level == JUDGED and own is not None:
        return record["bound"] and max(1.0, record["bound"] / own)
    if peer is None:
        return None
    return peer / (LONGEST if own is None else own)


def is_bound(record: Record) -> bool:
    """Whether the ratio is only the least that it can be."""
    return record["peer"][f"{JUDGED:g}"][0] is None


def size(record: Record) -> str:
    """The class of its number of entries."""
    small, large = SIZES
    if record["entries"] < small:
        return f"under {small:,} entries"
    return f"under {large:,} entries" if record["entries"] < large else "larger"


HEAD = f"{'seed':>8}{'thalweg s':>11}  {'method':<12}{'fastest peer':<34}{'its s':>9}" + "".join(
    f"{f'at {level:.0e}':>10}" for level in reversed(LEVELS)
)


def line(record: Record) -> str:
    """One case, in two lines."""
    own, (peer, name) = record["own"][f"{JUDGED:g}"], record["peer"][f"{JUDGED:g}"]
    ratios = [shown(ratio(record, level)) for level in reversed(LEVELS)]
    if is_bound(record) and ratios[0] != "-":
        ratios[0], name, peer = f">{ratios[0]}", "none before it was cut", record["bound"]
    return (
        f"{record['seed']:>8}{number(own):>11}  {record['method']:<12}{name:<34}{number(peer):>9}"
        + "".join(f"{text:>10}" for text in ratios)
        + f"\n{'':8} {record['description']}"
        + (f" [{record['own_note']}]" if record["own_note"] and own is None else "")
    )


def page(records: list[Record]) -> str:
    """The summary of all records."""
    behind = [r for r in records if (ratio(r) or math.inf) < BEHIND]
    lost = [r["seed"] for r in records if r["own"][f"{JUDGED:g}"] is None]
    lines = [
        f"{len(records)} problems in {sum(r['spent'] for r in records):.0f} s",
        f"fastest peer / thalweg, geometric mean{'':14}"
        + "".join(f"{f'at {level:.0e}':>10}" for level in reversed(LEVELS))
        + "  behind",
        *grouped(records, "all", lambda r: ""),
        *grouped(records, "loss", lambda r: r["loss"]),
        *grouped(records, "size", size),
        *grouped(records, "time", length),
        f"no peer before it was cut: {sum(is_bound(r) and ratio(r) is not None for r in records)}, "
        f"no peer at all: {sum(ratio(r) is None for r in records)}",
        f"thalweg not at {JUDGED:g}: {len(lost)} {lost}",
        "",
        f"behind, below {BEHIND:g}: {len(behind)}",
    ]
    rows = [HEAD, *(line(r) for r in sorted(behind, key=ratio))] if behind else []
    return "\n".join([*lines, *rows])


def length(record: Record) -> str:
    """Whether there is something to measure."""
    own = record["own"][f"{JUDGED:g}"]
    return f"under {1e3 * LONG:g} ms" if own is not None and own < LONG else "longer"


def grouped(records: list[Record], by: str, key: Callable[[Record], str]) -> Iterable[str]:
    """The geometric means of the ratios in each group, and how many are behind."""
    for group in sorted({key(r) for r in records}):
        of = [r for r in records if key(r) == group]
        means = [geometric_mean(ratio(r, level) for r in of) for level in reversed(LEVELS)]
        behind = sum((ratio(r) or math.inf) < BEHIND for r in of)
        yield (
            f"  {by:<6}{group:<24}{len(of):>4} problems{'':8}"
            + "".join(f"{shown(mean):>10}" for mean in means)
            + f"{behind:>8}"
        )
