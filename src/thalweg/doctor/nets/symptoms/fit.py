"""Overfitting and underfitting: how good is it on rows it has seen, and on rows it has not?

Overfitting: the score on training rows is more than 0.12 above that on validation rows, and the
validation loss has turned upwards or training rows are told all but perfectly. Underfitting: it is
no better than a constant, or worse than a simple model, and it is none of the other causes' turn to
say why; a training that was still improving when it ended was too short.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import OVERFITTING, UNDERFITTING
from thalweg.doctor.nets.facts.course import BEHIND, GAP
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

FROZEN = 0.2  # of all parameters
FALLING = 0.97  # of the loss a tenth of the training before


def overfitting(facts: NetworkFacts) -> list[Finding]:
    """The gap between training and validation rows."""
    went = facts.course
    if not went.gap > GAP:
        return []
    trained, validated = facts.measured.trained_score, facts.measured.validated_score
    losses = facts.record["validation_loss"]
    losses = losses[np.isfinite(losses)]
    risen = float(losses[-1] / losses.min()) if len(losses) and losses.min() > 0 else 1.0
    return [
        Finding(
            name=OVERFITTING,
            severity=Severity.ACT,
            claim=f"score {trained:.2f} on training rows and {validated:.2f} on validation rows; "
            f"the validation loss ends at {risen:.1f} times its best",
            measured=went.gap,
            limit=GAP,
            cause="more weights than the rows can say anything about, and nothing holds them back",
            advice="weight decay, dropout, early stopping, augmentation, or more rows",
            rests_on="regularization: penalties, dropout and early stopping against overfitting",
        )
    ]


def underfitting(facts: NetworkFacts) -> list[Finding]:
    """A training that failed, whatever for."""
    went, known = facts.course, facts.measured
    if not went.failed or went.diverged:
        return []
    frozen = known.frozen or 0.0
    share = frozen / (frozen + (known.parameters or 0.0)) if frozen else 0.0
    windows = [np.median(w) for w in np.array_split(facts.record["loss"], 10) if len(w)]
    falls = len(windows) > 1 and windows[-1] < FALLING * windows[-2]
    if went.behind > BEHIND:
        claim = (
            f"its skill on validation rows is {known.validated_skill:.2f}, a simple model's "
            f"{known.data_reference:.2f}"
        )
        measured, limit = went.behind, BEHIND
    else:
        claim = f"it has learnt {max(went.learnt, 0.0):.0%} of what there is to learn"
        measured, limit = went.learnt, 0.1
    if share > FROZEN:
        cause = f"{share:.0%} of its parameters are frozen at their first, random values"
        advice = "requires_grad_(True) for layers that are not trained yet"
    elif falls:
        cause = "the loss is still falling: training ended too early"
        advice = "more epochs, or a larger learning rate"
    else:
        cause = "the network cannot say what is to be learnt, or its training does not get there"
        advice = "a wider or deeper network, activations between layers, better features"
    return [
        Finding(
            name=UNDERFITTING,
            severity=Severity.ACT,
            claim=claim,
            measured=measured,
            limit=limit,
            cause=cause,
            advice=advice,
            rests_on="capacity: a linear map cannot tell XOR",
        )
    ]
