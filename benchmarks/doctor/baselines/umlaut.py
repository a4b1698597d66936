"""UMLAUT (CHI 2021): ten rules of thumb, asked before training and after every epoch.

Before:
    a loss of probabilities that is given something else       → wrong output or loss
    a hidden layer without activation                          → underfitting
    a last layer with an activation before the loss's softmax  → wrong output or loss
    dropout of more than 0.5                                   → too strong regularization
After an epoch:
    an input below −1 or above 1                               → unscaled inputs
    a loss or an input that is not a number                    → not a number
    a learning rate above 0.01 or below 1e-7                   → too large, too small
    validation loss up on the epoch before, training loss not  → overfitting
    validation accuracy above 0.95, or above the training accuracy by more than 0.05,
    from the third epoch on                                    → leaking inputs

Read in its favour: either of loss and inputs that are no numbers is enough. In Keras an activation
is an argument of its layer, here a module that may come after a norm. Accuracies are asked of
classifications only.

Left out: images that are not square, and inputs that are no floats. The zoos have neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import nn

from doctor.baselines.layers import layers_of
from doctor.baselines.matching import activation_matches
from doctor.baselines.record import Epoch, Record
from doctor.baselines.verdict import Verdict, verdict
from thalweg.doctor.causes import (
    LEAKING,
    NAN,
    OVERFITTING,
    RATE_LARGE,
    RATE_SMALL,
    REGULARIZATION,
    UNDERFITTING,
    UNSCALED,
    WRONG_LOSS,
)

DENSE = (nn.Linear, nn.Conv2d)  # recurrent layers and attention have their activation inside
DROPPED = 0.5
LIMIT = 1.0  # of inputs
FASTEST, SLOWEST = 0.01, 1e-7  # learning rates
TOO_GOOD, TOO_FAR_ABOVE, FROM = 0.95, 0.05, 3


def umlaut(record: Record) -> Verdict:
    """Everything that it would have said, the earliest first."""
    return verdict([*before(record), *after(record)])


def before(record: Record) -> Iterator[str]:
    """What the program shows before it trains."""
    model = record.start
    if not activation_matches(record.program):
        yield WRONG_LOSS
    hidden = [layer for layer in layers_of(model)[:-1] if isinstance(layer.start, DENSE)]
    if any(layer.activation is None for layer in hidden):
        yield UNDERFITTING
    if any(m.p > DROPPED for m in model.modules() if isinstance(m, nn.Dropout)):
        yield REGULARIZATION


def after(record: Record) -> Iterator[str]:
    """What the epochs show."""
    x = record.data.x
    for number, epoch in enumerate(record.epochs, 1):
        if bool((x.abs() > LIMIT).any()):
            yield UNSCALED
        if math.isnan(epoch.loss) or bool(torch.isnan(x).any()):
            yield NAN
        if epoch.learning_rate > FASTEST:
            yield RATE_LARGE
        if epoch.learning_rate < SLOWEST:
            yield RATE_SMALL
        if number > 1 and overfits(record.epochs[number - 2], epoch):
            yield OVERFITTING
        if record.data.classes and number >= FROM and is_too_good(epoch):
            yield LEAKING


def overfits(last: Epoch, now: Epoch) -> bool:
    """Whether the validation loss rose and the training loss did not."""
    return now.validation_loss > last.validation_loss and now.loss <= last.loss


def is_too_good(epoch: Epoch) -> bool:
    """Whether the validation accuracy is suspiciously high."""
    ahead = epoch.validation_accuracy - epoch.accuracy
    return epoch.validation_accuracy > TOO_GOOD or ahead > TOO_FAR_ABOVE
