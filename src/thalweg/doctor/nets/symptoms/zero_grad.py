"""Forgotten zero_grad: did the gradient of the last step stay in the gradient of this one?

PyTorch adds to `.grad`. Without optimizer.zero_grad() step t follows Σ_{s≤t} g_s, a momentum that
never decays: the length of steps grows with t, and they turn back only when the sum has.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import ZERO_GRAD
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

SHARE = 0.5  # of the steps that were seen


def zero_grad(facts: NetworkFacts) -> list[Finding]:
    """Whether gradients are never zeroed."""
    kept = facts.record["gradient_kept"]
    kept = kept[~np.isnan(kept)]
    share = float(kept.mean()) if len(kept) else 0.0
    if share <= SHARE:
        return []
    return [
        Finding(
            name=ZERO_GRAD,
            severity=Severity.ACT,
            claim=f"at {share:.0%} of the steps the gradient still held that of the step before",
            measured=share,
            limit=SHARE,
            cause="optimizer.zero_grad() is not called: steps follow the sum of all gradients",
            advice="call optimizer.zero_grad() before loss.backward()",
            rests_on="gradient descent: w ← w − η∇f(w), the gradient of this step alone",
        )
    ]
