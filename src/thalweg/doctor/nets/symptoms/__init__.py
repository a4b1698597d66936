"""Symptoms: each a pure function of facts, one question a file.

    def symptom(facts: NetworkFacts) -> list[Finding]

A symptom that is absent returns nothing; one that cannot be judged by what is known neither.

Their order is that of causes: what stands earlier explains what stands later, so that of two
findings of one severity the first is the better guess. A loop that forgets zero_grad makes steps
too long; steps too long kill units; dead units let gradients vanish; and all of it underfits. What
merely says that training failed is a note where something says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from thalweg.core.finding import Finding, Severity, worst_first
from thalweg.core.record import Record
from thalweg.doctor.causes import UNDERFITTING
from thalweg.doctor.nets.facts.network_facts import NetworkFacts, network_facts
from thalweg.doctor.nets.symptoms.activations import dead, saturated
from thalweg.doctor.nets.symptoms.clipping import clipping
from thalweg.doctor.nets.symptoms.constant_inputs import constant_inputs
from thalweg.doctor.nets.symptoms.covariate_shift import covariate_shift
from thalweg.doctor.nets.symptoms.denormals import denormals
from thalweg.doctor.nets.symptoms.fit import overfitting, underfitting
from thalweg.doctor.nets.symptoms.gradient_flow import exploding, vanishing
from thalweg.doctor.nets.symptoms.imbalance import imbalance
from thalweg.doctor.nets.symptoms.init_variance import init_variance
from thalweg.doctor.nets.symptoms.leaking import leaking
from thalweg.doctor.nets.symptoms.modes import modes
from thalweg.doctor.nets.symptoms.no_shuffling import no_shuffling
from thalweg.doctor.nets.symptoms.not_finite import not_finite
from thalweg.doctor.nets.symptoms.rate import adagrad, rate_large, rate_small
from thalweg.doctor.nets.symptoms.regularization import regularization
from thalweg.doctor.nets.symptoms.shuffled_labels import shuffled_labels
from thalweg.doctor.nets.symptoms.sixteen import sixteen
from thalweg.doctor.nets.symptoms.standing_still import standing_still
from thalweg.doctor.nets.symptoms.symmetric import symmetric
from thalweg.doctor.nets.symptoms.tiny_batches import tiny_batches
from thalweg.doctor.nets.symptoms.unscaled import unscaled
from thalweg.doctor.nets.symptoms.wrong_loss import over_scaled, wrong_loss
from thalweg.doctor.nets.symptoms.zero_grad import zero_grad

Symptom = Callable[[NetworkFacts], list[Finding]]

SYMPTOMS: tuple[Symptom, ...] = (
    # The loop and the data are not what they should be: nothing else needs to be asked.
    zero_grad, modes, constant_inputs, leaking, shuffled_labels, denormals, no_shuffling,
    tiny_batches,
    # What is minimized, from where, on which scale.
    wrong_loss, symmetric, unscaled, not_finite, init_variance, over_scaled, clipping,
    regularization,
    # How it is minimized, and what became of the network.
    rate_large, adagrad, dead, saturated, vanishing, exploding, covariate_shift,
    standing_still, rate_small, imbalance, overfitting, underfitting, sixteen,
)  # fmt: skip


def diagnose(record: Record) -> list[Finding]:
    """What all symptoms find in a record, worst first."""
    facts = network_facts(record)
    found = [finding for symptom in SYMPTOMS for finding in symptom(facts)]
    acts = {finding.name for finding in found if finding.severity is Severity.ACT}
    if acts - {UNDERFITTING}:
        found = [
            replace(each, severity=Severity.NOTE) if each.name == UNDERFITTING else each
            for each in found
        ]
    return worst_first(found)
