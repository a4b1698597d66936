"""Symptoms of linear problems: each a pure function of facts, one question a file.

    def symptom(facts: LinearFacts) -> list[Finding]

A symptom that is absent returns nothing. torch is not needed.
"""

from __future__ import annotations

from collections.abc import Callable

from thalweg.core.finding import Finding, worst_first
from thalweg.doctor.linear.facts.linear_facts import LinearFacts
from thalweg.doctor.linear.symptoms.conditioning import conditioning
from thalweg.doctor.linear.symptoms.penalty import penalty
from thalweg.doctor.linear.symptoms.redundant_columns import redundant_columns
from thalweg.doctor.linear.symptoms.scaling import scaling
from thalweg.doctor.linear.symptoms.separable import separable
from thalweg.doctor.linear.symptoms.targets import targets
from thalweg.doctor.linear.symptoms.unfinished import unfinished

SYMPTOMS: tuple[Callable[[LinearFacts], list[Finding]], ...] = (
    unfinished,
    targets,
    separable,
    scaling,
    penalty,
    redundant_columns,
    conditioning,
)


def findings(facts: LinearFacts) -> list[Finding]:
    """What all symptoms find, worst first; what the run itself found comes after its equals."""
    found = [finding for symptom in SYMPTOMS for finding in symptom(facts)]
    told = {finding.name for finding in found}
    own = facts.run.findings if facts.run is not None else ()
    return worst_first([*found, *(finding for finding in own if finding.name not in told)])
