"""Units that do nothing: dead ReLUs, and sigmoids or tanhs at their ends.

A ReLU below zero on every sample has slope 0: no gradient will ever lift it again. A sigmoid far
from zero has next to none. Some of either is normal (a sparse code); where more than half of a
layer is lost, and training failed, too little is left to learn with.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.core.record import Record
from thalweg.doctor.causes import DEAD, SATURATED
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

MOST = 0.5  # of a layer


def dead(facts: NetworkFacts) -> list[Finding]:
    """The ReLU layer with most dead units."""
    name, share = _worst(facts.record, ("relu",), "dead")
    if not share > MOST:
        return []
    return [
        Finding(
            name=DEAD,
            severity=Severity.ACT if facts.course.failed else Severity.NOTE,
            claim=f"{share:.0%} of the units of {name} are zero on every sample",
            measured=share,
            limit=MOST,
            cause="a step, or a first bias, has put them where no sample lifts them above zero",
            advice="a smaller learning rate, biases of zero, He's initialization; or LeakyReLU",
            rests_on="ReLU has slope 0 below zero: no output, no gradient",
            evidence={"layer": name},
        )
    ]


def saturated(facts: NetworkFacts) -> list[Finding]:
    """The sigmoid or tanh layer with most saturated units."""
    name, share = _worst(facts.record, ("sigmoid", "tanh"), "saturated")
    if not share > MOST:
        return []
    return [
        Finding(
            name=SATURATED,
            severity=Severity.ACT if facts.course.failed else Severity.NOTE,
            claim=f"{share:.0%} of the units of {name} are at an end on nearly every sample",
            measured=share,
            limit=MOST,
            cause="sums are so large that the activation has no slope left",
            advice="Xavier's initialization, standardized inputs, batch norm before the "
            "activation, or ReLU",
            rests_on="batch norm keeps saturating nonlinearities where they have a slope",
            evidence={"layer": name},
        )
    ]


def _worst(record: Record, roles: tuple[str, ...], column: str) -> tuple[str, float]:
    """Of hidden layers, over the second half of the looks."""
    which = [k for k, layer in enumerate(record.layers) if layer.role in roles]
    which = [k for k in which if k < len(record.layers) - 1]
    values = record[column][len(record["look"]) // 2 :]
    means = {
        record.layers[k].name: float(np.nanmean(values[:, k]))
        for k in which
        if (~np.isnan(values[:, k])).any()
    }
    return max(means.items(), key=lambda pair: pair[1], default=("", 0.0))
