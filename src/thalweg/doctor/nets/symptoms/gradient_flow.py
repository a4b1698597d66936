"""Vanishing and exploding gradients: does the first layer get what the last one gets?

    r = rms of the gradient's entries in the first layer by that in the last

Going back through a layer multiplies the gradient by Wᵀ and by slopes. A sigmoid's slope is at most
1/4: ten of them leave a millionth. Factors above one explode likewise. Healthy networks of the zoo
have r from 0.05 to 20 or so; a thousandth, in a training that failed, has vanished.

A layer that is trained and gets no gradient at all has been cut off.
"""

from __future__ import annotations

import math

import numpy as np

from thalweg.core.finding import Finding, Severity
from thalweg.core.record import Record
from thalweg.doctor.causes import EXPLODING, VANISHING
from thalweg.doctor.nets.facts.network_facts import NetworkFacts

RATIO = 1e-3
EXPLODED = 1e3  # times the first norm of the gradient, or the last layer's


def vanishing(facts: NetworkFacts) -> list[Finding]:
    """Layers cut off, or a first layer that gets next to nothing."""
    gone = _cut_off(facts.record)
    if gone and facts.course.failed:
        return [
            Finding(
                name=VANISHING,
                severity=Severity.ACT,
                claim=f"no gradient at all reaches {', '.join(gone)}",
                measured=0.0,
                limit=RATIO,
                cause="detach(), .data, no_grad or a layer that is not used cuts them off",
                advice="remove what cuts the graph between these layers and the loss",
                rests_on="back-propagation: a factor of zero anywhere is a gradient of zero",
                evidence={"layers": gone},
            )
        ]
    ratio, first, last = _ratio(facts)
    if not ratio < RATIO or not facts.course.failed:
        return []
    return [
        Finding(
            name=VANISHING,
            severity=Severity.ACT,
            claim=f"the gradient of {first} is {ratio:.1g} of that of {last}",
            measured=ratio,
            limit=RATIO,
            cause="each layer on the way back multiplies it by a factor below one",
            advice="ReLU with He's initialization, batch norm, or residual connections",
            rests_on="vanishing gradients: products of many factors below 1",
            evidence={"first": first, "last": last},
        )
    ]


def exploding(facts: NetworkFacts) -> list[Finding]:
    """Gradients that grow with depth, or in time."""
    if not facts.course.failed:
        return []
    ratio, first, last = _ratio(facts)
    norms = facts.record["gradient_norm_total"]
    norms = norms[np.isfinite(norms)]
    grown = float(norms.max() / norms[0]) if len(norms) and norms[0] > 0 else math.nan
    if ratio > EXPLODED:
        claim, measured = f"the gradient of {first} is {ratio:.1g} times that of {last}", ratio
    elif grown > EXPLODED:
        claim, measured = f"the gradient's norm grew to {grown:.1g} times its first", grown
    else:
        return []
    return [
        Finding(
            name=EXPLODING,
            severity=Severity.ACT,
            claim=claim,
            measured=measured,
            limit=EXPLODED,
            cause="each layer on the way back multiplies it by a factor above one",
            advice="clip the gradient (clip_norm=1), He's initialization, a smaller rate",
            rests_on="exploding gradients: products of many factors above 1",
        )
    ]


def vanishes_at_first(facts: NetworkFacts) -> bool:
    """Whether gradients vanish at the first look: nothing that training did is to blame."""
    return _ratio(facts, looks=1)[0] < RATIO


def _ratio(facts: NetworkFacts, looks: int | None = None) -> tuple[float, str, str]:
    """r, the median over looks, or the first of them, and the names of the two layers."""
    record, weights = facts.record, facts.trained_layers
    if len(weights) < 3:  # one hidden layer has no depth
        return math.nan, "", ""
    first, last = weights[0], weights[-1]
    size = [math.sqrt(record.layers[k].trainable) for k in (first, last)]
    norms = record["gradient_norm"][:looks]
    top, bottom = norms[:, first] / size[0], norms[:, last] / size[1]
    seen = np.isfinite(top) & np.isfinite(bottom) & (bottom > 0)
    ratio = float(np.median(top[seen] / bottom[seen])) if seen.any() else math.nan
    return ratio, record.layers[first].name, record.layers[last].name


def _cut_off(record: Record) -> list[str]:
    """Trained layers whose gradient was never there, or always zero, while others' was not."""
    norms = record["gradient_norm"]
    alive = np.array([(column > 0).any() for column in norms.T])
    if not alive.any():
        return []
    return [
        layer.name
        for layer, lives in zip(record.layers, alive, strict=True)
        if layer.trainable and layer.shape and not lives
    ]
