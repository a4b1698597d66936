"""Class imbalance: is a class so rare that never to name it costs little?"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import IMBALANCE
from thalweg.doctor.nets.facts.measured import below
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

RATIO = 10.0  # rows of the most frequent class by those of the rarest
RECALL = 0.6  # of the rarest that is told, by the mean of all


def imbalance(facts: NetworkFacts) -> list[Finding]:
    """The most frequent class beside the rarest, and what became of it."""
    known = facts.measured
    largest, smallest, rarest = (
        known.data_largest_share, known.data_smallest_share, known.data_rarest,
    )  # fmt: skip
    if largest is None or rarest is None or not smallest or not largest / smallest > RATIO:
        return []
    ratio = largest / smallest
    recall, mean = known.validated_recall, known.validated_score
    suffers = mean is not None and below(recall, RECALL * mean)
    told = f", of which {recall:.0%} are told right" if suffers else ""
    return [
        Finding(
            name=IMBALANCE,
            severity=Severity.ACT if suffers else Severity.NOTE,
            claim=f"the rarest class has {rarest:.0f} rows, one for "
            f"{ratio:.0f} of the most frequent{told}",
            measured=ratio,
            limit=RATIO,
            cause="the mean loss hardly notices a class with so few rows",
            advice="weigh the classes: cross_entropy(weight=n/(K·n_c)), or draw the rare one more "
            "often",
            rests_on="what is minimized is a mean over rows, in which a class counts as its rows",
        )
    ]
