"""DeepLocalize (ICSE 2021): stops at the first layer whose means are wrong.

At every batch it takes the mean of each layer's output ("forward"), of the loss's gradient there
("backward"), of the gradient of the weights and of the weights, and the loss and the accuracy. It
stops as soon as one of these series

    is not finite,
    is 0 in at least half of the last 5 batches, or
    has mean(last 5) = max(last 5): the last five are equal.

It names a layer and a phase and no cause. Causes are given to it here, the likelier one first:

    not finite                              → not a number
    forward 0                               → dead ReLUs, vanishing
    backward or gradient 0                  → vanishing, dead ReLUs
    weights 0                               → symmetric or zero initialization
    loss 0, accuracy 0                      → overfitting, underfitting
    weights equal                           → learning rate too small, saddle or plateau
    anything else equal                     → saddle or plateau, vanishing

Read in its favour: a window is five batches and nothing is said before there are five. Accuracy
is asked of classifications only. The last layer's "backward" is left out: Keras takes it behind the
softmax, PyTorch's cross-entropy before it, where its mean is 0 whatever the network does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from doctor.baselines.record import Record
from doctor.baselines.verdict import Verdict, verdict
from thalweg.doctor.causes import (
    DEAD,
    NAN,
    OVERFITTING,
    PLATEAU,
    RATE_SMALL,
    SYMMETRIC,
    UNDERFITTING,
    VANISHING,
)

WINDOW = 5
HALF = 0.5
PHASES = ("forward", "loss", "accuracy", "backward", "gradient", "weights")
ZERO = {
    "forward": (DEAD, VANISHING),
    "loss": (OVERFITTING,),
    "accuracy": (UNDERFITTING,),
    "backward": (VANISHING, DEAD),
    "gradient": (VANISHING, DEAD),
    "weights": (SYMMETRIC,),
}
EQUAL = {"weights": (RATE_SMALL, PLATEAU)}
STUCK = (PLATEAU, VANISHING)


def deeplocalize(record: Record) -> Verdict:
    """The causes of what stops it first; phases come in the order of a step."""
    stops = [
        (step, PHASES.index(phase), causes)
        for phase, values in _series(record)
        if (stop := first_stop(values)) is not None
        for step, causes in [(stop[0], _causes(phase, stop[1]))]
    ]
    return verdict(min(stops, key=lambda stop: stop[:2])[2] if stops else ())


def first_stop(values: Sequence[float]) -> tuple[int, str] | None:
    """The first batch at which a series is wrong, and how: "number", "zero" or "equal"."""
    run = 0
    for step, value in enumerate(values):
        if not math.isfinite(value):
            return step, "number"
        run = run + 1 if step and value == values[step - 1] else 1
        if step + 1 < WINDOW:
            continue
        zeros = sum(each == 0 for each in values[step + 1 - WINDOW : step + 1])
        if zeros >= HALF * WINDOW:
            return step, "zero"
        if run >= WINDOW:
            return step, "equal"
    return None


def _causes(phase: str, how: str) -> tuple[str, ...]:
    if how == "number":
        return (NAN,)
    return ZERO[phase] if how == "zero" else EQUAL.get(phase, STUCK)


def _series(record: Record) -> Iterator[tuple[str, list[float]]]:
    yield "loss", record.losses
    if record.data.classes and not any(map(math.isnan, record.accuracies)):
        yield "accuracy", record.accuracies
    last = max((layer for _, layer in record.means), default=0)
    for (phase, layer), values in record.means.items():
        if (phase, layer) != ("backward", last):
            yield phase, values
