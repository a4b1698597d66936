"""Denormals: numbers below 2⁻¹²⁶, for which many processors take a hundred times as long."""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import DENORMALS
from thalweg.doctor.nets.facts.measured import above
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

SHARE = 0.01  # of the inputs


def denormals(facts: NetworkFacts) -> list[Finding]:
    """The share of inputs that are denormal."""
    share = facts.measured.data_denormal
    if not above(share, SHARE):
        return []
    return [
        Finding(
            name=DENORMALS,
            severity=Severity.ACT,
            claim=f"{share:.0%} of the inputs are not zero and below 2⁻¹²⁶ = 1.2e-38",
            measured=share,
            limit=SHARE,
            cause="products of many small numbers, or exp of large negative ones, are features",
            advice="torch.set_flush_denormal(True), and give the network their logarithms",
            rests_on="below the smallest normal number digits are lost; then it is zero",
        )
    ]
