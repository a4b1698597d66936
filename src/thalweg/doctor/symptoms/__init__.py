"""Symptoms: each a pure function of a record, one question a file.

    def symptom(record: Record) -> list[Finding]

A symptom that is absent returns nothing; one that cannot be judged from the record neither.
"""

from __future__ import annotations

from collections.abc import Callable

from thalweg.core.finding import Finding, worst_first
from thalweg.doctor.symptoms.not_finite import not_finite
from thalweg.nets.probes.record import Record

Symptom = Callable[[Record], list[Finding]]

SYMPTOMS: tuple[Symptom, ...] = (not_finite,)


def diagnose(record: Record) -> list[Finding]:
    """What all symptoms find in a record, worst first."""
    return worst_first([finding for symptom in SYMPTOMS for finding in symptom(record)])
