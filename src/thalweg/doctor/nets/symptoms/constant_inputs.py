"""Constant inputs: does anything vary that the network could tell samples apart by?"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import CONSTANT
from thalweg.doctor.nets.facts.measured import above
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

MOST = 0.5  # of the columns


def constant_inputs(facts: NetworkFacts) -> list[Finding]:
    """Columns that have one value."""
    known = facts.measured
    share, columns = known.data_constant, known.data_columns
    if share is None:  # no data: the first batch
        constant, columns = known.input_constant, known.input_columns
        share = constant / columns if constant is not None and columns else None
    if columns is None or not above(share, MOST):
        return []
    all_of_them = share == 1.0
    return [
        Finding(
            name=CONSTANT,
            severity=Severity.ACT if all_of_them else Severity.WARN,
            claim=f"{share:.0%} of the {columns:.0f} columns have one value on all rows",
            measured=share,
            limit=MOST,
            cause="a cast, a clip or a buffer that is written once has made samples alike"
            if all_of_them
            else "columns that never change tell the network nothing, and cost weights",
            advice="print a few rows of what the network is given, and look for the step before "
            "which they still differ",
            rests_on="a function of equal inputs has equal outputs",
        )
    ]
