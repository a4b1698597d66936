"""Something that is wrong, or right, with a run: a claim, its number, its limit and what helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from thalweg.core.card import BAD, GOOD, NEUTRAL, html_card
from thalweg.core.kinds import NUMBER, one_of
from thalweg.core.text import shown


class Severity(IntEnum):
    """How much a finding asks of its reader; larger is worse."""

    OK = 0
    NOTE = 1
    WARN = 2
    ACT = 3


FINDING: dict[str, Any] = {  # as a file holds one
    "name": str, "severity": one_of(*map(int, Severity)), "claim": str, "measured": NUMBER,
    "limit": NUMBER, "cause": str, "advice": str, "rests_on": str, "evidence": dict,
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One diagnosis, in the order in which a reader needs it."""

    name: str  # "step above the stability limit"
    severity: Severity
    claim: str  # one sentence with the measured number
    measured: float
    limit: float
    cause: str = ""
    advice: str = ""
    rests_on: str = ""  # the statement of the lectures behind it
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{self.severity.name:<4}  {self.name}: {self.claim}"]
        lines += [
            f"      {label:<8}  {text}"
            for label, text in (
                ("cause", self.cause),
                ("advice", self.advice),
                ("rests on", self.rests_on),
            )
            if text
        ]
        return "\n".join(map(shown, lines))

    def _repr_html_(self) -> str:
        tone = {Severity.OK: GOOD, Severity.ACT: BAD}.get(self.severity, NEUTRAL)
        rows = [
            ("found", self.claim),
            ("cause", self.cause),
            ("advice", self.advice),
            ("rests on", self.rests_on),
        ]
        return html_card(self.severity.name, self.name, rows, tone=tone)


def worst_first(findings: list[Finding]) -> list[Finding]:
    """The findings by falling severity; equals keep their order."""
    return sorted(findings, key=lambda finding: -finding.severity)
