"""Sixteen samples, before training: can a copy of the network learn them by heart?

What cannot will not learn the rest. Asked only before the first step: afterwards there is better
evidence. The limit is 0.6 of the way from the least loss to that of a constant, for its own
optimizer and for Adam alike; healthy networks of the zoo are at 0.4 at most.
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import RATE_SMALL, UNDERFITTING
from thalweg.doctor.nets.facts.measured import above, below
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

LIMIT = 0.6
FITTED = 0.1
WILD = 100.0  # a target that far away is no fair sample


def sixteen(facts: NetworkFacts) -> list[Finding]:
    """Whether a copy of the network fits sixteen samples."""
    known = facts.measured
    own, standard = known.small_fit, known.small_fit_standard
    if above(known.steps, 0.0) or above(known.target_wildest, WILD):
        return []
    if above(standard, LIMIT) and (own is None or own > LIMIT):
        return [
            Finding(
                name=UNDERFITTING,
                severity=Severity.ACT,
                claim=f"sixteen samples are not learnt in 200 steps: {standard:.2f} of a "
                "constant's loss is left",
                measured=standard,
                limit=LIMIT,
                cause="network, first weights, inputs or loss let nothing be learnt",
                advice="make these sixteen work first: inputs of size 1, He's initialization, no "
                "activation at the end",
                rests_on="a network with more weights than samples can learn them by heart",
            )
        ]
    if above(own, LIMIT) and below(standard, FITTED):
        return [
            Finding(
                name=RATE_SMALL,
                severity=Severity.WARN,
                claim=f"sixteen samples are fitted to {own:.2f} by its own optimizer in 200 steps, "
                f"to {standard:.2f} by Adam at 0.003",
                measured=own,
                limit=LIMIT,
                cause="its steps are too short, or so long that they do not settle",
                advice="a few rates, a factor of ten apart, on these sixteen samples",
                rests_on="gradient descent converges for 0 < η < 2/L, and fast near 1/L",
            )
        ]
    return []
