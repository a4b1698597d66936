"""No shuffling: do batches look alike, or does each have a class of its own?

The gradient of a batch estimates that of all rows without bias only if rows are drawn at random. In
rows sorted by label each batch pulls towards its own class, and the last one seen is remembered.

    mixing = mean of n(p_batch − p)²/(p(1 − p)): 1 for rows drawn at random, n for sorted ones
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import NO_SHUFFLING
from thalweg.doctor.nets.facts.measured import above
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

LIMIT = 3.0  # of a mean over dozens of batches: its standard error is below 0.3


def no_shuffling(facts: NetworkFacts) -> list[Finding]:
    """How much more batches differ than rows drawn at random would."""
    mixing = facts.measured.target_mixing
    if not above(mixing, LIMIT):
        return []
    return [
        Finding(
            name=NO_SHUFFLING,
            severity=Severity.ACT,
            claim=f"labels of batches vary {mixing:.1f} times as much as those of rows drawn at "
            "random",
            measured=mixing,
            limit=LIMIT,
            cause="rows come in an order that has to do with their labels",
            advice="draw a new order every epoch: DataLoader(…, shuffle=True)",
            rests_on="stochastic gradients: E[g] = ∇f needs rows that are drawn at random",
        )
    ]
