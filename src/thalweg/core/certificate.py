"""A statement about a point, with the number that supports it and the limit it was held to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thalweg.core.kinds import NUMBER
from thalweg.core.text import shown

NONE = "none"  # kind of a training's certificate, which proves nothing

CERTIFICATE: dict[str, Any] = {  # as a file holds one
    "kind": str, "holds": bool, "measured": NUMBER, "limit": NUMBER, "statement": str, "shows": str,
    "does_not_show": str, "gap": (NUMBER, None), "in_expectation": str, "evidence": dict,
    "distance": (NUMBER, None),
}  # fmt: skip


@dataclass(frozen=True)
class Certificate:
    """What is known about a point w, and how it is known.

    `holds` says whether `measured` is within `limit`. `gap` bounds f(w) − f* from above where such
    a bound exists. `shows` and `does_not_show` spell out what follows from the numbers and what
    does not: a small gradient, for one, does not tell a minimum from a saddle. `in_expectation` is
    a promise about the method, not about this run.
    """

    kind: str  # "stationarity", "duality gap", …, or NONE
    holds: bool
    measured: float
    limit: float
    statement: str  # the numbers, in one sentence
    shows: str
    does_not_show: str = ""
    gap: float | None = None  # f(w) − f* ≤ gap
    in_expectation: str = ""  # what a theorem promises on average over the draws of a method
    evidence: Mapping[str, Any] = field(default_factory=dict)
    distance: float | None = None  # ‖w − w*‖ ≤ distance, of coefficients without intercepts

    def __str__(self) -> str:
        lines = [f"{'HOLDS' if self.holds else 'DOES NOT HOLD'}  {self.kind}: {self.statement}"]
        lines.append(f"  shows: {self.shows}")
        if self.does_not_show:
            lines.append(f"  does not show: {self.does_not_show}")
        if self.in_expectation:
            lines.append(f"  in expectation: {self.in_expectation}")
        return "\n".join(map(shown, lines))
