"""Leaking inputs: does the answer stand in the question, or the exam in the lesson?

A column that is one-to-one with the label makes any network perfect, until it is used where nobody
knows the label. Validation rows that were trained on measure memory, not skill.
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import LEAKING
from thalweg.doctor.nets.facts.measured import above
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

NONE = -1.0  # the column, where none is a copy
SHARED, MANY = 0.05, 0.2  # of the validation rows: to be told, and to act on


def leaking(facts: NetworkFacts) -> list[Finding]:
    """A column that is the label, validation rows among the training rows."""
    found = []
    column, shared = facts.measured.data_copy, facts.measured.data_shared
    if above(column, NONE):
        found.append(
            Finding(
                name=LEAKING,
                severity=Severity.ACT,
                claim=f"column {column:.0f} of the inputs is a copy of the label",
                measured=column,
                limit=NONE,
                cause="the label is among the features",
                advice=f"leave column {column:.0f} out, and look where it came from",
                rests_on="what is minimized must be what is wanted on new samples",
            )
        )
    if above(shared, SHARED):
        found.append(
            Finding(
                name=LEAKING,
                severity=Severity.ACT if shared > MANY else Severity.WARN,
                claim=f"{shared:.0%} of the validation rows stand in the training data",
                measured=shared,
                limit=MANY,
                cause="rows were divided after they were copied, or not at all",
                advice="remove duplicates before the rows are divided",
                rests_on="overfitting is seen on rows that were not trained on, and on no others",
            )
        )
    return found
