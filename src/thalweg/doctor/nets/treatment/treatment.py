"""What `treat` found, did and proved, as records that print."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from thalweg.core.card import count_of
from thalweg.core.finding import Finding
from thalweg.doctor.nets.treatment.interval import Interval
from thalweg.nets.recipes.recipe import Recipe


@dataclass(frozen=True)
class Trial:
    """One remedy that was tried, and what came of it."""

    remedy: str  # in words
    cause: str  # what it was tried against
    change: str  # what it changes, a line a field
    screened: float  # gain in the first pair
    proof: Interval | None = None  # None: it did not come so far
    confirmation: Interval | None = None
    outcome: str = ""  # why it was kept or not

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "remedy": self.remedy,
            "cause": self.cause,
            "change": self.change.splitlines(),
            "screened": self.screened,
            "proof": _plain(self.proof),
            "confirmation": _plain(self.confirmation),
            "outcome": self.outcome,
        }


@dataclass(frozen=True)
class Treatment:
    """Fault, evidence, remedy, its measured gain, its price, and what did not help."""

    recipe: Recipe  # as it was
    treated: Recipe  # as it should be; the same where nothing helped
    findings: tuple[Finding, ...]  # of the first examination, worst first
    accepted: tuple[Trial, ...]
    rejected: tuple[Trial, ...]
    gain: Interval | None  # of the treated recipe over the first, on the seeds of confirmation
    left: tuple[Finding, ...]  # what the last examination still found
    trainings: float
    budget: float
    seconds: float
    measure: str  # what the score is, and on which rows

    @property
    def fault(self) -> Finding | None:
        """The finding that was treated: the first whose remedy helped, else the worst."""
        causes = [trial.cause for trial in self.accepted]
        ranked = [finding for cause in causes for finding in self.findings if finding.name == cause]
        return next(iter([*ranked, *self.findings]), None)

    @property
    def is_treated(self) -> bool:
        """Whether a remedy was proved, confirmed and kept."""
        return bool(self.accepted)

    @property
    def difference(self) -> str:
        """What changed, a line a field: `learning_rate: 10.0 → 0.1`."""
        return self.recipe.difference(self.treated)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "fault": self.fault and self.fault.name,
            "claim": self.fault and self.fault.claim,
            "findings": [finding.name for finding in self.findings],
            "difference": self.difference.splitlines(),
            "recipe": self.recipe.to_toml(),
            "treated": self.treated.to_toml(),
            "gain": _plain(self.gain),
            "accepted": [trial.to_dict() for trial in self.accepted],
            "rejected": [trial.to_dict() for trial in self.rejected],
            "left": [finding.name for finding in self.left],
            "trainings": self.trainings,
            "budget": self.budget,
            "seconds": self.seconds,
            "measure": self.measure,
        }

    def __str__(self) -> str:
        fault = self.fault
        if fault is None:
            return "\n".join(["NOTHING FOUND  no remedy was tried", self._price()])
        head = "TREATED" if self.is_treated else "NO REMEDY PROVED"
        lines = [f"{head}  {fault.name}", f"  evidence  {fault.claim}"]
        for trial in self.accepted:
            lines.append(f"  remedy    {trial.remedy}")
            lines += [f"            {line}" for line in trial.change.splitlines()]
            lines.append(f"  gain      {trial.proof}")
            lines.append(f"  confirmed {trial.confirmation}")
        if self.accepted and self.gain != self.accepted[-1].confirmation:
            lines.append(f"  together  {self.gain}")
        lines += [f"  rejected  {trial.remedy}: {trial.outcome}" for trial in self.rejected]
        if self.left and self.is_treated:
            lines.append(f"  left      {', '.join(finding.name for finding in self.left)}")
        return "\n".join([*lines, f"  measure   {self.measure}", self._price()])

    __repr__ = __str__

    def _price(self) -> str:
        spent = f"{self.trainings:.3g} of {self.budget:.3g} trainings"
        tried = count_of(len(self.accepted) + len(self.rejected), "remedy").replace("ys", "ies")
        return f"  cost      {spent}, {tried} tried, {self.seconds:.1f} s"


def judged(trial: Trial, outcome: str, **found: Any) -> Trial:
    """The trial with what came of it."""
    return replace(trial, outcome=outcome, **found)


def _plain(interval: Interval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "mean": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "differences": list(interval.differences),
    }
