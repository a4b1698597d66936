"""Constant inputs: does anything vary that the network could tell samples apart by?"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.core.record import Record
from thalweg.doctor.causes import CONSTANT
from thalweg.doctor.nets.facts.course import number

MOST = 0.5  # of the columns


def constant_inputs(record: Record) -> list[Finding]:
    """Columns that have one value."""
    share, columns = number(record, "data_constant"), number(record, "data_columns")
    if not share >= 0:  # no data: the first batch
        columns = number(record, "input_columns")
        share = number(record, "input_constant") / columns if columns else 0.0
    if not share > MOST:
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
