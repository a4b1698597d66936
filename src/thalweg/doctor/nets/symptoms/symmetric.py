"""Symmetric or zero initialization: do the units of a layer begin alike?

Units with equal weights get equal gradients and stay equal: the layer is one unit, however wide.
With all weights zero no gradient passes back either: only the last biases learn.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import SYMMETRIC
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

LIMIT = 1e-6  # spread of a layer's weights by their size


def symmetric(facts: NetworkFacts) -> list[Finding]:
    """Layers whose first weights are all one number."""
    record = facts.record
    if not len(record["look"]):
        return []
    mean, std = np.abs(record["weight_mean"][0]), record["weight_std"][0]
    units = np.array([layer.shape[0] if layer.shape else 0 for layer in record.layers])
    alike = [
        k
        for k, layer in enumerate(record.layers)
        if layer.trainable and np.prod(layer.shape or (1,)) > 1 and std[k] <= LIMIT * mean[k]
    ]
    wide = [k for k in alike if units[k] > 1 or mean[k] == 0]
    if not wide:
        return []
    names = ", ".join(record.layers[k].name for k in wide)
    value = float(mean[wide[0]])
    return [
        Finding(
            name=SYMMETRIC,
            severity=Severity.ACT,
            claim=f"all weights of {names} begin at {value:.3g}",
            measured=float(std[wide[0]]),
            limit=LIMIT * value,
            cause="units that begin alike get the same gradient and stay one unit"
            if value
            else "weights of zero pass nothing on and nothing back",
            advice="draw the weights: tw.nets.initialize(model, 'he'), or 'xavier' for tanh",
            rests_on="zero initialization learns nothing, and all 0.5 keeps units symmetric",
            evidence={"layers": [record.layers[k].name for k in wide]},
        )
    ]
