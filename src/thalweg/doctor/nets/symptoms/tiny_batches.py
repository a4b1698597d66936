"""Batch norm with tiny batches: are there enough rows to measure a mean and a variance?

The variance of m rows has a relative standard error of √(2/(m − 1)): 1.4 for m = 2, 0.8 for m = 4,
0.26 for m = 32. With two rows all that is left of a unit is which of them was larger, and the
averages used at inference belong to no batch that was trained on.
"""

from __future__ import annotations

import math

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import TINY_BATCHES
from thalweg.doctor.nets.facts.measured import above
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

ACT, WARN = 4, 8  # rows, up to which


def tiny_batches(facts: NetworkFacts) -> list[Finding]:
    """Rows of a batch, where layers normalize by it."""
    rows = facts.measured.input_rows
    if not above(facts.measured.mode_norm, 0.0) or not above(rows, 1.0) or rows > WARN:
        return []
    error = math.sqrt(2.0 / (rows - 1.0))
    return [
        Finding(
            name=TINY_BATCHES,
            severity=Severity.ACT if rows <= ACT else Severity.WARN,
            claim=f"batch norm measures a variance from {rows:.0f} rows, with an error of "
            f"{error:.0%}",
            measured=rows,
            limit=float(ACT),
            cause="statistics of so few rows are mostly noise",
            advice="batches of 16 rows or more; layer or group norm where memory forbids it",
            rests_on="batch norm: mean and variance of the mini-batch stand for those of all rows",
        )
    ]
