"""Not finite: did something become NaN or infinite, and where did it begin?

A NaN spreads: one product of the backward pass, and after one step all weights have it. What was
not finite first, in the order inputs, forward pass, loss, gradients, is the cause or next to it.
Where it began decides what helps: inputs must be cleaned; a forward pass that overflows has weights
that grew, by too long steps or too large a beginning; a gradient of a finite loss overflows in the
derivative of a root, a logarithm or a norm at 0, or in a long chain of layers that all stretch.
"""

from __future__ import annotations

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import NAN
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

ADVICE = {
    "inputs": "remove or fill in the rows that are not finite before training",
    "forward": "lower the learning rate by ten, or begin from smaller weights (initialize 'he')",
    "loss": "compute the loss from logits (cross_entropy), or keep its logarithm away from 0",
    "gradient": "clip gradients (clip_norm=1), and keep roots and logarithms away from 0",
}


def not_finite(facts: NetworkFacts) -> list[Finding]:
    """The first thing that was not finite, if any was."""
    known = facts.measured
    step = int(known.bad_step or 0)
    if not step:
        return []
    where, layer = known.bad_where or "loss", known.bad_layer
    if known.input_not_finite:  # of the first batch: no layer is to blame
        where, layer = "inputs", ""
    place = f"the {where} of {layer}" if layer else f"the {where}"
    return [
        Finding(
            name=NAN,
            severity=Severity.ACT,
            claim=f"{place} was the first not to be finite, at step {step}",
            measured=float(step),
            limit=float("inf"),
            cause=f"something overflowed or was undefined in {place}; all that follows has it",
            advice=ADVICE[where],
            rests_on="exploding gradients: products of many factors above 1 overflow",
            evidence={"step": step, "where": where, "layer": layer},
        )
    ]
