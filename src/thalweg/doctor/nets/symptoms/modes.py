"""Train and eval mode mixed up: was the network trained as it is used, or judged as it is trained?

Dropout drops and batch norm normalizes by the batch in train mode only. Trained in eval mode, batch
norm divides by averages that nobody measured. Evaluated in train mode, units are missing, and what
a sample gets depends on the others in its batch. Neither matters where nothing in the network knows
the mode.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import MODES
from thalweg.doctor.nets.facts.measured import above
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

SHARE = 0.5

_finding = partial(
    Finding,
    MODES,
    Severity.ACT,
    limit=SHARE,
    cause="the model is in the mode of the other job: dropout and batch norm do the wrong one",
    rests_on="dropout and batch norm compute something else at inference than in training",
)


def modes(facts: NetworkFacts) -> list[Finding]:
    """Steps in eval mode, evaluations in train mode."""
    known, training = facts.measured, facts.record["training"]
    layers = (known.mode_dropout or 0.0) + (known.mode_norm or 0.0)
    if not layers:
        return []
    trained_wrong = 1.0 - float(np.mean(training)) if len(training) else 0.0
    calls, wrong = known.evaluations, known.evaluations_in_training_mode
    judged_wrong = wrong / calls if above(calls, 0.0) and wrong is not None else 0.0
    found = []
    if trained_wrong > SHARE:
        found.append(
            _finding(
                f"{trained_wrong:.0%} of the steps were taken in eval mode, with {layers:.0f} "
                "layers that know the mode",
                trained_wrong,
                advice="call model.train() before each epoch: an evaluation leaves the model in "
                "eval mode",
            )
        )
    if judged_wrong > SHARE:
        found.append(
            _finding(
                f"{judged_wrong:.0%} of the evaluations ran in train mode, with {layers:.0f} "
                "layers that know the mode",
                judged_wrong,
                advice="call model.eval() before validation and prediction, model.train() after it",
            )
        )
    return found
