"""Missing clipping: do a few steps undo what all others do?

A batch with a wild target, or a cliff of the loss, has a gradient hundreds of times the usual.
One step along it throws the weights far away. Clipping bounds it: if ‖g‖ > u, g ← g·u/‖g‖. The
norms that are looked at here are those the optimizer was given, after any clipping.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.doctor.causes import CLIPPING
from thalweg.doctor.nets.facts.measured import above, below
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

WILD = 100.0  # distances of targets, in units of the median one
SPIKE = 30.0  # times the median loss or gradient


def clipping(facts: NetworkFacts) -> list[Finding]:
    """Losses and gradients with spikes, or wild targets, in a training that came to little."""
    record, known = facts.record, facts.measured
    wild, signal = known.target_wildest, known.data_signal_validation
    spike = max(_spike(record["loss"]), _spike(record["gradient_norm_total"]))
    lost = signal is not None and below(known.validated_skill, 0.5 * signal)
    if not (above(wild, WILD) and spike > SPIKE) or not (lost or facts.course.diverged):
        return []
    return [
        Finding(
            name=CLIPPING,
            severity=Severity.ACT,
            claim=f"some batches have {spike:.0f} times the usual loss or gradient, and targets "
            f"lie up to {wild:.0f} typical distances away",
            measured=spike,
            limit=SPIKE,
            cause="a few wild samples decide where the weights go",
            advice="clip the gradient (clip_norm=1), or remove the wild targets",
            rests_on="clipping: if ‖g‖ > u, g ← g·u/‖g‖",
        )
    ]


def _spike(values: np.ndarray) -> float:
    """The largest by the median."""
    finite = values[np.isfinite(values)]
    middle = float(np.median(finite)) if len(finite) else 0.0
    return float(finite.max()) / middle if middle > 0 else 0.0
