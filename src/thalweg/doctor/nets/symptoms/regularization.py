"""Too strong regularization: is it the penalty that is minimized, and not the loss?

Weight decay λ pulls each weight towards 0 by ηλw a step; an ℓ₁ penalty by η·λ·sign w. Where they
outweigh the gradient of the loss, weights end near 0 and say nothing. Dropout that keeps a few
units of a hundred leaves nothing to learn with.

Only where training failed; and where gradients vanish from the beginning, weights shrink for want
of them.
"""

from __future__ import annotations

import math

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import REGULARIZATION
from thalweg.doctor.nets.facts.measured import above
from thalweg.doctor.nets.facts.network_facts import NetworkFacts
from thalweg.doctor.nets.symptoms.gradient_flow import vanishes_at_first

DROPPED = 0.85  # of the units; half is usual, eight of ten the most that is
SHRUNK, GONE = 0.5, 0.1  # of the first size of the weights: with weight decay, and without
PENALTY = 0.5  # of what is minimized


def regularization(facts: NetworkFacts) -> list[Finding]:
    """Dropout, weights that shrank, or a penalty that is most of the loss."""
    went, loss = facts.course, facts.measured.trained_loss
    if not went.failed or went.diverged:
        return []
    dropped = facts.measured.dropped
    shrunk = _shrunk(facts)
    decay = max((_decay(each) for each in facts.record.optimizers), default=0.0)
    penalty = 1.0 - loss / went.last if loss is not None and went.last > 0 else math.nan
    if above(dropped, DROPPED):
        claim, measured, limit = f"dropout drops {dropped:.0%} of the units", dropped, DROPPED
        advice = "drop a half at most; 0.5 to 0.8 of the units stay as a rule"
    elif shrunk < (SHRUNK if decay > 0 else GONE) and not vanishes_at_first(facts):
        claim = f"weights shrank to {shrunk:.1g} of their first size, with weight decay {decay:g}"
        measured, limit, advice = shrunk, SHRUNK, "a penalty on weights a hundred times smaller"
    elif penalty > PENALTY:
        claim = f"{penalty:.0%} of what is minimized is not the loss of the data"
        measured, limit, advice = penalty, PENALTY, "a penalty a hundred times smaller"
    else:
        return []
    return [
        Finding(
            name=REGULARIZATION,
            severity=Severity.ACT,
            claim=claim,
            measured=measured,
            limit=limit,
            cause="what holds the network back is stronger than what teaches it",
            advice=advice,
            rests_on="regularization: f(w) + λR(w), a compromise that λ decides",
        )
    ]


def _decay(settings: object) -> float:
    value = settings.get("weight_decay", 0.0) if hasattr(settings, "get") else 0.0
    return float(value or 0.0)


def _shrunk(facts: NetworkFacts) -> float:
    """Size of the weights at the end by that at the beginning, of the layer that lost most."""
    norms = facts.record["weight_norm"][:, facts.trained_layers]
    if not norms.size:
        return math.nan
    start, end = norms[0], norms[-1]
    seen = np.isfinite(start) & np.isfinite(end) & (start > 0)
    return float((end[seen] / start[seen]).min()) if seen.any() else math.nan
