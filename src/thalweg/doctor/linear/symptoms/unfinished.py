"""Did the run reach its tolerance?

What is read off a solution (κ there, what the penalty does) is not read off a run that stopped
before: those findings fall back to what is certain without one, and this one says so.
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.core.outcome import Outcome
from thalweg.doctor.linear.facts.linear_facts import LinearFacts

UNFINISHED = "tolerance not reached"


def unfinished(facts: LinearFacts) -> list[Finding]:
    """The finding that the run ended early, with its own reason."""
    run = facts.run
    if run is None or run.converged:
        return []
    return [
        Finding(
            name=UNFINISHED,
            severity=Severity.ACT if run.outcome is Outcome.DIVERGED else Severity.WARN,
            claim=run.reason,
            measured=run.certificate.measured,
            limit=run.certificate.limit,
            cause="What else is said here holds for the problem; its solution was not seen.",
            evidence={"outcome": run.outcome.name, "iterations": run.iterations},
        )
    ]
