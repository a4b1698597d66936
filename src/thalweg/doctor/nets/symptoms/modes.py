"""Train and eval mode mixed up: was the network trained as it is used, or judged as it is trained?

Dropout drops and batch norm normalizes by the batch in train mode only. Trained in eval mode, batch
norm divides by averages that nobody measured. Evaluated in train mode, units are missing, and what
a sample gets depends on the others in its batch. Neither matters where nothing in the network knows
the mode.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.core.record import Record
from thalweg.doctor.causes import MODES
from thalweg.doctor.nets.facts.course import number

SHARE = 0.5


def modes(record: Record) -> list[Finding]:
    """Steps in eval mode, evaluations in train mode."""
    layers = number(record, "mode_dropout") + number(record, "mode_norm")
    if not layers > 0:
        return []
    trained_wrong = 1.0 - float(np.mean(record["training"])) if len(record["training"]) else 0.0
    calls = number(record, "evaluations")
    judged_wrong = number(record, "evaluations_in_training_mode") / calls if calls > 0 else 0.0
    found = []
    if trained_wrong > SHARE:
        found.append(
            _finding(
                f"{trained_wrong:.0%} of the steps were taken in eval mode, with {layers:.0f} "
                "layers that know the mode",
                trained_wrong,
                "call model.train() before each epoch: an evaluation leaves the model in eval mode",
            )
        )
    if judged_wrong > SHARE:
        found.append(
            _finding(
                f"{judged_wrong:.0%} of the evaluations ran in train mode, with {layers:.0f} "
                "layers that know the mode",
                judged_wrong,
                "call model.eval() before validation and prediction, model.train() after it",
            )
        )
    return found


def _finding(claim: str, measured: float, advice: str) -> Finding:
    return Finding(
        name=MODES,
        severity=Severity.ACT,
        claim=claim,
        measured=measured,
        limit=SHARE,
        cause="the model is in the mode of the other job: dropout and batch norm do the wrong one",
        advice=advice,
        rests_on="dropout and batch norm compute something else at inference than in training",
    )
