"""Initialization variance: does a layer keep the size of what passes through it?

    q = n_in·Var(w)        the factor of the variance from a layer's inputs to its sums

LeCun has q = 1, He 2 (half of a ReLU's inputs are gone), Xavier 2n_in/(n_in + n_out), PyTorch's own
1/3. Far from all of them a signal dies out or explodes with depth, as qᵈ, saturates units, or
begins at the saddle at the origin.

Only where training failed: batch norm, and a good optimizer, mend a lot.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import INIT_VARIANCE
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

SMALL, LARGE = 0.01, 20.0


def init_variance(facts: NetworkFacts) -> list[Finding]:
    """The layer whose first weights are furthest from any scheme."""
    record = facts.record
    weights = [k for k, layer in enumerate(record.layers) if layer.fan_in > 0]
    if not weights or not len(record["look"]):
        return []
    q = np.array([record["weight_std"][0, k] ** 2 * record.layers[k].fan_in for k in weights])
    off = np.where(q > 0, np.maximum(q / LARGE, SMALL / np.maximum(q, 1e-300)), 0.0)
    worst = int(np.nanargmax(off)) if np.isfinite(off).any() else 0
    if not off[worst] > 1 or not facts.course.failed:
        return []
    name, value = record.layers[weights[worst]].name, float(q[worst])
    is_large = value > 1
    return [
        Finding(
            name=INIT_VARIANCE,
            severity=Severity.ACT,
            claim=f"{name} begins with n_in·Var(w) = {value:.2g}; schemes have 0.33 to 2",
            measured=value,
            limit=LARGE if is_large else SMALL,
            cause="each layer makes signals larger, or saturates"
            if is_large
            else "each layer makes signals and gradients smaller: the origin is a saddle",
            advice="tw.nets.initialize(model, 'he') for ReLU, 'xavier' for tanh and sigmoid",
            rests_on="He: Var(w) = 2/n_in; large weights explode, small ones vanish",
            evidence={"layer": name},
        )
    ]
